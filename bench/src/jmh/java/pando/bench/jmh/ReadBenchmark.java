package pando.bench.jmh;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.Lane;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.TcpMemoryServer;

/**
 * READs of 1 KB from a memory server on loopback: time a READ, and, after each iteration, processor
 * time a READ of both sides.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@SuppressWarnings("NullAway.Init") // JMH sets the fields
public abstract class ReadBenchmark {
  static final int NODE_BYTES = 1024;
  static final int IN_FLIGHT = 16;
  static final int READS_EACH = 1024;
  static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final int NODES = 1000;

  final VerbList list = new VerbList();
  final ProcessorTimes times = new ProcessorTimes();
  Worker worker;
  private TcpMemoryServer server;
  private Fabric fabric;
  private RegisteredMemory memory;
  private Lane lane;
  private ExecutorService threads;
  private int next;

  /** For JMH. */
  protected ReadBenchmark() {}

  /** Starts a memory server. */
  abstract TcpMemoryServer serve(PoolOptions options);

  /** Connects to it. */
  abstract Fabric attach(InetSocketAddress address);

  /** Starts a memory server, and connects. */
  @Setup
  public void open() {
    server = serve(PoolOptions.defaults().withBytesPerServer(64 << 20));
    fabric = attach(server.address());
    memory = fabric.register((long) IN_FLIGHT * NODE_BYTES);
    worker = fabric.worker(memory);
    lane = fabric.lane("lane");
    threads = Executors.newThreadPerTaskExecutor(lane);
  }

  /** Ends both. */
  @TearDown
  public void close() {
    threads.close();
    lane.close();
    worker.close();
    memory.close();
    fabric.close();
    server.close();
  }

  /** Begins to count processor time. */
  @Setup(Level.Iteration)
  public void startCounting() {
    times.start();
  }

  /** Prints processor time. */
  @TearDown(Level.Iteration)
  public void printProcessorTimes() {
    System.out.print("processor a verb: " + times.since() + ", ");
  }

  /** One worker, one READ under way. */
  @Benchmark
  public void read() {
    worker.read(nextNode(), 0, NODE_BYTES);
    times.count(1);
  }

  /** A list of 16 READs. */
  @Benchmark
  @OperationsPerInvocation(IN_FLIGHT)
  public void listOf16() {
    list.clear();
    for (int i = 0; i < IN_FLIGHT; i++) {
      list.read(nextNode(), (long) i * NODE_BYTES, NODE_BYTES);
    }
    worker.post(list);
    times.count(IN_FLIGHT);
  }

  /** 16 workers of a lane, one READ of each under way. */
  @Benchmark
  @OperationsPerInvocation(IN_FLIGHT * READS_EACH)
  public void laneOf16() throws ExecutionException, InterruptedException {
    readBy(threads);
  }

  /** Has 16 workers read nodes, each in a thread of its own. */
  void readBy(ExecutorService executor) throws ExecutionException, InterruptedException {
    List<Future<?>> ends = new ArrayList<>();
    for (int i = 0; i < IN_FLIGHT; i++) {
      ends.add(executor.submit(this::readNodes));
    }
    for (Future<?> end : ends) {
      end.get();
    }
    times.count((long) IN_FLIGHT * READS_EACH);
  }

  private void readNodes() {
    try (RegisteredMemory own = fabric.register(NODE_BYTES);
        Worker ownWorker = fabric.worker(own)) {
      for (int i = 0; i < READS_EACH; i++) {
        ownWorker.read(nextNode(), 0, NODE_BYTES);
      }
    }
  }

  long nextNode() {
    next = (next + 1) % NODES;
    return GlobalAddress.of(0, Fabric.CATALOGUE_BYTES + next * (long) NODE_BYTES);
  }
}
