package pando.bench.trial;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import pando.index.Systems;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.orca.OrcaOptions;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;
import pando.sim.fault.Fault;
import pando.sim.history.History;
import pando.sim.history.HistoryCheck;
import pando.sim.history.RecordedOperation;

/** Clients of an index of byte strings, with values beside it, under faults in virtual time. */
class ByteTrialTest {
  private static final int SEEDS = TrialSeeds.count(6, 60, 1_000);
  private static final int CLIENTS = 6;
  private static final int OPERATIONS = 250;

  /** So many keys, or few, of which many have several clients. */
  private static final int[] KEYS = {400, 40};

  /** None, one with few records and no blocks, one with several. */
  private static final int[] CACHE_BYTES = {0, 6_000, 20_000, 60_000};

  private static final double[] RECORD_SHARES = {0.3, 0.75, 1};
  private static final int[] DELTA_CHANGES = {0, 2, 16};

  private static final int FINAL_CLIENT = 1_000;
  private static final long NANOS_MAX = 600_000_000_000L;
  private static final long EVENTS_MAX = 20_000_000;

  private static final ByteOptions OPTIONS =
      ByteOptions.defaults()
          .withBlockBytes(512, 32)
          .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));

  @Test
  void shouldBeLinearizableUnderFaults() {
    Set<Fault> faults = EnumSet.of(Fault.TORN, Fault.DELAY, Fault.PAUSE);
    for (long seed = 1; seed <= SEEDS; seed++) {
      assertThat(violations(seed, faults)).as("seed %s", seed).isEmpty();
    }
  }

  @Test
  void shouldLoseNothingWhereThePoolIsFull() {
    for (long seed = 1; seed <= SEEDS; seed++) {
      assertThat(violations(seed, EnumSet.of(Fault.TORN, Fault.FULL_POOL)))
          .as("seed %s", seed)
          .isEmpty();
    }
  }

  static List<String> violations(long seed, Set<Fault> faults) {
    SplittableRandom random = new SplittableRandom(seed);
    int cacheBytes = CACHE_BYTES[random.nextInt(CACHE_BYTES.length)];
    ByteOptions options =
        OPTIONS
            .withCacheBytes(cacheBytes)
            .withRecordShare(RECORD_SHARES[random.nextInt(RECORD_SHARES.length)])
            .withDeltaChanges(DELTA_CHANGES[random.nextInt(DELTA_CHANGES.length)]);
    ClusterOptions cluster =
        ClusterOptions.defaults()
            .withServers(1, 2)
            .withBytesPerServer(4 << 20)
            .withChunkBytes(16 << 10)
            .withHandlers(Systems.handlers())
            .withFaults(faults)
            .withYieldShare(0.05)
            .withSeed(seed);
    boolean strict = !faults.contains(Fault.FULL_POOL);
    History history = new History();
    TrialClock clock = new TrialClock();
    TrialKeys keys = new TrialKeys(KEYS[random.nextInt(KEYS.length)]);
    List<String> violations = new ArrayList<>();
    try (Cluster running = new Cluster(cluster)) {
      LongsAsBytes index = new LongsAsBytes(ByteIndex.create(running.fabric(0), options));
      List<TrialClient> clients = new ArrayList<>();
      for (int number = 0; number < CLIENTS; number++) {
        TrialClient client =
            new TrialClient(number, index, keys, history, clock, random.split(), _ -> strict);
        clients.add(client);
        running.core(0).spawn("client-" + number, () -> client.run(OPERATIONS));
      }
      TrialWatchdog.run(running, () -> running.run(NANOS_MAX, EVENTS_MAX));
      clients.forEach(client -> violations.addAll(client.failures()));
      index.close();
      Map<Long, Long> entries = new TreeMap<>();
      try (ByteIndex opened = ByteIndex.open(running.fabric(0), options)) {
        long lost = opened.space().otherBytes();
        if (lost != 0) {
          violations.add("bytes of the pool were lost: " + lost);
        }
        new LongsAsBytes(opened)
            .session()
            .scan(
                Long.MIN_VALUE,
                Long.MAX_VALUE,
                (key, value) -> {
                  entries.put(key, value);
                  return true;
                });
      }
      for (int i = 0; i < keys.count(); i++) {
        long start = clock.tick();
        Long found = entries.get(keys.key(i));
        history.add(RecordedOperation.read(FINAL_CLIENT, start, clock.tick(), keys.key(i), found));
      }
      violations.addAll(HistoryCheck.violations(history));
    }
    return violations;
  }
}
