package pando.map.codec;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A range of encodings: all that begin with the same bytes. Immutable. */
public final class PrefixRange {
  private final byte[] from;
  private final byte @Nullable [] to;

  private PrefixRange(byte[] from, byte @Nullable [] to) {
    this.from = from;
    this.to = to;
  }

  /** Returns the range of all encodings that begin with some bytes, which it keeps. */
  static PrefixRange startingWith(byte[] prefix) {
    int length = prefix.length;
    while (length > 0 && prefix[length - 1] == -1) {
      length--;
    }
    byte @Nullable [] next = null;
    if (length > 0) {
      next = Arrays.copyOf(prefix, length);
      next[length - 1]++;
    }
    return new PrefixRange(prefix, next);
  }

  /** Returns the least encoding of the range, in a new array. */
  public byte[] from() {
    return from.clone();
  }

  /** Returns the least encoding above the range, in a new array; {@code null} if there is none. */
  public byte @Nullable [] to() {
    return to == null ? null : to.clone();
  }

  @Override
  public String toString() {
    return "from=" + Arrays.toString(from) + ", to=" + Arrays.toString(to);
  }
}
