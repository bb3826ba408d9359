package pando.cli.option;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

final class QuantityTest {
  @ParameterizedTest
  @CsvSource({
    "0,        0",
    "17,       17",
    "20M,      20000000",
    "2.5M,     2500000",
    "1K,       1000",
    "3G,       3000000000",
    "1T,       1000000000000",
    "25600KiB, 26214400",
    "8GiB,     8589934592",
    "1.5Mi,    1572864",
    "5MB,      5000000",
    "64B,      64"
  })
  void shouldReadCountsAndSizes(String text, long quantity) {
    assertThat(Quantity.parse(text)).isEqualTo(quantity);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "M",
        "-1",
        "1.5",
        "0.0001K",
        "12x",
        "1 M",
        "1m",
        "99999999999T",
        "1e6",
        "1KiBB"
      })
  void shouldRefuseWhatIsNone(String text) {
    assertThatExceptionOfType(TypeConversionException.class)
        .isThrownBy(() -> Quantity.parse(text))
        .withMessageStartingWith("'" + text + "' is not a quantity");
  }

  @Test
  void shouldTakeTheCacheAsBytesOrAsAShareOfTheRecords() {
    CacheSize.Converter converter = new CacheSize.Converter();
    assertThat(converter.convert("25600KiB").bytesPerServer(20_000_000, 0)).isEqualTo(26_214_400);
    assertThat(converter.convert("8%").bytesPerServer(20_000_000, 0)).isEqualTo(25_600_000);
    assertThat(converter.convert("0.5%").bytesPerServer(1_000, 0)).isEqualTo(80);
    assertThat(converter.convert("0.5%").bytesPerServer(1_000, 4_096)).isEqualTo(4_096);
    assertThat(converter.convert("80B").bytesPerServer(1_000, 4_096)).isEqualTo(80);
  }

  @ParameterizedTest
  @ValueSource(strings = {"%", "0%", "-8%", "101%", "x%", "NaN%", "8 percent"})
  void shouldRefuseACacheThatIsNone(String text) {
    assertThatExceptionOfType(TypeConversionException.class)
        .isThrownBy(() -> new CacheSize.Converter().convert(text))
        .withMessageStartingWith("'" + text + "' is not");
  }
}
