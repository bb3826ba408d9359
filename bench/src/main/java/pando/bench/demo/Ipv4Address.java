package pando.bench.demo;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** IPv4 addresses as numbers from 0 to {@link #MAX}. */
public final class Ipv4Address {
  /** The last address, 255.255.255.255. */
  public static final long MAX = 0xffff_ffffL;

  private static final Pattern DOTTED =
      Pattern.compile("(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})");

  private static final int PARTS = 4;
  private static final int PART_MAX = 255;

  private Ipv4Address() {}

  /**
   * Reads an address such as {@code 8.8.8.8}.
   *
   * @throws IllegalArgumentException if it is none
   */
  public static long parse(String text) {
    Matcher matcher = DOTTED.matcher(text);
    if (!matcher.matches()) {
      throw notAnAddress(text);
    }
    long address = 0;
    for (int i = 1; i <= PARTS; i++) {
      int part = Integer.parseInt(matcher.group(i));
      if (part > PART_MAX) {
        throw notAnAddress(text);
      }
      address = address << Byte.SIZE | part;
    }
    return address;
  }

  /** Writes an address with its dots. */
  public static String format(long address) {
    return (address >>> 24)
        + "."
        + (address >>> 16 & PART_MAX)
        + "."
        + (address >>> 8 & PART_MAX)
        + "."
        + (address & PART_MAX);
  }

  private static IllegalArgumentException notAnAddress(String text) {
    return new IllegalArgumentException(
        "'"
            + text
            + "' is not an IPv4 address: four numbers from 0 to 255 with dots between,"
            + " such as 8.8.8.8");
  }
}
