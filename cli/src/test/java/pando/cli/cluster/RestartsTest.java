package pando.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RestartsTest {
  private static final Duration SOON = Duration.ofSeconds(3);

  private final Restarts restarts = new Restarts();

  @Test
  void shouldWaitLongerEachTimeAndThenStop() {
    assertThat(Stream.generate(() -> restarts.pauseAfter(SOON)).limit(5))
        .map(pause -> pause.orElseThrow().toSeconds())
        .containsExactly(1L, 2L, 4L, 8L, 16L);
    assertThat(restarts.pauseAfter(SOON)).isEmpty();
  }

  @Test
  void shouldForgetFailuresBeforeALongRun() {
    for (int round = 0; round < 4; round++) {
      for (int i = 0; i < 4; i++) {
        assertThat(restarts.pauseAfter(SOON)).isPresent();
      }
      assertThat(restarts.pauseAfter(Restarts.LONG)).isEqualTo(Optional.of(Duration.ofSeconds(1)));
      for (int i = 0; i < 3; i++) {
        assertThat(restarts.pauseAfter(SOON)).isPresent();
      }
      assertThat(restarts.pauseAfter(Restarts.LONG)).isEqualTo(Optional.of(Duration.ofSeconds(1)));
    }
  }
}
