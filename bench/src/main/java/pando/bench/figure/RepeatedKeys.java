package pando.bench.figure;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import pando.bench.keys.KeySet;
import pando.bench.records.Records;
import pando.bench.records.SortedRecords;
import pando.bench.subject.PoolSize;
import pando.bench.workload.Batch;
import pando.bench.workload.Distribution;
import pando.bench.workload.Inserts;
import pando.bench.workload.OperationStream;
import pando.bench.workload.Workload;
import pando.cli.WrongResultException;
import pando.cli.text.Progress;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.Systems;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteSource;

/**
 * Keys of figure 16 of DEX's paper, 8-byte numbers that are written one behind the other, as byte
 * strings of ORCA: the verbs of one client's operations. Every answer is checked.
 *
 * @param keyBytes length of each key, a multiple of 8
 * @param records to load
 * @param seed of records and operations
 */
record RepeatedKeys(int keyBytes, long records, long seed) {
  private static final ValueLayout.OfLong WORD =
      JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final double THETA = 0.99;
  private static final double FILL = 0.7;
  private static final int MEMORY_SERVERS = 4;

  /** Local memory of the index of blocks; it takes none of the cache. */
  private static final long LABEL_BYTES = 4 << 20;

  /**
   * Loads an index and fills its caches by half as many lookups as there are records. Then counts
   * the verbs of each load, one after the other on the same index, after a third as many operations
   * that are not counted: until then, more changes begin to wait than are merged.
   *
   * @param localBytes of the caches together with the directory of the blocks
   */
  Map<Load, List<FigureLine>> run(List<Load> loads, long localBytes) {
    Records supply = KeySet.UNIFORM.records(records, seed);
    long uncounted = records / 3;
    long counted = Math.max(1, records / 8);
    Map<Load, List<FigureLine>> lines = new LinkedHashMap<>();
    try (Fabric fabric = openPool(loads.size() * (uncounted + counted))) {
      ByteOptions options = ByteOptions.defaults().withCacheBytes(0);
      options =
          options.withLabels(options.labels().withCacheBytes(LABEL_BYTES).withWriteBackNanos(0));
      long directoryBytes = load(fabric, options, supply);
      long cacheBytes = Math.max(0, localBytes - directoryBytes);
      try (ByteIndex index = ByteIndex.open(fabric, options.withCacheBytes(cacheBytes));
          ByteSession session = index.session()) {
        int clients = loads.size() + 1;
        Inserts inserts = new Inserts(records, clients, 0, clients);
        new Client(session, Workload.READ_ONLY, supply, inserts, 0).run("warm-up", records / 2);
        for (Load load : loads) {
          int number = lines.size() + 1;
          Client client = new Client(session, load.workload(), supply, inserts, number);
          client.run("warm-up", uncounted);
          VerbCounters before = index.verbs();
          long done = client.run(load.workload().toString(), counted);
          VerbCounters verbs = index.verbs();
          verbs.subtract(before);
          lines.put(load, lines(name(load), verbs, done, directoryBytes));
        }
      }
    }
    return lines;
  }

  private String name(Load load) {
    return load.workload() + ", " + keyBytes + " bytes, byte strings";
  }

  private List<FigureLine> lines(String what, VerbCounters verbs, long done, long directoryBytes) {
    return List.of(
        line(what, "READs", verbs.reads, done),
        line(what, "WRITEs", verbs.writes, done),
        line(what, "atomics", verbs.atomics, done),
        line(what, "CALLs", verbs.calls, done),
        line(what, "trips", verbs.roundTrips, done),
        line(what, "bytes", verbs.bytes(), done),
        line(what, "directory bytes a record", directoryBytes, records));
  }

  private static FigureLine line(String what, String measure, long count, long of) {
    return FigureLine.ours(what, measure, (double) count / of);
  }

  private Fabric openPool(long insertsMax) {
    long bytes = PoolSize.withKeys(PoolSize.bytes(records, insertsMax, FILL), keyBytes);
    return LocalFabric.open(
        PoolOptions.defaults()
            .withMemoryServers(MEMORY_SERVERS)
            .withBytesPerServer(PoolSize.bytesPerServer(bytes, MEMORY_SERVERS, 1))
            .withHandlers(Systems.handlers()));
  }

  /** Makes an index and closes it; returns the bytes of its directory. */
  private long load(Fabric fabric, ByteOptions options, Records supply) {
    try (ByteIndex index = ByteIndex.create(fabric, options);
        Progress progress = Progress.of("load", records)) {
      index.load(new Source(new SortedRecords(supply, records, progress::step)), FILL);
      return index.directoryBytes();
    }
  }

  /** Writes a number to a key, so that keys order as numbers do. */
  private static void setKey(MemorySegment key, long number) {
    for (long at = 0; at < key.byteSize(); at += Long.BYTES) {
      key.set(WORD, at, number ^ Long.MIN_VALUE);
    }
  }

  /** The entries to load. */
  private final class Source implements ByteSource {
    private final SortedRecords entries;
    private final MemorySegment key = MemorySegment.ofArray(new byte[keyBytes]);
    private final MemorySegment value = MemorySegment.ofArray(new byte[Long.BYTES]);

    Source(SortedRecords entries) {
      this.entries = entries;
    }

    @Override
    public boolean next() {
      if (!entries.next()) {
        return false;
      }
      setKey(key, entries.key());
      value.set(WORD, 0, entries.value());
      return true;
    }

    @Override
    public MemorySegment key() {
      return key;
    }

    @Override
    public MemorySegment value() {
      return value;
    }
  }

  /** One client's operations, which are others than those of the clients with other numbers. */
  private final class Client {
    private final ByteSession session;
    private final OperationStream stream;
    private final Batch batch = new Batch();
    private final MemorySegment key = MemorySegment.ofArray(new byte[keyBytes]);
    private final MemorySegment value = MemorySegment.ofArray(new byte[Long.BYTES]);

    Client(ByteSession session, Workload workload, Records supply, Inserts inserts, int number) {
      this.session = session;
      this.stream =
          new OperationStream(
              workload,
              Distribution.ZIPFIAN.over(records, THETA),
              supply,
              inserts,
              _ -> true,
              number);
    }

    long run(String task, long operations) {
      long done = 0;
      try (Progress progress = Progress.of(task, operations)) {
        for (; done < operations; done += batch.size()) {
          stream.fill(batch, Batch.CAPACITY);
          for (int i = 0; i < batch.size(); i++) {
            operate(i);
          }
          progress.step(batch.size());
        }
      }
      return done;
    }

    /** An update stores the value that is there. */
    private void operate(int number) {
      long of = batch.key(number);
      setKey(key, of);
      value.set(WORD, 0, Records.value(of, 0));
      switch (batch.operation(number)) {
        case LOOKUP -> check(of, session.get(key));
        case UPDATE -> check(of, session.update(key, value));
        case INSERT -> {
          if (session.put(key, value)) {
            throw new WrongResultException("a new key was there: key=" + of);
          }
        }
        default -> throw new IllegalArgumentException("operation=" + batch.operation(number));
      }
    }

    private void check(long of, boolean found) {
      if (!found || session.value().get(WORD, 0) != Records.value(of, 0)) {
        throw new WrongResultException("wrong answer: key=" + of + ", found=" + found);
      }
    }
  }
}
