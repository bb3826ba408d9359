package pando.index;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A key with which a range is to begin: a number in an index of words, or a byte string. Immutable.
 */
public final class BoundKey {
  /** Bytes of a string that messages have. */
  private static final int SHOWN_BYTES_MAX = 32;

  private final long number;
  private final @Nullable MemorySegment string;

  private BoundKey(long number, @Nullable MemorySegment string) {
    this.number = number;
    this.string = string;
  }

  /** Returns a number. */
  public static BoundKey of(long number) {
    return new BoundKey(number, null);
  }

  /** Returns a copy of a byte string. */
  public static BoundKey of(MemorySegment string) {
    return new BoundKey(0, MemorySegment.ofArray(string.toArray(JAVA_BYTE)).asReadOnly());
  }

  /** Returns whether it is a byte string. */
  public boolean isString() {
    return string != null;
  }

  /**
   * Returns the number.
   *
   * @throws IllegalArgumentException if it is a byte string
   */
  public long number() {
    if (string != null) {
      throw new IllegalArgumentException("keys here are numbers, not byte strings: key=" + this);
    }
    return number;
  }

  /**
   * Returns the byte string.
   *
   * @throws IllegalArgumentException if it is a number
   */
  public MemorySegment string() {
    if (string == null) {
      throw new IllegalArgumentException("keys here are byte strings, not numbers: key=" + this);
    }
    return string;
  }

  /**
   * Compares it with where a range of a table begins.
   *
   * @throws IllegalArgumentException if the table has keys of the other kind
   */
  public int compareTo(Partitioning table, int range) {
    return table.hasFences()
        ? KeyOrder.compare(string(), table.fenceOfRange(range))
        : Long.compare(number(), table.lowOfRange(range));
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof BoundKey key
        && number == key.number
        && (string == null
            ? key.string == null
            : key.string != null && string.mismatch(key.string) < 0);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(string == null ? number : string.byteSize());
  }

  /** Returns the number, or the beginning of the byte string in hexadecimal. */
  @Override
  public String toString() {
    if (string == null) {
      return String.valueOf(number);
    }
    long bytes = string.byteSize();
    long shown = Math.min(bytes, SHOWN_BYTES_MAX);
    String hex = HexFormat.of().formatHex(string.asSlice(0, shown).toArray(JAVA_BYTE));
    return shown < bytes ? hex + "... of " + bytes + " bytes" : hex;
  }
}
