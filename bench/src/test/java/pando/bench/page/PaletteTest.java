package pando.bench.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.bench.page.Palette.Theme;
import pando.bench.page.Palette.Tone;
import pando.index.IndexSystem;
import pando.index.Systems;

final class PaletteTest {
  /** What WCAG 2.1 asks of graphics, and of text. */
  private static final double GRAPHICS = 3;

  private static final double TEXT = 4.5;

  @Test
  void shouldHaveAColourForEachSystem() {
    List<String> names = new ArrayList<>(Systems.all().stream().map(IndexSystem::name).toList());
    names.add(Palette.OTHER);
    assertThat(Palette.systems()).containsOnlyKeys(names);
    assertThat(Palette.systems().values().stream().map(Tone::light)).doesNotHaveDuplicates();
    assertThat(Palette.systems().values().stream().map(Tone::dark)).doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @EnumSource
  void shouldStandOutFromTheBackground(Theme theme) {
    Palette.systems()
        .forEach(
            (name, tone) -> assertThat(contrast(tone, theme)).as(name).isGreaterThan(GRAPHICS));
    for (String name : List.of("text", "lesser", "link")) {
      Tone tone = Objects.requireNonNull(Palette.page().get(name));
      assertThat(contrast(tone, theme)).as(name).isGreaterThan(TEXT);
    }
  }

  private static double contrast(Tone tone, Theme theme) {
    Tone background = Objects.requireNonNull(Palette.page().get("background"));
    double one = luminance(tone.in(theme));
    double other = luminance(background.in(theme));
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  }

  private static double luminance(String colour) {
    return 0.2126 * channel(colour, 1) + 0.7152 * channel(colour, 3) + 0.0722 * channel(colour, 5);
  }

  private static double channel(String colour, int at) {
    double share = Integer.parseInt(colour.substring(at, at + 2), 16) / 255.0;
    return share <= 0.04045 ? share / 12.92 : Math.pow((share + 0.055) / 1.055, 2.4);
  }

  @Test
  void shouldKnowTheSystemThatATextBeginsWith() {
    assertThat(Palette.system("DEX over P-Sherman")).contains("dex");
    assertThat(Palette.system("DEX")).contains("dex");
    assertThat(Palette.system("P-Sherman")).contains("p-sherman");
    assertThat(Palette.system("FG+")).contains("fg");
    assertThat(Palette.system("ROLEX: sets of keys")).contains("rolex");
    assertThat(Palette.system("DEXTER")).isEmpty();
    assertThat(Palette.system("+ combine")).isEmpty();
    assertThat(Palette.system("")).isEmpty();
  }
}
