package pando.fabric.pool;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import pando.fabric.FencedException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;

class LossesTest {
  private final PandoException lost = new MemoryServerLostException("lost");
  private final PandoException other = new MemoryServerLostException("another is lost");
  private final PandoException fenced = new FencedException("fenced");

  private static Losses of(PandoException... failures) {
    Losses losses = new Losses();
    for (PandoException failure : failures) {
      losses.defer(() -> {
        throw failure;
      });
    }
    return losses;
  }

  @Test
  void shouldThrowTheFirstLoss() {
    assertThatCode(of()::rethrow).doesNotThrowAnyException();
    assertThatThrownBy(of(lost, other)::rethrow).isSameAs(lost).hasSuppressedException(other);
  }

  /** What is lost is lost by the fence. */
  @Test
  void shouldThrowAFenceBeforeAllLosses() {
    assertThatThrownBy(of(lost, fenced, other)::rethrow)
        .isSameAs(fenced)
        .hasSuppressedException(lost)
        .hasSuppressedException(other);
  }
}
