package pando.bench.jmh;

import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
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
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;

/** What each verb costs on the local fabric, on memory in the processor's cache or far from it. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@SuppressWarnings("NullAway.Init") // JMH sets the fields
public class VerbBenchmark {
  private static final int NODE_BYTES = 1024;
  private static final int ADDRESSES = 1 << 18;

  /** Memory that addresses fall in: within the processor's first cache, or far beyond its last. */
  @Param({"16384", "2147483648"})
  private long spanBytes;

  private final long[] addresses = new long[ADDRESSES];
  private final VerbList list = new VerbList();
  private Fabric fabric;
  private RegisteredMemory memory;
  private Worker worker;
  private int next;

  /** For JMH. */
  public VerbBenchmark() {}

  /** Opens a pool and touches the memory. */
  @Setup
  public void open() {
    PoolOptions options =
        PoolOptions.defaults()
            .withMemoryServers(1)
            .withBytesPerServer(spanBytes + (16 << 20))
            .withHandlers(List.of());
    fabric = LocalFabric.open(options);
    memory = fabric.register(2 * NODE_BYTES);
    worker = fabric.worker(memory);
    for (long offset = 0; offset < spanBytes; offset += NODE_BYTES) {
      worker.write(address(offset), 0, NODE_BYTES);
    }
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < ADDRESSES; i++) {
      addresses[i] = address(random.nextLong(spanBytes / NODE_BYTES) * NODE_BYTES);
    }
  }

  /** Closes the pool. */
  @TearDown
  public void close() {
    worker.close();
    memory.close();
    fabric.close();
  }

  /** READ of a node. */
  @Benchmark
  public void readNode() {
    worker.read(nextAddress(), 0, NODE_BYTES);
  }

  /** READ of a word. */
  @Benchmark
  public void readWord() {
    worker.read(nextAddress(), 0, Long.BYTES);
  }

  /** WRITE of a node. */
  @Benchmark
  public void writeNode() {
    worker.write(nextAddress(), 0, NODE_BYTES);
  }

  /** CAS that fails. */
  @Benchmark
  public long cas() {
    return worker.cas(nextAddress(), -1, 0);
  }

  /** FAA. */
  @Benchmark
  public long faa() {
    return worker.faa(nextAddress(), 0);
  }

  /** Doorbell list of two READs. */
  @Benchmark
  public void postTwoReads() {
    list.clear().read(nextAddress(), 0, NODE_BYTES).read(nextAddress(), NODE_BYTES, NODE_BYTES);
    worker.post(list);
  }

  private long nextAddress() {
    return addresses[next++ & (ADDRESSES - 1)];
  }

  private static long address(long offset) {
    return GlobalAddress.of(0, Fabric.CATALOGUE_BYTES + offset);
  }
}
