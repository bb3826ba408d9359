package pando.cluster;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.index.Partitioning;
import pando.index.bytes.ByteArguments;
import pando.index.bytes.ByteIndex;

/**
 * A key with which a range is to begin: a number in an index of words, or a byte string. Immutable.
 */
public final class BoundKey {
  /** Length in an entry of a number. */
  private static final int NO_STRING = -1;

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

  /**
   * Returns a copy of a byte string.
   *
   * @throws IllegalArgumentException if it is longer than a key
   */
  public static BoundKey of(MemorySegment string) {
    ByteArguments.checkKey(string, ByteIndex.KEY_BYTES_MAX);
    return new BoundKey(0, ByteArguments.copyOf(string).asReadOnly());
  }

  /** Returns whether it is a byte string. */
  public boolean isString() {
    return string != null;
  }

  /**
   * Returns the number.
   *
   * @throws IllegalStateException if it is a byte string
   */
  public long number() {
    if (string != null) {
      throw new IllegalStateException("the key is a byte string: key=" + this);
    }
    return number;
  }

  /**
   * Returns the byte string.
   *
   * @throws IllegalStateException if it is a number
   */
  public MemorySegment string() {
    if (string == null) {
      throw new IllegalStateException("the key is a number: key=" + this);
    }
    return string;
  }

  /** Compares it with where a range of a table begins, whose keys are of the same kind. */
  int compareTo(Partitioning table, int range) {
    return string == null
        ? Long.compare(number, table.lowOfRange(range))
        : ByteIndex.compare(string, table.fenceOfRange(range));
  }

  void write(EntryWriter to) {
    if (string == null) {
      to.number(NO_STRING).word(number);
    } else {
      to.string(string);
    }
  }

  static BoundKey read(EntryReader from) {
    int length = from.number(NO_STRING, ByteIndex.KEY_BYTES_MAX);
    return length == NO_STRING ? of(from.word()) : of(from.string(length));
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
    return string == null ? String.valueOf(number) : ByteArguments.text(string);
  }
}
