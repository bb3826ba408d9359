package pando.bench.jmh;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import pando.bench.btree.BTreeSubject;
import pando.bench.records.Records;
import pando.bench.records.SortedRecords;
import pando.bench.subject.Access;
import pando.bench.subject.IndexSubject;
import pando.bench.subject.PoolSize;
import pando.bench.subject.Subject;
import pando.index.dex.DexOptions;

/**
 * Uniform lookups. Of few records, which fit into one leaf, this is the search of a node and what
 * is around it; of many it is a descent.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@SuppressWarnings("NullAway.Init") // JMH sets the fields
public class LookupBenchmark {
  private static final double FILL = 0.7;
  private static final long CACHE_BYTES = 256L << 20;

  /** What is asked. */
  public enum Kind {
    /** DEX with a cache that holds all nodes. */
    HIT,
    /** DEX that caches no leaves, and does not offload. */
    MISS,
    /** The plain B+-tree. */
    BTREE
  }

  @Param private Kind kind;

  @Param({"40", "1000000"})
  private long records;

  private final Records supply = new Records(1);
  private Subject subject;
  private Access access;
  private long next;

  /** For JMH. */
  public LookupBenchmark() {}

  /** Loads, and asks for every record once. */
  @Setup(Level.Trial)
  public void load() {
    subject = open();
    subject.load(new SortedRecords(supply, records, steps -> {}), FILL);
    access = subject.access();
    for (long record = 0; record < records; record++) {
      access.get(supply.key(record));
    }
  }

  /** Closes what was opened. */
  @TearDown(Level.Trial)
  public void close() {
    access.close();
    subject.close();
  }

  /** Looks one record up. */
  @Benchmark
  public boolean get() {
    // A stride that has no divisor in common with the numbers of records.
    next = (next + 999_983) % records;
    return access.get(supply.key(next));
  }

  private Subject open() {
    long bytes = PoolSize.bytes(records, 0, FILL);
    DexOptions options = DexOptions.defaults().withComputeServers(1).withCacheBytes(CACHE_BYTES);
    return switch (kind) {
      case HIT -> IndexSubject.openLocal(options.with("admission", "1"), 1, bytes, 1);
      case MISS ->
          IndexSubject.openLocal(options.withCaching(false).withOffloading(false), 1, bytes, 1);
      case BTREE -> new BTreeSubject(bytes);
    };
  }
}
