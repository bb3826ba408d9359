package pando.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.client.Routes;
import pando.cluster.TestCluster.Killed;
import pando.fabric.ComputeServer;
import pando.fabric.FencedException;

/** Changes of a cluster, and losses in the middle of them. */
@Timeout(120)
class LeaderTest {
  private final TestCluster cluster = new TestCluster();
  private final SplittableRandom random = new SplittableRandom(11);

  @AfterEach
  void end() {
    cluster.close();
  }

  private void start(int... numbers) {
    for (int number : numbers) {
      cluster.start(number);
      cluster.settle();
    }
  }

  private void fill(int entries) {
    for (int i = 0; i < entries; i++) {
      cluster.put(random.nextLong(), i);
    }
  }

  private List<Integer> owners() {
    return cluster.state.routes().orElseThrow().routes().stream().map(Routes.Route::owner).toList();
  }

  private void assertServed() {
    assertThat(cluster.found()).isEqualTo(cluster.model);
    for (int i = 0; i < 50; i++) {
      assertThat(cluster.serving(random.nextLong())).isEqualTo(1);
    }
  }

  @Test
  void shouldGiveARangeToEachThatStarts() {
    start(4);
    fill(500);
    start(2, 7);
    assertThat(owners()).hasSize(3).contains(2, 4, 7);
    assertServed();
    assertThat(cluster.state.leader()).contains(4);
    assertThat(cluster.state.config()).contains(TestCluster.CONFIG);
    assertThat(cluster.state.changes())
        .allMatch(change -> change.state() == Change.State.DONE)
        .hasSize(2);
  }

  @Test
  void shouldMoveSplitAndRemove() {
    start(0, 1, 2);
    fill(2_000);
    Routes before = cluster.state.routes().orElseThrow();
    int second = before.routes().get(1).owner();
    long low = before.routes().get(1).low();
    assertThat(cluster.ask(Change.move(second, low + (1L << 60))).state())
        .isEqualTo(Change.State.DONE);
    assertThat(cluster.state.routes().orElseThrow().routes().get(1).low()).isGreaterThan(low);
    assertServed();
    assertThat(cluster.ask(Change.remove(second)).state()).isEqualTo(Change.State.DONE);
    assertThat(owners()).hasSize(2).doesNotContain(second);
    TestCluster.Server removed = cluster.server(second);
    assertThat(removed.agent.isRemoved()).isTrue();
    cluster.kill(second);
    cluster.settle();
    assertServed();
    assertThat(cluster.ask(Change.remove(owners().getFirst())).state())
        .isEqualTo(Change.State.DONE);
    assertThat(cluster.ask(Change.remove(owners().getFirst())))
        .extracting(Change::state, Change::why)
        .satisfies(fields -> {
          assertThat(fields).element(0).isEqualTo(Change.State.FAILED);
          assertThat(String.valueOf(fields)).contains("the last compute server stays");
        });
  }

  @Test
  void shouldRefuseWhatMakesNoSense() {
    start(0, 1);
    int first = owners().getFirst();
    for (Change change :
        List.of(
            Change.move(first, 5),
            Change.move(9, 5),
            Change.split(0, 5, 1),
            Change.split(0, 5, 3),
            Change.add(5),
            Change.remove(6),
            Change.move(owners().get(1), Long.MIN_VALUE))) {
      assertThat(cluster.ask(change)).extracting(Change::state).isEqualTo(Change.State.FAILED);
    }
    assertServed();
  }

  @Test
  void shouldGiveTheRangeOfALostOneToANeighbour() {
    start(0, 1, 2);
    fill(1_000);
    cluster.servers.values().forEach(server -> writeBack(server));
    int lost = owners().get(1);
    cluster.kill(lost);
    cluster.settle();
    assertThat(owners()).hasSize(2).doesNotContain(lost);
    assertServed();
    // It comes back, as a new start without what it had.
    start(lost);
    assertThat(owners()).hasSize(3).contains(lost);
    assertServed();
    assertThat(cluster.server(lost)).extracting(server -> server.epoch).isEqualTo(3L);
  }

  @Test
  void shouldGiveAwayTheRangeOfOneThatStartsAndNeverServes() {
    start(0, 1, 2);
    fill(300);
    cluster.servers.values().forEach(server -> writeBack(server));
    int lost = owners().get(1);
    cluster.kill(lost);
    TestCluster.Start first = new TestCluster.Start(cluster, lost);
    for (int i = 0; i < 20; i++) {
      cluster.stepAll();
    }
    assertThat(owners()).as("it has time to start").contains(lost);
    first.close();
    TestCluster.Start second = new TestCluster.Start(cluster, lost);
    for (int i = 0; i < 22; i++) {
      // Not so long that the leader would think that it stood still.
      cluster.pass(Duration.ofMillis(500));
      cluster.stepAll();
    }
    cluster.runUntil(() -> !owners().contains(lost));
    assertThat(cluster.state.lastEpoch(lost)).isGreaterThan(second.epoch);
    second.close();
    cluster.settle();
    assertThat(owners()).hasSize(2);
    assertServed();
  }

  /** All that have keys start, such as the first of a new cluster. */
  @Test
  void shouldWaitForAGiverBeforeItGivesARange() {
    start(0);
    fill(300);
    writeBack(cluster.server(0));
    cluster.kill(0);
    TestCluster.Start again = new TestCluster.Start(cluster, 0);
    cluster.start(1);
    for (int i = 0; i < 5; i++) {
      cluster.stepAll();
    }
    assertThat(cluster.state.changes())
        .extracting(Change::kind, Change::state)
        .containsExactly(tuple(Change.Kind.ADD, Change.State.ASKED));
    again.close();
    cluster.settle();
    assertThat(owners()).containsExactly(1);
    assertThat(cluster.state.changes())
        .filteredOn(change -> change.kind() == Change.Kind.ADD)
        .allMatch(change -> change.state() == Change.State.DONE);
    assertServed();
  }

  /** It has led before, and seen an earlier start of the same number then. */
  @Test
  void shouldGiveAStartItsTimeWhereALeaderLeadsAgain() {
    start(0, 1, 2);
    fill(300);
    cluster.servers.values().forEach(server -> writeBack(server));
    assertThat(cluster.state.leader()).contains(0);
    cluster.kill(1);
    TestCluster.Start before = new TestCluster.Start(cluster, 1);
    cluster.stepAll();
    cluster.server(0).session().close();
    cluster.runUntil(() -> cluster.state.leader().equals(Optional.of(2)));
    before.close();
    start(1);
    for (int i = 0; i < 22; i++) {
      cluster.pass(Duration.ofMillis(500));
      cluster.stepAll();
    }
    cluster.kill(1);
    cluster.kill(2);
    TestCluster.Start starting = new TestCluster.Start(cluster, 1);
    for (int i = 0; i < 20; i++) {
      cluster.stepAll();
    }
    assertThat(cluster.state.leader()).contains(0);
    assertThat(cluster.state.changes())
        .filteredOn(Change::isFence)
        .extracting(Change::server)
        .containsExactly(2);
    starting.close();
  }

  @Test
  void shouldFenceOneThatRuns() {
    start(0, 1);
    fill(300);
    int fenced = owners().getLast();
    TestCluster.Server running = cluster.server(fenced);
    writeBack(running);
    int id = cluster.state.ask(Change.fence(fenced));
    cluster.servers.remove(fenced);
    cluster.runUntil(() -> cluster.state.change(id).orElseThrow().isOver());
    running.membership.close();
    cluster.settle();
    assertThat(owners()).hasSize(1).doesNotContain(fenced);
    assertServed();
  }

  /** It must not lead, and say itself that the fence is done. */
  @Test
  void shouldEndAStartThatAFenceIsFor() {
    start(0);
    TestCluster.Start late = new TestCluster.Start(cluster, 5);
    int id = cluster.state.ask(Change.fence(5));
    cluster.runUntil(
        () -> cluster.state.change(id).orElseThrow().state() == Change.State.UNDER_WAY);
    cluster.kill(0);

    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(() -> late.joining.endPredecessors(late.fabric, late.epoch))
        .withMessageContaining("this start is fenced");
    assertThat(cluster.state.change(id).orElseThrow().state()).isEqualTo(Change.State.UNDER_WAY);
    late.close();
  }

  /** Nobody else is there to end the fence, whose heir may be gone for good. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldStartWhereTheHeirOfItsRangeIsLost(boolean comesBack) {
    LeaderHooks dies =
        (point, _) -> {
          if (point == LeaderHooks.Point.HEIR_NAMED) {
            throw new Killed();
          }
        };
    cluster.start(0, dies);
    start(1);
    fill(300);
    cluster.servers.values().forEach(server -> writeBack(server));
    cluster.kill(1);
    cluster.runUntil(() -> cluster.servers.isEmpty());
    assertThat(cluster.state.changes())
        .filteredOn(Change::isFenceUnderWay)
        .extracting(Change::server, Change::executor)
        .containsExactly(tuple(1, 0));

    start(1);
    assertThat(owners()).containsExactly(1);
    assertServed();
    if (comesBack) {
      start(0);
      assertThat(owners()).containsExactlyInAnyOrder(0, 1);
      assertServed();
    }
  }

  /** Without that, it would wait for a lock of the pool that the fenced one holds. */
  @Test
  void shouldKnowBeforeItJoinsWhoIsFenced() {
    start(0);
    TestCluster.Start fenced = new TestCluster.Start(cluster, 5);
    int id = cluster.state.ask(Change.fence(5));
    cluster.runUntil(
        () -> cluster.state.change(id).orElseThrow().state() == Change.State.UNDER_WAY);
    cluster.kill(0);

    TestCluster.Start again = new TestCluster.Start(cluster, 0);
    again.joining.endPredecessors(again.fabric, again.epoch);
    assertThat(again.fabric.isGone(new ComputeServer(5, fenced.epoch).process())).isTrue();
    again.close();
    fenced.close();
  }

  /** Neither is the heir of the other, though both go on to run, and do nothing. */
  @Test
  void shouldFenceTwoThatStandBesideEachOther() {
    start(0, 1, 2, 3);
    fill(1_000);
    cluster.servers.values().forEach(server -> writeBack(server));
    int leader = cluster.state.leader().orElseThrow();
    List<Integer> others = owners().stream().filter(owner -> owner != leader).toList();
    List<Integer> fenced = List.of(others.get(1), others.get(0));
    List<Integer> ids =
        fenced.stream().map(number -> cluster.state.ask(Change.fence(number))).toList();
    List<TestCluster.Server> hanging = fenced.stream().map(cluster.servers::remove).toList();
    cluster.runUntil(
        () -> ids.stream().allMatch(id -> cluster.state.change(id).orElseThrow().isOver()));
    hanging.forEach(server -> server.membership.close());
    cluster.settle();
    assertThat(owners()).doesNotContainAnyElementsOf(fenced);
    assertServed();
  }

  @Test
  void shouldServeAgainAfterAllAreLost() {
    start(0, 1, 2);
    fill(600);
    cluster.servers.values().forEach(server -> writeBack(server));
    List.of(0, 1, 2).forEach(cluster::kill);
    // Its predecessor had a range, which it takes up; those of the others come to it.
    start(1);
    assertThat(owners()).containsExactly(1);
    assertServed();
    start(0, 2);
    assertThat(owners()).hasSize(3);
    assertServed();
  }

  @Test
  void shouldKeepServingWhileTheCoordinatorIsAway() {
    start(0, 1);
    fill(300);
    cluster.servers.values().forEach(server -> cluster.coordinator.disconnect(server.session()));
    cluster.stepAll();
    assertThat(cluster.found()).isEqualTo(cluster.model);
    int id = cluster.state.ask(Change.move(owners().get(1), 77));
    cluster.stepAll();
    assertThat(cluster.state.change(id).orElseThrow().state()).isEqualTo(Change.State.ASKED);
    cluster.servers.values().forEach(server -> cluster.coordinator.reconnect(server.session()));
    cluster.settle();
    assertThat(cluster.state.change(id).orElseThrow().isOver()).isTrue();
    assertServed();
  }

  @Test
  void shouldSayThatAMemoryServerIsLost() {
    start(0, 1);
    cluster.endMemory(1);
    cluster.runUntil(() -> cluster.state.pool().get(1).state() == ServerState.LOST);
    assertThat(cluster.state.pool().get(0).state()).isEqualTo(ServerState.SERVING);
  }

  @ParameterizedTest
  @EnumSource(LeaderHooks.Point.class)
  void shouldGoOnWhereALeaderWasLost(LeaderHooks.Point point) {
    boolean[] killed = new boolean[1];
    cluster.start(
        0,
        (reached, _) -> {
          if (reached == point && !killed[0] && cluster.servers.size() >= 3) {
            killed[0] = true;
            throw new Killed();
          }
        });
    cluster.settle();
    start(1, 2, 3);
    fill(1_000);
    cluster.servers.values().forEach(server -> writeBack(server));
    int lost = owners().stream().filter(owner -> owner != 0).findFirst().orElseThrow();
    boolean killsAtStart = point == LeaderHooks.Point.LEADING;
    if (!killsAtStart) {
      int mover = owners().get(2);
      cluster.state.ask(
          Change.move(mover, cluster.state.routes().orElseThrow().routes().get(2).low() + 1));
      cluster.kill(lost);
    } else {
      cluster.kill(0);
      killed[0] = true;
    }
    cluster.settle();
    if (!killed[0]) {
      cluster.kill(0);
      cluster.settle();
    }
    assertThat(cluster.servers).doesNotContainKey(0);
    assertThat(owners()).doesNotContain(0);
    assertServed();
  }

  private static void writeBack(TestCluster.Server server) {
    assertThat(server.words().space().bytes()).isPositive();
  }

  @Test
  void shouldCountEpochsUpwards() {
    start(0);
    List<Long> epochs =
        IntStream.range(0, 3)
            .mapToObj(_ -> {
              writeBack(cluster.server(0));
              cluster.kill(0);
              start(0);
              return cluster.server(0).epoch;
            })
            .toList();
    assertThat(epochs).isSorted().doesNotHaveDuplicates();
    assertThat(epochs.getFirst()).isGreaterThan(1);
    assertServed();
  }
}
