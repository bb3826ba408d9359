package pando.bench.demo;

/**
 * The value of an address range: where it ends, and its country, in 64 bits.
 *
 * <pre>
 *  63        48 47                      16 15        8 7         0
 * +------------+--------------------------+-----------+-----------+
 * |     0      |       last address       |  country, two letters |
 * +------------+--------------------------+-----------+-----------+
 * </pre>
 */
public final class Location {
  private static final int LAST_SHIFT = 16;
  private static final int LETTER_MASK = 0xff;

  private Location() {}

  /** Packs a value. */
  static long of(long last, String country) {
    return last << LAST_SHIFT | country.charAt(0) << Byte.SIZE | country.charAt(1);
  }

  /** Returns the last address of the range. */
  public static long last(long location) {
    return location >>> LAST_SHIFT;
  }

  /** Returns the two letters of the country, {@code ??} where it is unknown. */
  static String country(long location) {
    char first = (char) (location >>> Byte.SIZE & LETTER_MASK);
    char second = (char) (location & LETTER_MASK);
    return "" + first + second;
  }

  /** Returns the location with another country. */
  static long withCountry(long location, String country) {
    return of(last(location), country);
  }

  /** Describes a range, such as {@code 8.8.8.0 - 8.8.8.255, US}. */
  static String describe(long first, long location) {
    return Ipv4Address.format(first)
        + " - "
        + Ipv4Address.format(Location.last(location))
        + ", "
        + Location.country(location);
  }
}
