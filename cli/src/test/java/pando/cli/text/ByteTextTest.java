package pando.cli.text;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ByteTextTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "616220 63 | ab c",
        "5c | \\\\",
        "00 61 0a 7f 1b | \\x00a\\x0a\\x7f\\x1b",
        "c3a9 e282ac f09f8ca8 | \u00e9\u20ac\ud83c\udf28",
        "c3 61 a9 | \\xc3a\\xa9",
        "e282 | \\xe2\\x82",
        "c080 eda080 ff | \\xc0\\x80\\xed\\xa0\\x80\\xff",
        "e280ae | \\xe2\\x80\\xae",
      })
  void shouldShowTextAsItIsAndOtherBytesByTheirNumbers(String hex, String shown) {
    byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
    assertThat(ByteText.shown(MemorySegment.ofArray(bytes))).isEqualTo(shown);
  }

  @ParameterizedTest
  @CsvSource({"a", "'a b'", "\u00e9\u20ac"})
  void shouldTakeTextAsUtf8(String text) {
    assertThat(new String((byte[]) ByteText.bytes(text).heapBase().orElseThrow(), UTF_8))
        .isEqualTo(text);
    assertThat(ByteText.shown(ByteText.bytes(text))).isEqualTo(text);
  }
}
