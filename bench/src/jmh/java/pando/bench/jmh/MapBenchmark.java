package pando.bench.jmh;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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
import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.Systems;
import pando.map.MapSession;
import pando.map.PandoMap;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** Uniform lookups by a session, by a session of a map, and by the map itself. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@SuppressWarnings("NullAway.Init") // JMH sets the fields
public class MapBenchmark {
  private static final long CACHE_BYTES = 256L << 20;

  @Param({"orca", "dex", "deft"})
  private String system;

  @Param({"1000", "1000000"})
  private long records;

  private Fabric fabric;
  private RangeIndex index;
  private PandoMap<Long, Long> map;
  private MapSession<Long, Long> mapSession;
  private Session session;
  private long next;

  /** For JMH. */
  public MapBenchmark() {}

  /** Stores all records, and asks for each once. */
  @Setup(Level.Trial)
  public void load() {
    fabric = LocalFabric.open(PoolOptions.defaults().withHandlers(Systems.handlers()));
    index =
        Systems.named(system)
            .defaults()
            .withComputeServers(1)
            .withCacheBytes(CACHE_BYTES)
            .create(fabric);
    map = PandoMap.of(index, KeyCodec.longs(), ValueCodec.longs());
    mapSession = map.session();
    session = index.session();
    for (long key = 0; key < records; key++) {
      session.put(key, ~key);
    }
    for (long key = 0; key < records; key++) {
      session.get(key);
    }
  }

  /** Closes all. */
  @TearDown(Level.Trial)
  public void close() {
    session.close();
    mapSession.close();
    map.close();
    index.close();
    fabric.close();
  }

  /** By a session of the index, without objects. */
  @Benchmark
  public long sessionGet() {
    return session.get(nextKey()) ? session.value() : 0;
  }

  /** By a session of the map. */
  @Benchmark
  public @Nullable Long mapSessionGet() {
    return mapSession.get(nextKey());
  }

  /** By the map, which claims a session. */
  @Benchmark
  public @Nullable Long mapGet() {
    return map.get(nextKey());
  }

  private long nextKey() {
    // A stride that has no divisor in common with the numbers of records.
    next = (next + 999_983) % records;
    return next;
  }
}
