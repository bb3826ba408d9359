package pando.bench.demo;

import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;

/**
 * Reads address ranges, one a line: {@code first,last,country}, addresses as decimal numbers,
 * ranges ascending and disjoint, two characters for the country.
 */
public final class GeoIpFile {
  private static final String RESOURCE = "geoip-ipv4.csv.gz";
  private static final int DIGITS_MAX = 10;

  private GeoIpFile() {}

  /** Reads the database that comes with the program; locations by the first address of a range. */
  public static NavigableMap<Long, Long> readBundled() throws IOException {
    InputStream resource = GeoIpFile.class.getResourceAsStream(RESOURCE);
    if (resource == null) {
      throw new FileNotFoundException("the program was packed without its data: " + RESOURCE);
    }
    try (InputStream in = new GZIPInputStream(resource);
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII))) {
      return read(RESOURCE, lines);
    }
  }

  /**
   * Reads ranges; returns {@link Location}s by the first address.
   *
   * @param name of the input, for messages
   * @throws IOException if a line is not of the form, or not above the one before it
   */
  static NavigableMap<Long, Long> read(String name, BufferedReader lines) throws IOException {
    NavigableMap<Long, Long> ranges = new TreeMap<>();
    long previousLast = -1;
    int number = 0;
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      number++;
      int end = line.indexOf(',');
      int lastEnd = line.indexOf(',', end + 1);
      long first = number(line, 0, end);
      long last = number(line, end + 1, lastEnd);
      String country = line.substring(lastEnd + 1);
      if (first < 0 || last < 0 || !isCountry(country)) {
        throw broken(name, number, "is not first,last,country", line);
      }
      if (last < first || last > Ipv4Address.MAX) {
        throw broken(name, number, "has a last address out of range", line);
      }
      if (first <= previousLast) {
        throw broken(name, number, "does not begin above the range before it", line);
      }
      ranges.put(first, Location.of(last, country));
      previousLast = last;
    }
    return ranges;
  }

  /** Returns the number in a part of a line, or -1: a pattern would take most of a start. */
  private static long number(String line, int from, int to) {
    if (to <= from || to - from > DIGITS_MAX) {
      return -1;
    }
    long number = 0;
    for (int i = from; i < to; i++) {
      int digit = line.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      number = number * 10 + digit;
    }
    return number;
  }

  private static boolean isCountry(String text) {
    return text.length() == 2 && isOfCountry(text.charAt(0)) && isOfCountry(text.charAt(1));
  }

  private static boolean isOfCountry(char letter) {
    return (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') || letter == '?';
  }

  private static IOException broken(String name, int number, String what, String line) {
    return new IOException(name + ", line " + number + " " + what + ": " + line);
  }
}
