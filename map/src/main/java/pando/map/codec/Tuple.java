package pando.map.codec;

import java.util.Arrays;
import java.util.Objects;

/**
 * A key of several parts, as {@link TupleCodec} encodes it. Tuples are equal if they have equal
 * parts, arrays by what is in them. Immutable, if the parts are.
 */
public final class Tuple {
  private final Object[] parts;

  private Tuple(Object[] parts) {
    this.parts = parts;
  }

  /** Makes a tuple. */
  public static Tuple of(Object... parts) {
    Object[] copy = parts.clone();
    for (Object part : copy) {
      Objects.requireNonNull(part, "part");
    }
    return new Tuple(copy);
  }

  /** Returns the number of parts. */
  public int size() {
    return parts.length;
  }

  /**
   * Returns a part.
   *
   * @param place from 0
   * @throws IndexOutOfBoundsException if there is none
   */
  public Object get(int place) {
    return parts[place];
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Tuple tuple && Arrays.deepEquals(parts, tuple.parts);
  }

  @Override
  public int hashCode() {
    return Arrays.deepHashCode(parts);
  }

  @Override
  public String toString() {
    return Arrays.deepToString(parts);
  }
}
