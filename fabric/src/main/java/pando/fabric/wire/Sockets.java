package pando.fabric.wire;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import jdk.net.ExtendedSocketOptions;

/** What all sockets have in common. */
public final class Sockets {
  /** Seconds of silence before the system asks whether the other machine is still there. */
  private static final int KEEP_IDLE_SECONDS = 5;

  private static final int KEEP_INTERVAL_SECONDS = 2;
  private static final int KEEP_COUNT = 3;

  /** Connections that the system accepts before a server takes them. */
  private static final int BACKLOG = 1024;

  private Sockets() {}

  /** Returns a socket that listens; port 0 takes a free one. */
  public static ServerSocketChannel listen(InetSocketAddress address) throws IOException {
    ServerSocketChannel listener = ServerSocketChannel.open();
    try {
      return listener.bind(address, BACKLOG);
    } catch (IOException | RuntimeException | Error e) {
      listener.close();
      throw e;
    }
  }

  /** Closes a socket that listens. */
  public static void close(ServerSocketChannel listener) {
    try {
      listener.close();
    } catch (IOException e) {
      // It takes no further connection either way.
    }
  }

  /**
   * Makes a socket send at once, and end when the other machine is gone without a word: the system
   * asks for that while the socket is idle.
   */
  public static void configure(SocketChannel channel) throws IOException {
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    setIfSupported(channel, ExtendedSocketOptions.TCP_KEEPIDLE, KEEP_IDLE_SECONDS);
    setIfSupported(channel, ExtendedSocketOptions.TCP_KEEPINTERVAL, KEEP_INTERVAL_SECONDS);
    setIfSupported(channel, ExtendedSocketOptions.TCP_KEEPCOUNT, KEEP_COUNT);
  }

  private static void setIfSupported(SocketChannel channel, SocketOption<Integer> option, int value)
      throws IOException {
    if (channel.supportedOptions().contains(option)) {
      channel.setOption(option, value);
    }
  }
}
