package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.PandoException;
import pando.index.Configuration;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.Systems;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;

/** What the loss of a compute server may take back, in virtual time. */
@Timeout(300)
class WriteBackTest {
  private static final int LOST = 5;
  private static final int HEIR = 3;
  private static final int KEYS = 2_000;
  private static final int CLIENTS = 2;
  private static final long INTERVAL = 4_000_000;
  private static final long NANOS_MAX = 1_000_000_000L;
  private static final long EVENTS_MAX = 50_000_000;

  @SuppressWarnings("NullAway.Init") // Set by start.
  private Cluster cluster;

  @SuppressWarnings("NullAway.Init") // Set by start.
  private RangeIndex lost;

  @SuppressWarnings("NullAway.Init") // Set by start.
  private RangeIndex heir;

  private final Map<Long, List<Change>> history = new HashMap<>();
  private boolean over;
  private boolean removes = true;

  /** What a key had from a time on; {@code null} for none. */
  private record Change(long acknowledged, @Nullable Long value) {}

  private void start(String system, String interval, long seed) {
    System.out.println("seed=" + seed);
    cluster =
        new Cluster(
            ClusterOptions.defaults()
                .withServers(2, 2)
                .withBytesPerServer(16 << 20)
                .withChunkBytes(64 << 10)
                .withHandlers(Systems.handlers())
                .withSeed(seed));
    Configuration tiny = SystemUnderTest.of(system).tiny(1).with("write-back-interval", interval);
    lost = tiny.options().createAt(fabric(0, LOST), LOST);
    heir = tiny.options().joinAt(fabric(1, HEIR), HEIR);
  }

  private Fabric fabric(int machine, int number) {
    return cluster.fabric(machine, new ComputeServer(number, 1));
  }

  @AfterEach
  void end() {
    cluster.close();
  }

  @ParameterizedTest
  @CsvSource({"orca, 1, true", "orca, 2, false", "dex, 1, false"})
  void shouldLoseNothingThatIsOlderThanTheInterval(String system, int run, boolean isTreeChanged) {
    for (int each = 0; each < Seeds.count(3, 100); each++) {
      long seed = Seeds.of(7_001 * run + each);
      start(system, INTERVAL + "ns", seed);
      history.clear();
      over = false;
      removes = true;
      SplittableRandom random = new SplittableRandom(seed);
      if (!isTreeChanged) {
        // Where a compute server of DEX dies in a change of its tree, keys are damaged.
        putAll();
        removes = false;
      }
      for (int client = 0; client < CLIENTS; client++) {
        spawnClient(client, random.split());
      }
      long time = random.nextLong(2 * INTERVAL, 6 * INTERVAL);
      long[] killed = new long[1];
      cluster
          .core(1)
          .spawn(
              "killer",
              () -> {
                cluster.sleepNanos(time);
                killed[0] = cluster.nanos();
                kill();
              });
      cluster.run(NANOS_MAX, EVENTS_MAX);
      heir.partitions().orElseThrow().takeOver(LOST, HEIR);
      assertKept(killed[0] - INTERVAL);
      cluster.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"orca", "dex"})
  void shouldNotTakeOverWhatIsNotFenced(String system) {
    start(system, "0", Seeds.of(7_050));
    assertThatThrownBy(() -> heir.partitions().orElseThrow().takeOver(LOST, HEIR))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("lost=" + LOST);
    assertThat(heir.partitioning().hasServer(LOST)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"orca, 0", "dex, 0", "orca, 1s", "dex, 1s"})
  void shouldLoseNothingThatWasFlushed(String system, String interval) {
    start(system, interval, Seeds.of(7_100));
    SplittableRandom random = new SplittableRandom(7_101);
    try (Session session = lost.session()) {
      for (int i = 0; i < 3_000; i++) {
        change(session, random, 0);
      }
      assertThat(lost.unwritten().bytes()).isPositive();
      lost.flush();
      assertThat(lost.unwritten().bytes()).isZero();
    }
    long flushed = Long.MAX_VALUE;
    kill();
    heir.partitions().orElseThrow().takeOver(LOST, HEIR);
    assertKept(flushed);
  }

  @ParameterizedTest
  @CsvSource({"orca, 1", "orca, 2", "dex, 1", "dex, 2"})
  void shouldLoseNothingThatWasFlushedBesideOthersThatChangeTheTree(String system, int run) {
    long seed = Seeds.of(7_200 + run);
    start(system, "0", seed);
    SplittableRandom random = new SplittableRandom(seed);
    for (int client = 0; client < CLIENTS; client++) {
      spawnClient(client, random.split());
    }
    long time = random.nextLong(INTERVAL, 3 * INTERVAL);
    long[] flushed = new long[1];
    cluster
        .core(0)
        .spawn(
            "flush",
            () -> {
              cluster.sleepNanos(time);
              flushed[0] = cluster.nanos();
              lost.flush();
              over = true;
            });
    cluster.run(NANOS_MAX, EVENTS_MAX);
    assertThat(flushed[0]).isPositive();
    kill();
    heir.partitions().orElseThrow().takeOver(LOST, HEIR);
    assertKept(flushed[0]);
  }

  @ParameterizedTest
  @ValueSource(strings = {"orca", "dex"})
  void shouldNotKeepOthersFromTheTableWhileAChangeWaitsForAFlush(String system) {
    start(system, "0", Seeds.of(7_300));
    SplittableRandom random = new SplittableRandom(7_301);
    try (Session session = lost.session()) {
      for (int i = 0; i < 3_000; i++) {
        change(session, random, 0);
      }
    }
    List<String> ended = new ArrayList<>();
    spawnAfter(0, "flush", 0, lost::flush, ended);
    spawnAfter(0, "waiting", 2_000, lost.partitions().orElseThrow()::refreshPartitions, ended);
    spawnAfter(1, "elsewhere", 40_000, heir.partitions().orElseThrow()::refreshPartitions, ended);
    cluster.run(NANOS_MAX, EVENTS_MAX);
    assertThat(ended).containsExactly("elsewhere", "flush", "waiting");
  }

  private void spawnAfter(
      int machine, String name, long nanos, Runnable action, List<String> ended) {
    cluster
        .core(machine)
        .spawn(
            name,
            () -> {
              cluster.sleepNanos(nanos);
              action.run();
              ended.add(name);
            });
  }

  private void putAll() {
    try (Session session = lost.session()) {
      for (long key = 0; key < KEYS; key++) {
        session.put(key, key);
        history.computeIfAbsent(key, _ -> new ArrayList<>()).add(new Change(0, key));
      }
    }
    lost.flush();
  }

  private void kill() {
    over = true;
    heir.fabric().fence(LOST, 2);
  }

  private void spawnClient(int client, SplittableRandom random) {
    Session session = lost.session();
    cluster
        .core(0)
        .spawn(
            "client-" + client,
            () -> {
              while (!over) {
                try {
                  change(session, random, client);
                } catch (FencedException _) {
                  return;
                } catch (PandoException e) {
                  assertThat(over).as(e.toString()).isTrue();
                  return;
                }
                cluster.sleepNanos(random.nextLong(20_000));
              }
            });
  }

  /** Changes a key of a client; notes the change before it is made, and again when it is done. */
  private void change(Session session, SplittableRandom random, int client) {
    long key = (long) random.nextInt(KEYS / CLIENTS) * CLIENTS + client;
    Long value = removes && random.nextInt(5) == 0 ? null : random.nextLong();
    List<Change> changes = history.computeIfAbsent(key, _ -> new ArrayList<>());
    changes.add(new Change(Long.MAX_VALUE, value));
    if (value == null) {
      session.remove(key);
    } else {
      session.put(key, value);
    }
    changes.set(changes.size() - 1, new Change(cluster.nanos(), value));
  }

  /** Checks that each key has a value that it had at a time, or later. */
  private void assertKept(long since) {
    try (Session session = heir.session()) {
      history.forEach((key, changes) -> {
        Long found = session.get(key) ? session.value() : null;
        int first = 0;
        boolean known = false;
        for (int i = 0; i < changes.size(); i++) {
          if (changes.get(i).acknowledged() <= since) {
            first = i;
            known = true;
          }
        }
        boolean kept = !known && found == null;
        for (int i = first; i < changes.size(); i++) {
          kept |= Objects.equals(changes.get(i).value(), found);
        }
        assertThat(kept)
            .as("key=%d, found=%s, since=%d, changes=%s", key, found, since, changes)
            .isTrue();
      });
    }
  }
}
