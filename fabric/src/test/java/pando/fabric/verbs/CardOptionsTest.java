package pando.fabric.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CardOptionsTest {
  @Test
  void shouldPromiseWordsAlone() {
    assertThat(CardOptions.defaults()).isEqualTo(new CardOptions(8));
    assertThat(CardOptions.defaults().withLineAtomicity(64)).isEqualTo(new CardOptions(64));
  }

  @ParameterizedTest
  @ValueSource(ints = {Integer.MIN_VALUE, 0, 7, 9, 16, 63, 65, 128})
  void shouldRefuseOtherLines(int bytes) {
    assertThatThrownBy(() -> CardOptions.defaults().withLineAtomicity(bytes))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("lineAtomicity=" + bytes);
  }

  @Test
  void shouldFindTheLimitOfLockedMemory() {
    String head = "Limit                     Soft Limit           Hard Limit           Units     ";
    assertThat(
            MemoryLock.parse(
                List.of(head, "Max locked memory         8388608              unlimited   bytes")))
        .hasValue(8_388_608);
    assertThat(
            MemoryLock.parse(
                List.of("Max locked memory         unlimited            unlimited   bytes")))
        .isEmpty();
    assertThat(MemoryLock.parse(List.of(head))).isEmpty();
  }
}
