package pando.bench.demo;

import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;

/**
 * Reads address ranges, one a line: {@code first,last,country}, addresses as decimal numbers,
 * ranges ascending and disjoint, two characters for the country.
 */
public final class GeoIpFile {
  private static final String RESOURCE = "geoip-ipv4.csv.gz";
  private static final Pattern LINE = Pattern.compile("(\\d{1,10}),(\\d{1,10}),([A-Z0-9?]{2})");

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
      Matcher matcher = LINE.matcher(line);
      if (!matcher.matches()) {
        throw broken(name, number, "is not first,last,country", line);
      }
      long first = Long.parseLong(matcher.group(1));
      long last = Long.parseLong(matcher.group(2));
      if (last < first || last > Ipv4Address.MAX) {
        throw broken(name, number, "has a last address out of range", line);
      }
      if (first <= previousLast) {
        throw broken(name, number, "does not begin above the range before it", line);
      }
      ranges.put(first, Location.of(last, matcher.group(3)));
      previousLast = last;
    }
    return ranges;
  }

  private static IOException broken(String name, int number, String what, String line) {
    return new IOException(name + ", line " + number + " " + what + ": " + line);
  }
}
