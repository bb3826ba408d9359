package pando.bench.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.util.Map;
import java.util.NavigableMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class GeoIpFileTest {
  @Test
  void shouldReadTheWholeDatabase() throws IOException {
    NavigableMap<Long, Long> ranges = GeoIpFile.readBundled();
    assertThat(ranges).hasSize(385_602);
    Map.Entry<Long, Long> google = ranges.floorEntry(Ipv4Address.parse("8.8.8.8"));
    assertThat(Location.describe(google.getKey(), google.getValue()))
        .isEqualTo("6.0.0.0 - 8.21.142.255, US");
  }

  @Test
  void shouldReadRanges() throws IOException {
    assertThat(read("5,5,AU\n6,9,??\n4294967295,4294967295,A1\n"))
        .isEqualTo(
            Map.of(
                5L, Location.of(5, "AU"),
                6L, Location.of(9, "??"),
                4294967295L, Location.of(4294967295L, "A1")));
    assertThat(read("")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1,2              | is not first,last,country",
        "1,2,USA          | is not first,last,country",
        "1,2,us           | is not first,last,country",
        "-1,2,US          | is not first,last,country",
        "99999999999,2,US | is not first,last,country",
        "7,6,US           | has a last address out of range",
        "7,4294967296,US  | has a last address out of range",
        "3,7,US           | does not begin above the range before it"
      })
  void shouldTellTheLineThatIsBroken(String line, String complaint) {
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> read("1,1,AU\n2,3,CH\n" + line + "\n9,9,FR\n"))
        .withMessage("ranges.csv, line 3 " + complaint + ": " + line);
  }

  private static NavigableMap<Long, Long> read(String text) throws IOException {
    return GeoIpFile.read("ranges.csv", new BufferedReader(new StringReader(text)));
  }
}
