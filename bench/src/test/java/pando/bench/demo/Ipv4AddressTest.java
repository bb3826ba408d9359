package pando.bench.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class Ipv4AddressTest {
  @Test
  void shouldReadAndWriteAddresses() {
    assertThat(Ipv4Address.parse("0.0.0.0")).isZero();
    assertThat(Ipv4Address.parse("8.8.4.4")).isEqualTo(0x08080404L);
    assertThat(Ipv4Address.parse("255.255.255.255")).isEqualTo(Ipv4Address.MAX);
    assertThat(Ipv4Address.format(Ipv4Address.MAX)).isEqualTo("255.255.255.255");
    assertThat(Ipv4Address.format(0xc0a80101L)).isEqualTo("192.168.1.1");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "8.8.8",
        "8.8.8.8.8",
        "8.8.8.256",
        "8.8.8.x",
        "-1.0.0.0",
        " 8.8.8.8",
        "1..2.3"
      })
  void shouldRefuseWhatIsNone(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Ipv4Address.parse(text))
        .withMessageContaining("'" + text + "' is not an IPv4 address");
  }

  @Test
  void shouldPackALocation() {
    long location = Location.of(Ipv4Address.MAX, "CH");
    assertThat(Location.last(location)).isEqualTo(Ipv4Address.MAX);
    assertThat(Location.country(location)).isEqualTo("CH");
    long moved = Location.withCountry(location, "??");
    assertThat(Location.last(moved)).isEqualTo(Ipv4Address.MAX);
    assertThat(Location.country(moved)).isEqualTo("??");
    assertThat(Location.describe(0, moved)).isEqualTo("0.0.0.0 - 255.255.255.255, ??");
  }
}
