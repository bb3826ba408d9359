package pando.bench.keys;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
import pando.bench.demo.GeoIpFile;
import pando.bench.demo.Location;
import pando.bench.records.Keys;

/**
 * The address ranges of the demo, as ranges of {@link Layers}: the keys of the first records are
 * the addresses at which ranges start, those that follow lie within the ranges. An address is the
 * upper half of a key, so that there is always another key between two.
 */
final class AddressKeys implements Shape {
  private static final int SHIFT = 32;

  private final long[] firsts;
  private final long[] widths;

  private AddressKeys(NavigableMap<Long, Long> ranges) {
    firsts = ranges.keySet().stream().mapToLong(first -> first).toArray();
    widths = ranges.entrySet().stream().mapToLong(AddressKeys::width).toArray();
  }

  private static long width(Map.Entry<Long, Long> range) {
    return Location.last(range.getValue()) - range.getKey() + 1;
  }

  /** The bundled ranges, read once, on first use. */
  private static final class Bundled {
    static final AddressKeys ADDRESSES = read();

    private static AddressKeys read() {
      try {
        return new AddressKeys(GeoIpFile.readBundled());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Returns the ranges that come with the program. */
  static AddressKeys bundled() {
    return Bundled.ADDRESSES;
  }

  /** Returns the number of ranges. */
  int ranges() {
    return firsts.length;
  }

  @Override
  public long key(long place) {
    int range = (int) (place >>> Layers.BITS);
    long within = Integer.toUnsignedLong((int) place);
    return start(range) + widths[range] * within;
  }

  @Override
  public long place(long key) {
    int found = Arrays.binarySearch(firsts, (key - Long.MIN_VALUE) >>> SHIFT);
    int range = found >= 0 ? found : -found - 2;
    if (range < 0) {
      return Keys.NONE;
    }
    long within = Long.divideUnsigned(key - start(range), widths[range]);
    long place = (long) range << Layers.BITS | within;
    return within >>> Layers.BITS == 0 && key(place) == key ? place : Keys.NONE;
  }

  private long start(int range) {
    return Long.MIN_VALUE + (firsts[range] << SHIFT);
  }
}
