package pando.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.client.Routes;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FencedException;

/** Compute servers whose sessions end while they run on, with what only their caches have. */
@Timeout(60)
class RejoiningTest {
  private static final int ENTRIES = 300;

  private final TestCluster cluster = new TestCluster();
  private final SplittableRandom random = new SplittableRandom(17);

  @AfterEach
  void end() {
    cluster.close();
  }

  private void start(int... numbers) {
    for (int number : numbers) {
      cluster.start(number);
      cluster.settle();
    }
    for (int i = 0; i < ENTRIES; i++) {
      cluster.put(random.nextLong(), i);
    }
  }

  private List<Integer> owners() {
    return cluster.state.routes().orElseThrow().routes().stream().map(Routes.Route::owner).toList();
  }

  private int leader() {
    return cluster.state.leader().orElseThrow();
  }

  private int other() {
    return owners().stream().filter(owner -> owner != leader()).findFirst().orElseThrow();
  }

  private void assertNothingLost(List<Integer> before) {
    cluster.runUntil(() -> cluster.state.computeServers().size() == cluster.servers.size());
    cluster.settle();
    assertThat(owners()).isEqualTo(before);
    assertThat(cluster.found()).isEqualTo(cluster.model);
    assertThat(cluster.servers.values())
        .allSatisfy(server ->
            assertThat(cluster.state.computeServer(server.number).orElseThrow())
                .extracting(Member::epoch, Member::isServing)
                .containsExactly(server.epoch, true));
  }

  private void stepOf(int number) {
    cluster.server(number).agent.lead();
  }

  @Test
  void shouldGoOnAfterItsSessionHasEnded() {
    start(0, 1, 2);
    List<Integer> before = owners();
    int paused = other();
    cluster.server(paused).session().close();
    stepOf(paused);
    assertNothingLost(before);
    assertThat(cluster.state.changes()).noneMatch(Change::isFence);
  }

  /** As where all processes stood still, or the coordinator: the next leader waits for others. */
  @Test
  void shouldGoOnAfterAllSessionsHaveEnded() {
    start(0, 1, 2);
    List<Integer> before = owners();
    for (int round = 0; round < 10; round++) {
      cluster.servers.values().forEach(server -> server.session().close());
      int first = before.get(random.nextInt(before.size()));
      for (int step = 0; step < 4; step++) {
        stepOf(first);
      }
      assertNothingLost(before);
      cluster.put(random.nextLong(), round);
    }
    assertThat(cluster.state.changes()).noneMatch(Change::isFence);
  }

  @Test
  void shouldGiveAwayWhatDoesNotComeBackWithTheOthers() {
    start(0, 1, 2);
    int dead = other();
    cluster.servers.values().forEach(server -> server.session().close());
    cluster.servers.remove(dead);
    cluster.settle();
    assertThat(owners()).hasSize(2).doesNotContain(dead);
    assertThat(cluster.state.changes().getLast())
        .extracting(Change::kind, Change::server, Change::state)
        .containsExactly(Change.Kind.FENCE, dead, Change.State.DONE);
  }

  @Test
  void shouldEndWhereItWasFencedMeanwhile() {
    start(0, 1, 2);
    int paused = other();
    TestCluster.Server server = cluster.server(paused);
    cluster.servers.remove(paused);
    server.session().close();
    cluster.runUntil(() -> cluster.state.lastEpoch(paused) > server.epoch);
    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(server.agent::lead)
        .withMessageContaining("fenced while it had no session");
    cluster.settle();
    assertThat(owners()).doesNotContain(paused);
    assertThat(cluster.state.computeServer(paused)).isEmpty();
  }

  /** The coordinator may have lost its files; the memory servers know of the fence. */
  @Test
  void shouldEndWhereAMemoryServerAloneHasFencedIt() {
    start(0, 1);
    int paused = other();
    TestCluster.Server server = cluster.server(paused);
    try (Fabric fabric = cluster.pool.attach(new ComputeServer(63, 1), 1)) {
      fabric.fence(paused, server.epoch + 1);
    }
    server.session().close();
    assertThatExceptionOfType(FencedException.class).isThrownBy(server.agent::lead);
    assertThat(cluster.state.computeServer(paused)).isEmpty();
  }

  @Test
  void shouldNotBeFencedByALeaderThatHasMissedItBefore() {
    int[] missed = {-1};
    cluster.start(
        0,
        (reached, _) -> {
          if (reached == LeaderHooks.Point.LOSS_FOUND && missed[0] >= 0) {
            stepOf(missed[0]);
          }
        });
    cluster.settle();
    start(1, 2);
    List<Integer> before = owners();
    missed[0] = other();
    cluster.server(missed[0]).session().close();
    stepOf(0);
    assertNothingLost(before);
    assertThat(cluster.state.changes().getLast())
        .extracting(Change::kind, Change::state, Change::why)
        .containsExactly(Change.Kind.FENCE, Change.State.FAILED, "it has joined again");
  }

  /** The leader may have read the epoch before, and write it after the other has joined again. */
  @Test
  void shouldRefuseAFenceThatRestsOnTheEpochBefore() {
    start(0, 1);
    int paused = other();
    TestCluster.Server server = cluster.server(paused);
    int id = cluster.state.ask(Change.lost(paused, server.epoch));
    Change asked = cluster.state.change(id).orElseThrow();
    ClusterState.Leadership leadership = cluster.state.leadership().orElseThrow();
    ClusterState.Versioned<Long> seen = cluster.state.epoch(paused);
    server.session().close();
    stepOf(paused);
    assertThat(cluster.state.beginFence(asked, seen, leadership)).isFalse();
    assertThat(cluster.state.lastEpoch(paused)).isEqualTo(server.epoch);
    // The other way round: what has seen the epoch before a fence does not join again.
    seen = cluster.state.epoch(paused);
    server.session().close();
    assertThat(cluster.state.beginFence(asked, seen, leadership)).isTrue();
    assertThat(cluster.state.announceAgain(Machine.member(paused, server.epoch, ""), seen))
        .isFalse();
  }

  /** The change is made, but not yet told of; it is not made a second time. */
  @Test
  void shouldEndAChangeThatItMadeBeforeItsSessionEnded() {
    start(0, 1);
    int giver = other();
    cluster.start(2);
    cluster.runUntil(() -> cluster.state.change(lastChange()).orElseThrow().isOver());
    cluster.settle();
    List<Integer> before = owners();
    int id = cluster.state.ask(Change.move(giver, middleOf(giver)));
    cluster.runUntil(() ->
        cluster.state.change(id).orElseThrow().isExecutedBy(giver, cluster.server(giver).epoch)
            || cluster.state.change(id).orElseThrow().isOver());
    cluster.server(giver).session().close();
    cluster.settle();
    assertThat(cluster.state.change(id).orElseThrow().isOver()).isTrue();
    assertThat(owners()).containsAll(before);
    assertThat(cluster.found()).isEqualTo(cluster.model);
  }

  private int lastChange() {
    return cluster.state.changes().stream().mapToInt(Change::id).max().orElseThrow();
  }

  private long middleOf(int number) {
    var table = cluster.server(number).index.partitioning();
    return table.lowOfServer(number)
        + ((table.highOfServer(number) - table.lowOfServer(number)) >>> 1);
  }
}
