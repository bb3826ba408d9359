package pando.bench.jmh;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import pando.fabric.Fabric;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.TcpFabric;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;

/** READs over TCP, beside a ping-pong of the same bytes in plain Java. */
@SuppressWarnings("NullAway.Init") // JMH sets the fields
public class TcpReadBenchmark extends ReadBenchmark {
  /** What surrounds a READ's bytes: the request, and the header of the response. */
  private static final int REQUEST_BYTES = 48;

  private static final int RESPONSE_HEADER_BYTES = 16;

  private PingPong pingPong;

  /** For JMH. */
  public TcpReadBenchmark() {}

  @Override
  TcpMemoryServer serve(PoolOptions options) {
    return TcpMemoryServer.start(ANY, 0, options);
  }

  @Override
  Fabric attach(InetSocketAddress address) {
    return TcpFabric.attach(List.of(address), 1, TcpOptions.defaults());
  }

  /** Starts the other side of the ping-pong. */
  @Setup
  public void openPingPong() throws IOException {
    pingPong = new PingPong(ANY, REQUEST_BYTES, RESPONSE_HEADER_BYTES + NODE_BYTES);
  }

  /** Ends it. */
  @TearDown
  public void closePingPong() throws IOException {
    pingPong.close();
  }

  /** The bytes of a READ, there and back, by blocking channels. */
  @Benchmark
  public void pingPong() throws IOException {
    pingPong.exchange();
    times.count(1);
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
