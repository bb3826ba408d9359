package pando.index;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.KeyOrder;

/**
 * A key with which a range begins, or is to begin: a number in an index of words, or a byte string.
 * Immutable.
 */
public final class BoundKey {
  /** Most bytes of a string that are shown in messages. */
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

  /**
   * Returns the key with which a range begins.
   *
   * @param range of the table, 0 to {@link Partitioning#servers()} - 1
   */
  public static BoundKey of(Partitioning table, int range) {
    return table.hasFences() ? of(table.fenceOfRange(range)) : of(table.lowOfRange(range));
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
   * Compares it with the key with which a range begins, as {@link Comparable} does.
   *
   * @param range of the table, 0 to {@link Partitioning#servers()} - 1
   * @throws IllegalArgumentException if the table has keys of the other kind
   */
  public int compareToBound(Partitioning table, int range) {
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
    return string == null ? String.valueOf(number) : text(string);
  }

  /** Returns the beginning of a byte string in hexadecimal, and its length if that is not all. */
  public static String text(MemorySegment string) {
    long bytes = string.byteSize();
    long shown = Math.min(bytes, SHOWN_BYTES_MAX);
    String hex = HexFormat.of().formatHex(string.asSlice(0, shown).toArray(JAVA_BYTE));
    return shown < bytes ? hex + "... of " + bytes + " bytes" : hex;
  }
}
