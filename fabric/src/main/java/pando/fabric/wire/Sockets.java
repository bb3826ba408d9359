package pando.fabric.wire;

import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import jdk.net.ExtendedSocketOptions;

/** What all sockets have in common. */
public final class Sockets {
  /** Seconds of silence before the system asks whether the other machine is still there. */
  private static final int KEEP_IDLE_SECONDS = 5;

  private static final int KEEP_INTERVAL_SECONDS = 2;
  private static final int KEEP_COUNT = 3;

  private Sockets() {}

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
