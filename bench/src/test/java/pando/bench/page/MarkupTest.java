package pando.bench.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;

final class MarkupTest {
  @Test
  void shouldEscapeTextAndAttributes() {
    Markup markup = new Markup("");
    markup.element("p", "<script>&amp;\"'</script>", "title", "\"><script x='1'>&");
    assertThat(markup.toString())
        .isEqualTo(
            "<p title=\"&quot;&gt;&lt;script x='1'&gt;&amp;\">"
                + "&lt;script&gt;&amp;amp;\"'&lt;/script&gt;</p>");
  }

  @Test
  void shouldWriteNumbersWithOneDecimalAtTheMost() {
    Markup markup = new Markup("<!DOCTYPE html>\n");
    markup.open("g", "x", 1.25, "y", 0.04, "r", 120.0, "n", 3).empty("br").close().line();
    assertThat(markup.toString())
        .isEqualTo("<!DOCTYPE html>\n<g x=\"1.3\" y=\"0\" r=\"120\" n=\"3\"><br/></g>\n");
  }

  @Test
  void shouldRefuseToCloseMoreThanWasOpened() {
    Markup markup = new Markup("").open("p").close();
    assertThatIllegalStateException().isThrownBy(markup::close);
  }
}
