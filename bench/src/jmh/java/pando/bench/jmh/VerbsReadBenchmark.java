package pando.bench.jmh;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;
import pando.fabric.verbs.Cards;
import pando.fabric.verbs.VerbsFabric;
import pando.fabric.verbs.VerbsMemoryServer;

/** READs and other verbs by the first RDMA card of this machine, which there must be. */
@SuppressWarnings("NullAway.Init") // JMH sets the fields
public class VerbsReadBenchmark extends ReadBenchmark {
  private static final long WORD = GlobalAddress.of(0, 32 << 20);
  private static final int WRITE_BYTES = 64;

  private ExecutorService platform;

  /** For JMH. */
  public VerbsReadBenchmark() {}

  @Override
  TcpMemoryServer serve(PoolOptions options) {
    return VerbsMemoryServer.start(ANY, 0, options, Authentication.none(), card());
  }

  @Override
  Fabric attach(InetSocketAddress address) {
    return VerbsFabric.attach(List.of(address), 1, TcpOptions.defaults(), card());
  }

  private static String card() {
    return Cards.names().getFirst();
  }

  /** A CAS that changes nothing. */
  @Benchmark
  public long cas() {
    times.count(1);
    return worker.cas(WORD, 0, 0);
  }

  /** Nothing: the benchmark's own reading of the clock, where it times each verb. */
  @Benchmark
  public void clock() {
    times.count(1);
  }

  /** A WRITE. */
  @Benchmark
  public void write() {
    worker.write(WORD + 2 * WRITE_BYTES, 0, WRITE_BYTES);
    times.count(1);
  }

  /** The list {WRITE, WRITE, CAS}. */
  @Benchmark
  public void listOfThree() {
    list.clear();
    list.write(WORD + 2 * WRITE_BYTES, 0, WRITE_BYTES);
    list.write(WORD + 4 * WRITE_BYTES, 0, WRITE_BYTES);
    list.cas(WORD, 0, 0, 0);
    worker.post(list);
    times.count(list.size());
  }

  /** Starts threads, which live on, as the processor time of one that has ended is not known. */
  @Setup
  public void startThreads() {
    platform = Executors.newFixedThreadPool(IN_FLIGHT);
  }

  /** Ends them. */
  @TearDown
  public void endThreads() {
    platform.close();
  }

  /** As {@link #laneOf16}, in 16 platform threads. */
  @Benchmark
  @OperationsPerInvocation(IN_FLIGHT * READS_EACH)
  public void threadsOf16() throws ExecutionException, InterruptedException {
    readBy(platform);
  }
}
