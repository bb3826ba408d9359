package pando.bench.trial;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import pando.fabric.PandoException;
import pando.index.IndexOptions;
import pando.index.IndexSystem;
import pando.index.RangeIndex;
import pando.index.Systems;
import pando.map.MapSession;
import pando.map.PandoMap;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;
import pando.sim.fault.Fault;
import pando.sim.history.History;
import pando.sim.history.HistoryCheck;
import pando.sim.history.RecordedOperation;
import pando.sim.history.RecordedOperation.Kind;
import pando.sim.history.Scan;

/** Clients of maps with values beside the index, in every system, under faults in virtual time. */
class BlobTrialTest {
  private static final int SEEDS = TrialSeeds.count(2, 10, 200);
  private static final int SERVERS = 2;
  private static final int CLIENTS = 6;
  private static final int OPERATIONS = 120;
  private static final int KEYS = 150;
  private static final int FINAL_CLIENT = 1_000;
  private static final List<Kind> KINDS = List.of(Kind.values());
  private static final int SCANNED_MAX = 20;
  private static final int MORE_MAX = 300;
  private static final long NANOS_MAX = 600_000_000_000L;
  private static final long EVENTS_MAX = 20_000_000;

  /** A number in 8 bytes and up to 300 more, by which a reader can tell that it is whole. */
  private static final ValueCodec<Long> VALUES =
      ValueCodec.of("long-and-more", BlobTrialTest::encode, BlobTrialTest::decode);

  private static byte[] encode(long value) {
    int more = (int) Long.remainderUnsigned(value * 0x9E3779B97F4A7C15L, MORE_MAX);
    byte[] bytes = new byte[Long.BYTES + (value % 2 == 0 ? more : 0)];
    Arrays.fill(bytes, (byte) value);
    ByteBuffer.wrap(bytes).putLong(value);
    return bytes;
  }

  private static long decode(byte[] bytes) {
    long value = ByteBuffer.wrap(bytes).getLong();
    if (!Arrays.equals(bytes, encode(value))) {
      throw new AssertionError("not a whole value: bytes=" + bytes.length);
    }
    return value;
  }

  static List<IndexSystem> systems() {
    return Systems.all();
  }

  @ParameterizedTest
  @MethodSource("systems")
  void shouldBeLinearizableUnderFaultsAndLeaveNoBlob(IndexSystem system) {
    Set<Fault> faults = EnumSet.of(Fault.TORN, Fault.DELAY, Fault.PAUSE);
    for (long seed = 1; seed <= SEEDS; seed++) {
      assertThat(new Run(system, faults, seed).violations()).as("seed %s", seed).isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("systems")
  void shouldLoseNothingAndLeaveNoBlobWhereThePoolIsFull(IndexSystem system) {
    Set<Fault> faults = EnumSet.of(Fault.TORN, Fault.DELAY, Fault.FULL_POOL);
    for (long seed = 1; seed <= SEEDS; seed++) {
      assertThat(new Run(system, faults, seed).violations()).as("seed %s", seed).isEmpty();
    }
  }

  /** One seed. */
  private static final class Run {
    private final Set<Fault> faults;
    private final SplittableRandom random;
    private final IndexOptions options;
    private final ClusterOptions cluster;
    private final History history = new History();
    private final TrialClock clock = new TrialClock();
    private final TrialKeys keys = new TrialKeys(KEYS);
    private final List<String> violations = new ArrayList<>();

    Run(IndexSystem system, Set<Fault> faults, long seed) {
      this.faults = faults;
      this.random = new SplittableRandom(seed);
      this.options = TrialPlan.of(system, faults).draw(random).withComputeServers(SERVERS);
      this.cluster =
          ClusterOptions.defaults()
              .withServers(1, 2)
              .withBytesPerServer(4 << 20)
              .withChunkBytes(64 << 10)
              .withHandlers(Systems.handlers())
              .withFaults(faults)
              .withYieldShare(0.05)
              .withSeed(seed);
    }

    List<String> violations() {
      try (Cluster running = new Cluster(cluster);
          RangeIndex index = options.create(running.fabric(0), 0, SERVERS)) {
        try (PandoMap<Long, Long> map = PandoMap.of(index, KeyCodec.longs(), VALUES)) {
          run(running, map);
          readAndRemoveAll(map);
        }
        long lost = index.space().otherBytes();
        if (lost != 0) {
          violations.add("bytes of the pool were lost: " + lost);
        }
      }
      violations.addAll(HistoryCheck.violations(history));
      return violations;
    }

    private void run(Cluster running, PandoMap<Long, Long> map) {
      for (int number = 0; number < CLIENTS; number++) {
        Client client = new Client(number, map.session(), random.split());
        running.core(0).spawn("client-" + number, client::run);
      }
      TrialWatchdog.run(running, () -> running.run(NANOS_MAX, EVENTS_MAX));
    }

    private void readAndRemoveAll(PandoMap<Long, Long> map) {
      try (MapSession<Long, Long> session = map.session()) {
        for (int i = 0; i < keys.count(); i++) {
          long key = keys.key(i);
          long start = clock.tick();
          Long found = session.get(key);
          history.add(RecordedOperation.read(FINAL_CLIENT, start, clock.tick(), key, found));
          session.remove(key);
        }
      }
    }

    /** Runs random operations and records their results. */
    private final class Client {
      private final int number;
      private final MapSession<Long, Long> session;
      private final SplittableRandom random;
      private long written;

      Client(int number, MapSession<Long, Long> session, SplittableRandom random) {
        this.number = number;
        this.session = session;
        this.random = random;
      }

      void run() {
        try (session) {
          for (int i = 0; i < OPERATIONS; i++) {
            if (random.nextInt(20) == 0) {
              scan(random.nextBoolean());
            } else {
              operate(KINDS.get(random.nextInt(KINDS.size())), keys.draw(random));
            }
          }
        }
      }

      private void operate(Kind kind, long key) {
        Long expected = kind.compares() ? point(Kind.GET, key, 0) : Long.valueOf(0);
        if (expected != null) {
          point(kind, key, expected);
        }
      }

      /** Returns what the operation says was there before. */
      private @Nullable Long point(Kind kind, long key, long expected) {
        long stored = ((long) (number + 1) << 32) | ++written;
        long start = clock.tick();
        boolean known = false;
        try {
          Long before = execute(kind, key, stored, expected);
          known = true;
          // Where the value was not the one that was expected, the map does not say which it was.
          if (!kind.compares() || before != null) {
            long end = clock.tick();
            history.add(
                new RecordedOperation(number, start, end, kind, key, stored, expected, before));
          }
          return before;
        } catch (PandoException e) {
          failed(kind, e);
          return null;
        } finally {
          if (!known && kind != Kind.GET) {
            history.add(RecordedOperation.unknown(number, start, kind, key, stored, expected));
          }
        }
      }

      private @Nullable Long execute(Kind kind, long key, long stored, long expected) {
        return switch (kind) {
          case GET -> session.get(key);
          case PUT -> session.put(key, stored);
          case PUT_IF_ABSENT -> session.putIfAbsent(key, stored);
          case UPDATE -> session.replace(key, stored);
          case REMOVE -> session.remove(key);
          case REPLACE -> session.replace(key, expected, stored) ? Long.valueOf(expected) : null;
          case REMOVE_EXPECTED -> session.remove(key, expected) ? Long.valueOf(expected) : null;
          case STORE -> {
            session.put(key, stored);
            yield null;
          }
          case DISCARD -> {
            session.remove(key);
            yield null;
          }
        };
      }

      private void scan(boolean down) {
        long from = keys.any(random);
        long start = clock.tick();
        List<Scan.Entry> entries = new ArrayList<>();
        long next = from;
        try {
          while (entries.size() < SCANNED_MAX) {
            Map.Entry<Long, Long> entry =
                down ? session.floorEntry(next) : session.ceilingEntry(next);
            if (entry == null) {
              break;
            }
            entries.add(new Scan.Entry(entry.getKey(), entry.getValue()));
            next = entry.getKey() + (down ? -1 : 1);
          }
          long end = down ? Long.MIN_VALUE : Long.MAX_VALUE;
          long covered = entries.size() < SCANNED_MAX ? end : entries.getLast().key();
          history.add(new Scan(number, start, clock.tick(), from, covered, entries));
        } catch (PandoException e) {
          failed(down ? "scan down" : "scan", e);
        }
      }

      private void failed(Object what, PandoException e) {
        if (!faults.contains(Fault.FULL_POOL)) {
          violations.add(what + " failed: " + StackText.of(e));
        }
      }
    }
  }
}
