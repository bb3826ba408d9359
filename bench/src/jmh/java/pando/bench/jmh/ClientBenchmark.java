package pando.bench.jmh;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import pando.client.ClientBatch;
import pando.client.ClientOptions;
import pando.client.ClientSession;
import pando.client.PandoClient;
import pando.client.Routes;
import pando.client.server.ClientService;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpFabric;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;
import pando.index.EntrySource;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.Systems;
import pando.index.dex.DexOptions;

/**
 * Lookups by a client on loopback, all of them in the compute server's cache, beside READs of 1 KB
 * over TCP and the index's own lookups; and, after each iteration, processor time of both sides.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@SuppressWarnings("NullAway.Init") // JMH sets the fields
public class ClientBenchmark {
  private static final int KEYS = 100_000;
  private static final int STEP = 7_919;
  private static final int TOGETHER = 64;
  private static final int READ_BYTES = 1024;
  private static final InetSocketAddress ANY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private final ProcessorTimes times = new ProcessorTimes("pando-client-service");
  private Fabric fabric;
  private RangeIndex index;
  private Session own;
  private ClientService service;
  private PandoClient client;
  private ClientSession session;
  private ClientBatch batch;
  private TcpMemoryServer memoryServer;
  private Fabric tcp;
  private RegisteredMemory memory;
  private Worker worker;
  private int next;

  /** For JMH. */
  public ClientBenchmark() {}

  /** Loads an index, serves it, and connects; starts a memory server besides. */
  @Setup
  public void open() {
    fabric =
        LocalFabric.open(
            PoolOptions.defaults().withBytesPerServer(64 << 20).withHandlers(Systems.handlers()));
    index = DexOptions.defaults().withComputeServers(1).create(fabric);
    index.bulkLoad(new Numbers(), 0.7);
    own = index.session();
    service = ClientService.start(index, ANY, Authentication.none(), Routes::alone, 1);
    client =
        PandoClient.connect(
            service.address().getHostString() + ":" + service.address().getPort(),
            ClientOptions.defaults());
    session = client.session();
    batch = client.batch();
    memoryServer =
        TcpMemoryServer.start(ANY, 0, PoolOptions.defaults().withBytesPerServer(64 << 20));
    tcp = TcpFabric.attach(List.of(memoryServer.address()), 1, TcpOptions.defaults());
    memory = tcp.register(READ_BYTES);
    worker = tcp.worker(memory);
  }

  /** Ends all. */
  @TearDown
  public void close() {
    worker.close();
    memory.close();
    tcp.close();
    memoryServer.close();
    client.close();
    service.close();
    own.close();
    index.close();
    fabric.close();
  }

  /** Begins to count processor time. */
  @Setup(Level.Iteration)
  public void startCounting() {
    times.start();
  }

  /** Prints processor time. */
  @TearDown(Level.Iteration)
  public void printProcessorTimes() {
    System.out.print("processor an operation: " + times.since() + ", ");
  }

  private long nextKey() {
    next = (next + STEP) % KEYS;
    return next;
  }

  /** One lookup by a client under way. */
  @Benchmark
  public boolean get() {
    times.count(1);
    return session.get(nextKey());
  }

  /** 64 lookups by a client under way. */
  @Benchmark
  public boolean get64() {
    batch.clear();
    for (int i = 0; i < TOGETHER; i++) {
      batch.get(nextKey());
    }
    batch.run();
    times.count(TOGETHER);
    return batch.result(0);
  }

  /** 64 lookups in the process of the index. */
  @Benchmark
  public boolean own64() {
    boolean found = false;
    for (int i = 0; i < TOGETHER; i++) {
      found = own.get(nextKey());
    }
    times.count(TOGETHER);
    return found;
  }

  /** One READ under way. */
  @Benchmark
  public void read() {
    times.count(1);
    worker.read(
        GlobalAddress.of(0, Fabric.CATALOGUE_BYTES + (nextKey() & 1023) * READ_BYTES),
        0,
        READ_BYTES);
  }

  /** All keys in order. */
  private static final class Numbers implements EntrySource {
    private long at = -1;

    @Override
    public boolean next() {
      return ++at < KEYS;
    }

    @Override
    public long key() {
      return at;
    }

    @Override
    public long value() {
      return -at;
    }
  }
}
