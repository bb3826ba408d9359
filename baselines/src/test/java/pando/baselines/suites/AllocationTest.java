package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.AllocatedBytes;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.EntryVisitor;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;

/** No operation allocates, whether its nodes are cached or not; only merges of ORCA's do. */
@FewRows(products = 1, baselines = 0)
@Timeout(300)
class AllocationTest {
  private static final int ENTRIES = 20_000;
  private static final int OPERATIONS = Seeds.count(4_000, 20_000, 50_000);
  private static final int ROUNDS_MAX = 3_000_000 / OPERATIONS;

  /** An allocation in any large part of the operations is more than this. */
  private static final long NOISE_BYTES_MAX = OPERATIONS / 10;

  /** What a change that goes into a delta allocates on average, for the merges that follow. */
  private static final long MERGES_BYTES_MAX = 64L * OPERATIONS;

  private final long[] wanted = new long[10];
  private final long[] values = new long[10];
  private final boolean[] found = new boolean[10];
  private long scanned;
  private long bytesMax = NOISE_BYTES_MAX;

  /** One kind of operation on a key that is there. */
  private interface Operation {
    void on(Session session, long key);
  }

  @ParameterizedTest(name = "{0} cache-bytes={1} {2}")
  @CsvSource({
    "DEX,       64KiB, offloading=off",
    "DEX,       8MiB,  offloading=off",
    "ORCA,      64KiB, neighbours=on",
    "ORCA,      8MiB,  neighbours=off",
    "ORCA,      64KiB, cache=segments",
    "ORCA,      1MiB,  cache=leaves",
    "SHERMAN,   4KiB,  validation=checksum",
    "SHERMAN,   8MiB,  validation=versions",
    "FG,        4KiB,  validation=checksum",
    "P_SHERMAN, 4KiB,  validation=checksum",
    "P_SHERMAN, 8MiB,  validation=checksum",
    "DEFT,      8KiB,  validation=versions",
    "DEFT,      8MiB,  validation=versions",
    "DEFT,      8MiB,  validation=checksum hash-leaves=off",
    "ROLEX,     64KiB, retraining=off",
    "ROLEX,     8MiB,  retraining=on",
    "XSTORE_D,  64KiB, retraining=off",
    "XSTORE_D,  8MiB,  retraining=on",
    "SMART,     64KiB, reserve=steps",
    "SMART,     8MiB,  reserve=steps",
    "P_SMART,   64KiB, reserve=steps",
    "P_SMART,   8MiB,  reserve=whole",
    "EMT_D,     64KiB, rows=250",
  })
  void shouldNotAllocate(SystemUnderTest system, String cacheBytes, String settings) {
    SplittableRandom random = new SplittableRandom(Seeds.of(501));
    Configuration configuration = system.defaults().with(settings).with("cache-bytes", cacheBytes);
    NavigableMap<Long, Long> model = Entries.random(random, ENTRIES);
    long[] keys = model.keySet().stream().mapToLong(Long::longValue).toArray();
    try (Fabric fabric = Pools.open(2, 16 << 20, 501);
        RangeIndex index = configuration.create(fabric);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      measure("get", session, keys, Session::get);
      measure("update", session, keys, (s, key) -> s.update(key, key));
      measure("replace", session, keys, (s, key) -> s.replace(key, key, key));
      measure("put", session, keys, (s, key) -> s.put(key, ~key));
      measure("get all", session, keys, this::getAll);
      measure("floor", session, keys, Session::floor);
      measure("ceiling", session, keys, Session::ceiling);
      EntryVisitor visitor = this::count;
      measure("scan", session, keys, (s, key) -> s.scan(key, 10, visitor));
      measure("scan down", session, keys, (s, key) -> s.scanDown(key, 10, visitor));
      bytesMax = system == SystemUnderTest.ORCA ? MERGES_BYTES_MAX : NOISE_BYTES_MAX;
      measure("store", session, keys, (s, key) -> s.store(key, key));
      measure("put all", session, keys, this::putAll);
      measure(
          "remove and put",
          session,
          keys,
          (s, key) -> {
            s.remove(key);
            s.putIfAbsent(key, key);
          });
      measure(
          "discard and store",
          session,
          keys,
          (s, key) -> {
            s.discard(key);
            s.store(key, key);
          });
    }
  }

  /** Looks up keys that are there and others, far from each other. */
  private void getAll(Session session, long key) {
    for (int i = 0; i < wanted.length; i++) {
      wanted[i] = key + i * (Long.MAX_VALUE / 5);
    }
    scanned += session.getAll(wanted, 0, wanted.length, values, found);
  }

  /** Stores a key together with those that were stored before it, far from each other. */
  private void putAll(Session session, long key) {
    System.arraycopy(wanted, 1, wanted, 0, wanted.length - 1);
    wanted[wanted.length - 1] = key;
    session.putAll(wanted, 0, wanted.length, wanted);
  }

  private boolean count(long key, long value) {
    scanned += key ^ value;
    return true;
  }

  /** Goes on until a round has run compiled code alone, without noise. */
  private void measure(String what, Session session, long[] keys, Operation operation) {
    AllocatedBytes allocated = new AllocatedBytes();
    long min = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS_MAX && min >= bytesMax; round++) {
      long before = allocated.get();
      for (int i = 0; i < OPERATIONS; i++) {
        operation.on(session, keys[(int) (i * 7919L % keys.length)]);
      }
      min = Math.min(min, allocated.get() - before);
    }
    System.out.println(what + ": bytes=" + min + ", scanned=" + scanned);
    assertThat(min).as(what).isLessThan(bytesMax);
  }
}
