package pando.bench.records;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class MixTest {
  @Test
  void shouldUndoItself() {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 1_000_000; i++) {
      long word = random.nextLong();
      assertThat(Mix.unmix(Mix.mix(word))).isEqualTo(word);
      assertThat(Mix.mix(Mix.unmix(word))).isEqualTo(word);
    }
  }
}
