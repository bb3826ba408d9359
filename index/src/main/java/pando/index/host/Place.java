package pando.index.host;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import pando.index.Partitioning;
import pando.index.session.KeyOrder;

/**
 * A key by which ranges are looked for or cut: a number, or a byte string in a table of those.
 *
 * @param string {@code null} for a number
 */
public record Place(long number, @Nullable MemorySegment string) {
  /** Returns the place of a number. */
  public static Place of(long number) {
    return new Place(number, null);
  }

  /** Returns the place of a byte string, which must not change. */
  public static Place of(MemorySegment string) {
    return new Place(0, string);
  }

  /** Compares it with where a range begins. */
  int compareTo(Partitioning table, int range) {
    return string == null
        ? Long.compare(number, table.lowOfRange(range))
        : KeyOrder.compare(string, table.fenceOfRange(range));
  }

  /** Returns the number, or the bytes of the string as hex. */
  @Override
  public String toString() {
    return string == null
        ? String.valueOf(number)
        : HexFormat.of().formatHex(string.toArray(JAVA_BYTE));
  }
}
