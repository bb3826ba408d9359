package pando.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import pando.client.Routes;

class ClusterStateTest {
  private static final Config CONFIG = new Config("orca", Map.of(), 2, 100, LogMode.DATA, 0);

  private static final PoolEntry MEMORY =
      new PoolEntry(0, 1, "m", 16 << 20, true, ServerState.SERVING);

  private final MemoryCoordinator coordinator = new MemoryCoordinator(Duration.ofSeconds(1));
  private final ClusterState state = new ClusterState(coordinator.connect());

  private boolean begin(long generation) {
    return state.beginGeneration(
        CONFIG.withGeneration(generation),
        state.leadership().orElseThrow(),
        state.pool(),
        state.rebuildEntry());
  }

  /** Else those of the next one, whose epochs begin again, would count as older. */
  @Test
  void shouldBeginAGenerationWithoutRoutesThatTheLastHasWrittenBehindItsEnd() {
    assertThat(state.lead(0, 1)).isTrue();
    assertThat(begin(1)).isTrue();
    state.endGeneration(state.config().orElseThrow());
    Routes late = new Routes(5, true, List.of(new Routes.Route(Long.MIN_VALUE, 0, "")));
    state.writeRoutes(late, state.leadership().orElseThrow());
    assertThat(state.routes()).contains(late);
    assertThat(begin(2)).isTrue();
    assertThat(state.routes()).isEmpty();
  }

  /** Returns the state as by a session that does something just before it first lists entries. */
  private ClusterState stateThatListsAfter(Runnable step) {
    Membership session = coordinator.connect();
    AtomicReference<Runnable> next = new AtomicReference<>(step);
    InvocationHandler handler =
        (_, method, arguments) -> {
          if (method.getName().equals("list")) {
            next.getAndSet(() -> {}).run();
          }
          return method.invoke(session, arguments);
        };
    return new ClusterState(
        (Membership)
            Proxy.newProxyInstance(
                Membership.class.getClassLoader(), new Class<?>[] {Membership.class}, handler));
  }

  @Test
  void shouldNotEndTheNextGenerationInPlaceOfTheLast() {
    assertThat(state.lead(0, 1)).isTrue();
    assertThat(begin(1)).isTrue();
    Config first = state.config().orElseThrow();
    ClusterState slow =
        stateThatListsAfter(() -> {
          state.endGeneration(first);
          assertThat(begin(2)).isTrue();
        });
    slow.endGeneration(first);
    assertThat(state.config().map(Config::generation)).contains(2L);
  }

  @Test
  void shouldNotGiveUpWhatTheNextLeaderHasBegun() {
    Membership lost = coordinator.connect();
    ClusterState earlier = new ClusterState(lost);
    assertThat(earlier.lead(1, 1)).isTrue();
    ClusterState.Leadership leadership = earlier.leadership().orElseThrow();
    ClusterState slow =
        stateThatListsAfter(() -> {
          lost.close();
          assertThat(state.lead(0, 1)).isTrue();
          assertThat(state.announceMemory(MEMORY)).isTrue();
          assertThat(begin(1)).isTrue();
        });
    slow.giveGenerationUp(leadership);
    assertThat(state.pool()).containsExactly(MEMORY);
    slow.awaitRebuild(slow.rebuildEntry(), "a folder is damaged", leadership);
    assertThat(state.rebuild()).isEqualTo(Rebuild.NONE);
  }
}
