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
import pando.map.Pando;
import pando.map.PandoMap;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** What the name of a map costs: operations on a map of texts with a name, and on one without. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
@SuppressWarnings("NullAway.Init") // JMH sets the fields
public class NamedMapBenchmark {
  private static final int RECORDS = 100_000;

  @Param({"none", "users"})
  private String name;

  private Pando pando;
  private PandoMap<String, String> map;
  private String[] keys;
  private int next;

  /** For JMH. */
  public NamedMapBenchmark() {}

  /** Stores all records, and asks for each once. */
  @Setup(Level.Trial)
  public void load() {
    pando = Pando.open("local:?size=1GiB&cache=256MiB");
    map =
        name.equals("none")
            ? pando.map(KeyCodec.strings(), ValueCodec.strings())
            : pando.map(name, KeyCodec.strings(), ValueCodec.strings());
    keys = new String[RECORDS];
    for (int i = 0; i < RECORDS; i++) {
      keys[i] = "user:%07d".formatted(i * 99L % 9_999_991);
      map.put(keys[i], "a value of 24 characters");
    }
    for (String key : keys) {
      map.get(key);
    }
  }

  /** Closes all. */
  @TearDown(Level.Trial)
  public void close() {
    pando.close();
  }

  /** Looks a key up. */
  @Benchmark
  public @Nullable String get() {
    return map.get(nextKey());
  }

  /** Replaces a value. */
  @Benchmark
  public @Nullable String put() {
    return map.put(nextKey(), "a value of 24 characters");
  }

  /** Finds a neighbour. */
  @Benchmark
  public @Nullable String floorKey() {
    return map.floorKey(nextKey());
  }

  /** Goes over 100 entries. */
  @Benchmark
  public int scan() {
    int seen = 0;
    for (String key : map.tailMap(nextKey()).keySet()) {
      if (key.isEmpty() || ++seen == 100) {
        break;
      }
    }
    return seen;
  }

  private String nextKey() {
    // A stride that has no divisor in common with the number of records.
    next = (next + 9_973) % RECORDS;
    return keys[next];
  }
}
