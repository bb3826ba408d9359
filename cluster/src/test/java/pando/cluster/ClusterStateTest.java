package pando.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import pando.client.Routes;

class ClusterStateTest {
  private static final Config CONFIG = new Config("orca", Map.of(), 2, 100, LogMode.DATA, 0);

  private final MemoryCoordinator coordinator = new MemoryCoordinator(Duration.ofSeconds(1));
  private final ClusterState state = new ClusterState(coordinator.connect());

  private boolean begin(long generation) {
    return state.beginGeneration(
        CONFIG.withGeneration(generation),
        state.leadership().orElseThrow(),
        List.of(),
        state.rebuildEntry());
  }

  /** Else those of the next one, whose epochs begin again, would count as older. */
  @Test
  void shouldBeginAGenerationWithoutRoutesThatTheLastHasWrittenBehindItsEnd() {
    assertThat(state.lead(0, 1)).isTrue();
    assertThat(begin(1)).isTrue();
    state.endGeneration(state.config());
    Routes late = new Routes(5, true, List.of(new Routes.Route(Long.MIN_VALUE, 0, "")));
    state.writeRoutes(late, state.leadership().orElseThrow());
    assertThat(state.routes()).contains(late);
    assertThat(begin(2)).isTrue();
    assertThat(state.routes()).isEmpty();
  }
}
