package pando.bench.jmh;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
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
import pando.fabric.tcp.TcpFabric;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;

/**
 * READs of 1 KB over TCP on loopback, beside a ping-pong of the same bytes in plain Java: time a
 * READ, and, after each iteration, processor time a READ of both sides.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@SuppressWarnings("NullAway.Init") // JMH sets the fields
public class TcpReadBenchmark {
  private static final int NODE_BYTES = 1024;
  private static final int NODES = 1000;
  private static final int IN_FLIGHT = 16;
  private static final int READS_EACH = 256;

  /** What surrounds a READ's bytes: the request, and the header of the response. */
  private static final int REQUEST_BYTES = 48;

  private static final int RESPONSE_HEADER_BYTES = 16;

  private final VerbList list = new VerbList();
  private final ProcessorTimes times = new ProcessorTimes();
  private PingPong pingPong;
  private TcpMemoryServer server;
  private Fabric fabric;
  private RegisteredMemory memory;
  private Worker worker;
  private Lane lane;
  private ExecutorService threads;
  private int next;

  /** For JMH. */
  public TcpReadBenchmark() {}

  /** Starts a memory server and the other side of the ping-pong. */
  @Setup
  public void open() throws IOException {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    pingPong = new PingPong(any, REQUEST_BYTES, RESPONSE_HEADER_BYTES + NODE_BYTES);
    server = TcpMemoryServer.start(any, 0, PoolOptions.defaults().withBytesPerServer(64 << 20));
    fabric = TcpFabric.attach(List.of(server.address()), 1, TcpOptions.defaults());
    memory = fabric.register((long) IN_FLIGHT * NODE_BYTES);
    worker = fabric.worker(memory);
    lane = fabric.lane("lane");
    threads = Executors.newThreadPerTaskExecutor(lane);
  }

  /** Ends both. */
  @TearDown
  public void close() throws IOException {
    threads.close();
    lane.close();
    worker.close();
    memory.close();
    fabric.close();
    server.close();
    pingPong.close();
  }

  /** Begins to count processor time. */
  @Setup(Level.Iteration)
  public void startCounting() {
    times.start();
  }

  /** Prints processor time. */
  @TearDown(Level.Iteration)
  public void printProcessorTimes() {
    System.out.print("processor a READ: " + times.since() + ", ");
  }

  /** The bytes of a READ, there and back, by blocking channels. */
  @Benchmark
  public void pingPong() throws IOException {
    pingPong.exchange();
    times.count(1);
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
    List<Future<?>> ends = new ArrayList<>();
    for (int i = 0; i < IN_FLIGHT; i++) {
      ends.add(threads.submit(this::readNodes));
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

  private long nextNode() {
    next = (next + 1) % NODES;
    return GlobalAddress.of(0, Fabric.CATALOGUE_BYTES + next * (long) NODE_BYTES);
  }

  /** Two blocking channels: a request one way, a response the other. */
  private static final class PingPong {
    private final ServerSocketChannel listener = ServerSocketChannel.open();
    private final ByteBuffer request;
    private final ByteBuffer response;
    private final SocketChannel channel;

    PingPong(InetSocketAddress address, int requestBytes, int responseBytes) throws IOException {
      request = ByteBuffer.allocateDirect(requestBytes);
      response = ByteBuffer.allocateDirect(responseBytes);
      listener.bind(address);
      Thread.ofPlatform()
          .name(ProcessorTimes.SERVER_THREADS + "-ping-pong")
          .start(() -> answer(requestBytes, responseBytes));
      channel = SocketChannel.open(listener.getLocalAddress());
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    void exchange() throws IOException {
      send(channel, request);
      receive(channel, response);
    }

    void close() throws IOException {
      channel.close();
      listener.close();
    }

    private void answer(int requestBytes, int responseBytes) {
      ByteBuffer in = ByteBuffer.allocateDirect(requestBytes);
      ByteBuffer out = ByteBuffer.allocateDirect(responseBytes);
      try (SocketChannel peer = listener.accept()) {
        peer.setOption(StandardSocketOptions.TCP_NODELAY, true);
        while (receive(peer, in)) {
          send(peer, out);
        }
      } catch (IOException e) {
        throw new IllegalStateException("the ping-pong ended", e);
      }
    }

    private static void send(SocketChannel to, ByteBuffer bytes) throws IOException {
      bytes.clear();
      while (bytes.hasRemaining()) {
        to.write(bytes);
      }
    }

    private static boolean receive(SocketChannel from, ByteBuffer bytes) throws IOException {
      bytes.clear();
      while (bytes.hasRemaining()) {
        if (from.read(bytes) < 0) {
          return false;
        }
      }
      return true;
    }
  }
}
