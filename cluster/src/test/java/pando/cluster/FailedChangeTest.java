package pando.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.client.Routes;
import pando.cluster.Change.State;
import pando.cluster.TestCluster.Killed;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.index.CorruptNodeException;
import pando.index.MovablePartitions;
import pando.index.Partitioned;
import pando.index.Session;
import pando.index.Systems;

/** Changes that fail: each ends by what the pool says, and none keeps others from their end. */
@Timeout(60)
class FailedChangeTest {
  private TestCluster cluster = new TestCluster();

  /** The methods of partitions that were called, while they are noted. */
  private final List<String> calls = new ArrayList<>();

  /** A method of partitions that fails, and how; none if empty. */
  private String failing = "";

  private Supplier<Throwable> failure = AssertionError::new;

  /** Whether it does what it is for, and fails afterwards. */
  private boolean isMade;

  /** How often the table in the pool cannot be read, and how that fails. */
  private int unread;

  private Failing reading = Failing.UNKNOWN;

  /** Called where the method fails. */
  private Runnable onFailure = () -> {};

  @AfterEach
  void end() {
    cluster.close();
  }

  private void start(int... numbers) {
    cluster.seen = this::failing;
    for (int number : numbers) {
      cluster.start(number);
      cluster.settle();
    }
  }

  private Partitioned failing(Partitioned index) {
    MovablePartitions partitions =
        failing(MovablePartitions.class, index.partitions().orElseThrow(), "");
    return failing(Partitioned.class, index, Optional.of(partitions));
  }

  /** Returns a proxy whose methods fail; {@code partitions()} returns what is given. */
  private <T> T failing(Class<T> type, T index, Object partitions) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, arguments) -> {
              if (method.getName().equals("partitions")) {
                return partitions;
              }
              calls.add(method.getName());
              if (method.getName().equals("readPartitions") && unread > 0) {
                unread--;
                throw reading.exception();
              }
              boolean fails = method.getName().equals(failing);
              try {
                Object answer = fails && !isMade ? null : method.invoke(index, arguments);
                if (fails) {
                  onFailure.run();
                  throw failure.get();
                }
                return answer;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  private void fail(String method, boolean made, Supplier<Throwable> with) {
    failing = method;
    isMade = made;
    failure = with;
  }

  /** Stores entries, so that ranges have fences between leaves. */
  private void fill() {
    for (int i = 0; i < 500; i++) {
      cluster.put(i * (Long.MAX_VALUE / 300) - Long.MAX_VALUE, i);
    }
  }

  private List<Integer> owners() {
    return cluster.state.routes().orElseThrow().routes().stream().map(Routes.Route::owner).toList();
  }

  private Change change(int id) {
    return cluster.state.change(id).orElseThrow();
  }

  /** What the environment may do to a change. */
  enum Failing {
    FULL,
    LOST,
    UNKNOWN,
    STALLED,
    DAMAGED;

    PandoException exception() {
      return switch (this) {
        case FULL -> new PoolFullException("full in a test");
        case LOST -> new MemoryServerLostException("lost in a test");
        case UNKNOWN -> new UnknownOutcomeException("unknown in a test");
        case STALLED -> new StalledException("stalled in a test");
        case DAMAGED -> new CorruptNodeException(8, "damaged in a test");
      };
    }
  }

  /** It is not repeated for good, and the next one goes its way. */
  @ParameterizedTest
  @EnumSource
  void shouldEndAChangeThatFails(Failing how) {
    start(0, 1);
    int second = owners().get(1);
    fail("moveBoundary", false, how::exception);
    Change failed = cluster.ask(Change.move(second, 5));
    assertThat(failed.state()).isEqualTo(State.FAILED);
    assertThat(failed.why()).contains("in a test");
    assertThat(cluster.ask(Change.remove(second)).state()).isEqualTo(State.DONE);
    assertThat(owners()).doesNotContain(second);
  }

  /** What counts is the table: not whether the change was told to have failed. */
  @ParameterizedTest
  @EnumSource
  void shouldCallAChangeDoneThatWasMade(Failing how) {
    start(0, 1, 2);
    int second = owners().get(1);
    long low = cluster.state.routes().orElseThrow().routes().get(1).low();
    fill();
    fail("moveBoundary", true, how::exception);
    assertThat(cluster.ask(Change.move(second, low + (1L << 60) + 1)).state())
        .isEqualTo(State.DONE);
    assertThat(cluster.state.routes().orElseThrow().routes().get(1).low()).isGreaterThan(low);
    assertThat(cluster.ask(Change.move(second, low - (1L << 60) + 1)).state())
        .isEqualTo(State.DONE);
    assertThat(cluster.state.routes().orElseThrow().routes().get(1).low()).isLessThan(low);
    fail("removeComputeServer", true, how::exception);
    assertThat(cluster.ask(Change.remove(second)).state()).isEqualTo(State.DONE);
    assertThat(cluster.found()).isEqualTo(cluster.model);
  }

  /**
   * Otherwise a change that was made counted as failed, for want of one answer. A READ that is not
   * answered has stalled.
   */
  @ParameterizedTest
  @CsvSource({"false, UNKNOWN", "true, UNKNOWN", "false, STALLED", "true, STALLED"})
  void shouldLookAgainWhereThePoolDidNotAnswer(boolean made, Failing how) {
    reading = how;
    start(0, 1, 2);
    int second = owners().get(1);
    long low = cluster.state.routes().orElseThrow().routes().get(1).low();
    fill();
    fail("moveBoundary", made, () -> new UnknownOutcomeException("unknown in a test"));
    unread = 3;
    Change moved = cluster.ask(Change.move(second, low + (1L << 60) + 1));
    assertThat(moved.state()).isEqualTo(made ? State.DONE : State.FAILED);
    assertThat(unread).isZero();
    assertThat(calls.stream().filter("moveBoundary"::equals)).hasSize(1);
  }

  /** It has no estimate of its size meanwhile, and goes on. */
  @Test
  void shouldGoOnWhereItsOwnRemovalIsNotKnownYet() {
    start(0, 1, 2);
    int second = owners().get(1);
    fill();
    fail("removeComputeServer", true, Failing.UNKNOWN::exception);
    unread = 3;
    assertThat(cluster.ask(Change.remove(second)).state()).isEqualTo(State.DONE);
    assertThat(unread).isZero();
    assertThat(owners()).doesNotContain(second);
    assertThat(cluster.found()).isEqualTo(cluster.model);
  }

  /** A bug ends the process, and the change before it: the next executor would meet it, too. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldEndAChangeThatMeetsABug(boolean error) {
    start(0, 1);
    fail(
        "moveBoundary",
        false,
        () -> error ? new StackOverflowError("in a test") : new IllegalStateException("in a test"));
    int id = cluster.state.ask(Change.move(owners().get(1), 5));
    assertThatThrownBy(() -> cluster.runUntil(() -> false))
        .isInstanceOf(error ? StackOverflowError.class : IllegalStateException.class);
    assertThat(change(id).state()).isEqualTo(State.FAILED);
    assertThat(change(id).why()).contains(error ? "StackOverflowError: in" : "IllegalState");
  }

  /** An executor has two changes, and the fence was asked for last. */
  @Test
  void shouldMakeAFenceBeforeOtherChanges() {
    start(0, 1, 2);
    int leader = cluster.state.leader().orElseThrow();
    List<Integer> others = owners().stream().filter(owner -> owner != leader).toList();
    TestCluster.Server heir = cluster.server(others.getFirst());
    int move =
        cluster.state.ask(
            Change.split(heir.number, heir.index.partitioning().lowOfServer(heir.number) + 1, 5));
    cluster.start(5);
    TestCluster.Server leading = cluster.server(leader);
    // Only the leader goes on.
    cluster.servers.values().forEach(server -> server.agent.execute());
    cluster.kill(others.getLast());
    while (change(move).state() == State.ASKED
        || fences().noneMatch(fence -> fence.executor() == heir.number)) {
      cluster.pass(Duration.ofMillis(1));
      leading.agent.lead();
    }
    assertThat(change(move).executor()).isEqualTo(heir.number);
    calls.clear();
    heir.agent.execute();
    assertThat(calls).contains("takeOver").doesNotContain("split");
    heir.agent.execute();
    assertThat(calls).contains("split");
    cluster.settle();
  }

  private Stream<Change> fences() {
    return cluster.state.changes().stream().filter(Change::isFence);
  }

  /** Nobody else serves the keys, so it is tried again; the status says why it waits. */
  @Test
  void shouldGoOnBesideAFenceThatCannotBeMade() {
    start(0, 1, 2);
    fail("takeOver", false, () -> new PoolFullException("full in a test"));
    int lost = owners().get(2);
    int heir = owners().get(1);
    cluster.kill(lost);
    cluster.runUntil(() -> fences().anyMatch(fence -> !fence.why().isEmpty()));
    assertThat(fences())
        .singleElement()
        .satisfies(fence -> assertThat(fence.state()).isEqualTo(State.UNDER_WAY))
        .satisfies(fence -> assertThat(fence.why()).contains("PoolFullException: full in a test"));
    int move = cluster.state.ask(Change.move(heir, 5));
    cluster.runUntil(() -> change(move).isOver());
    int refused = cluster.state.ask(Change.move(9, 5));
    cluster.runUntil(() -> change(refused).isOver());
    failing = "";
    cluster.settle();
    assertThat(fences()).allMatch(fence -> fence.state() == State.DONE);
    assertThat(owners()).doesNotContain(lost);
  }

  /** As in seed 460 of `simulate --cluster`: an heir has given the keys beside the range away. */
  @Test
  void shouldNameAnotherHeirWhereTheFirstIsNotBesideTheRangeAnyMore() {
    start(0, 1, 2);
    fail("takeOver", false, () -> new PoolFullException("full in a test"));
    int lost = owners().get(2);
    TestCluster.Server heir = cluster.server(owners().get(1));
    cluster.kill(lost);
    cluster.runUntil(() -> fences().anyMatch(fence -> !fence.why().isEmpty()));
    assertThat(fences()).allMatch(fence -> fence.executor() == heir.number);
    long low = heir.index.partitioning().lowOfServer(heir.number);
    try (Session session = heir.words().session()) {
      for (int i = 0; i < 1_000; i++) {
        session.put(low + i, i);
      }
    }
    int split = cluster.state.ask(Change.split(heir.number, low + 500, 5));
    cluster.start(5);
    // It serves before the leader looks.
    cluster.servers.values().forEach(server -> server.agent.execute());
    cluster.runUntil(() -> change(split).isOver());
    List<Integer> owners = owners();
    assertThat(owners.indexOf(lost) - owners.indexOf(heir.number)).isEqualTo(2);
    failing = "";
    cluster.settle();
    assertThat(owners()).contains(5).doesNotContain(lost);
    assertThat(fences()).allMatch(fence -> fence.state() == State.DONE);
  }

  /** The leader meets it, too, where it looks for an heir, or at what became of a change. */
  @Test
  void shouldGoOnWhereTheLeaderCannotReadTheTable() {
    start(0, 1, 2);
    fail("readPartitions", false, () -> new MemoryServerLostException("lost in a test"));
    cluster.kill(owners().get(2));
    cluster.runUntil(() -> fences().anyMatch(fence -> !fence.why().isEmpty()));
    int move = cluster.state.ask(Change.move(owners().get(1), 5));
    cluster.runUntil(() -> change(move).isOver());
    failing = "";
    cluster.settle();
    assertThat(fences()).allMatch(fence -> fence.state() == State.DONE);
  }

  /** It has made a change, and could not say so: the next leader looks at the table. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldCallAChangeDoneWhoseGiverWasLost(boolean upwards) {
    start(0, 1, 2);
    int leader = cluster.state.leader().orElseThrow();
    int second = owners().get(1);
    assertThat(leader).isEqualTo(owners().getFirst());
    long low = cluster.state.routes().orElseThrow().routes().get(1).low();
    // Downwards the one below would give, which is the leader: the third gives to the second.
    int moved = upwards ? second : owners().get(2);
    long from = upwards ? low : cluster.state.routes().orElseThrow().routes().get(2).low();
    for (long i = -50; i < 50; i++) {
      cluster.put(from + (i << 52), i);
    }
    TestCluster.Server giver = cluster.server(second);
    fail("moveBoundary", true, () -> new UnknownOutcomeException("in a test"));
    onFailure =
        () -> {
          cluster.kill(second);
          throw new Killed();
        };
    int id = cluster.state.ask(Change.move(moved, from + (upwards ? 1 : -1) * (20L << 52) + 1));
    assertThatThrownBy(() -> cluster.runUntil(() -> false))
        .isInstanceOf(SessionLostException.class);
    assertThat(change(id).executor()).isEqualTo(giver.number);
    failing = "";
    cluster.settle();
    assertThat(change(id).state()).isEqualTo(State.DONE);
  }

  /** An index that is made for eight compute servers, and a ninth that asks for a range. */
  @Tag("campaign")
  @ParameterizedTest
  @ValueSource(strings = {"dex", "orca", "p-sherman"})
  void shouldDivideANewClusterWithoutAFailure(String system) {
    cluster.close();
    cluster =
        new TestCluster(Systems.named(system).tiny().withComputeServers(3).withCacheBytes(1 << 20));
    start(0, 1, 2);
    assertThat(owners()).hasSize(3);
    assertThat(cluster.state.changes()).allMatch(change -> change.state() == State.DONE).hasSize(2);
    // Nobody has told that anything would be different now.
    start(3);
    for (int i = 0; i < 8; i++) {
      cluster.pass(Duration.ofSeconds(11));
      cluster.settle();
    }
    assertThat(cluster.state.changes().stream().filter(change -> change.state() == State.FAILED))
        .singleElement()
        .satisfies(change -> assertThat(change.why()).contains("once it has more entries"));
    for (int i = 0; i < 1_000; i++) {
      cluster.put(i * (Long.MAX_VALUE / 600) - Long.MAX_VALUE, i);
    }
    cluster.settle();
    cluster.pass(Duration.ofSeconds(11));
    cluster.runUntil(() -> owners().size() == 4);
    cluster.settle();
    assertThat(cluster.found()).isEqualTo(cluster.model);
  }
}
