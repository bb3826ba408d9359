package pando.bench.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class DemoTest {
  private final StringWriter text = new StringWriter();

  @Test
  void shouldPassAllChecksOnAnExtract() throws IOException {
    TreeMap<Long, Long> extract =
        new TreeMap<>(GeoIpFile.readBundled().headMap(Ipv4Address.parse("20.0.0.0")));
    new Demo(extract, 50_000, new PrintWriter(text)).run();
    assertThat(text.toString())
        .contains("50,000 addresses")
        .contains("16.214.20.0")
        .containsPattern("with these caches +0\\.\\d+ +0\\.\\d+ +\\d{1,2}\\.\\d ")
        .containsPattern("caching no segments +1\\.\\d+ +1\\.\\d+ +12\\d\\.\\d +0\\.0 % ")
        .containsPattern("first of all, cold +1\\.000 +1\\.000 +128\\.0 ")
        .containsPattern("a lookup, DEX +0\\.\\d+ +0\\.000 +0\\.\\d+ +\\d{3}\\.\\d +[1-9]")
        .containsPattern("a lookup, ORCA +0\\.\\d+ +0\\.000 +0\\.\\d+ +\\d{1,2}\\.\\d +[1-9]")
        .containsPattern("an update, DEX +0\\.\\d+ +0\\.\\d+ ")
        .containsPattern("an update, ORCA +0\\.\\d+ +0\\.\\d+ ")
        .containsPattern("all [0-9,]+ checks passed");
  }

  @Test
  void shouldFindTheRangeOfAnAddress() throws IOException {
    new Demo(GeoIpFile.readBundled(), new PrintWriter(text)).locate(Ipv4Address.parse("8.8.8.8"));
    assertThat(text.toString())
        .startsWith("8.8.8.8 is in 6.0.0.0 - 8.21.142.255, US.")
        .contains("with 1 READ of 128 B in all");
  }

  @Test
  void shouldSayThatAnAddressIsNowhere() throws IOException {
    new Demo(GeoIpFile.readBundled(), new PrintWriter(text)).locate(Ipv4Address.parse("0.0.0.1"));
    assertThat(text.toString()).startsWith("0.0.0.1 is in no known range.");
  }
}
