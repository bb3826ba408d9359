package pando.cli.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

final class TextTableTest {
  @Test
  void shouldAlignTextLeftAndNumbersRight() {
    TextTable table = new TextTable(1, List.of("name", "count"));
    table.add(List.of("a", "1"));
    table.add(List.of("longer", "1,000,000"));
    assertThat(table.toString().lines())
        .containsExactly(
            "  name        count", //
            "  a               1",
            "  longer  1,000,000");
  }

  @Test
  void shouldRefuseARowOfAnotherLength() {
    TextTable table = new TextTable(1, List.of("name", "count"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> table.add(List.of("alone")))
        .withMessageContaining("cells=[alone]");
  }

  @Test
  void shouldWriteNumbersTheSameEverywhere() {
    assertThat(Numbers.count(1_234_567)).isEqualTo("1,234,567");
    assertThat(Numbers.decimal(1234.5678, 2)).isEqualTo("1,234.57");
    assertThat(Numbers.percent(0.0801)).isEqualTo("8.0 %");
    assertThat(Numbers.quantity(20_000_000)).isEqualTo("20M");
    assertThat(Numbers.quantity(1_500_000)).isEqualTo("1500K");
    assertThat(Numbers.quantity(1_001)).isEqualTo("1001");
    assertThat(Numbers.significant(0, 3)).isEqualTo("0");
    assertThat(Numbers.significant(0.99998, 3)).isEqualTo("1.00");
    assertThat(Numbers.significant(3.6, 3)).isEqualTo("3.6");
    assertThat(Numbers.significant(1_064.7, 3)).isEqualTo("1,065");
    assertThat(Numbers.significant(0.000_021, 3)).isEqualTo("0.0000");
    assertThat(Numbers.bytes(999)).isEqualTo("999 B");
    assertThat(Numbers.bytes(25_600_000)).isEqualTo("25.6 MB");
    assertThat(Numbers.size(8L << 30)).isEqualTo("8 GiB");
    assertThat(Numbers.size(1536 << 20)).isEqualTo("1,536 MiB");
    assertThat(Numbers.size(25_600_000)).isEqualTo("25.6 MB");
    assertThat(Numbers.size(1 << 10)).isEqualTo("1 KiB");
    assertThat(Numbers.size(1_000)).isEqualTo("1.0 KB");
    assertThat(Numbers.size(0)).isEqualTo("0 B");
    assertThat(Numbers.size(Long.MIN_VALUE)).isEqualTo(Numbers.bytes(Long.MIN_VALUE));
    assertThat(Numbers.bytes(5_000_000_000_000_000L)).isEqualTo("5,000.0 TB");
  }
}
