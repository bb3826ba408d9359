package pando.fabric.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import pando.fabric.wire.Watchdog;

/**
 * Connections to a memory server that closed workers leave to the next ones, so that a worker which
 * lives for a few verbs costs no handshake. Each has been answered all that was sent by it.
 * Thread-safe.
 */
final class SpareConnections {
  /** Most that are kept, as each takes one of the memory server's places. */
  static final int KEPT_MAX = 4;

  private final Deque<Spare> kept = new ArrayDeque<>();

  /**
   * A connection that no worker uses.
   *
   * @param way its way, see {@link RemoteServer#newWay}
   */
  record Spare(long way, Watchdog.Watched connection) {
    /** Returns whether the memory server has not ended it, nor sent anything. */
    private boolean isQuiet() {
      SocketChannel socket = connection.socket();
      try {
        socket.configureBlocking(false);
        int read = socket.read(ByteBuffer.allocate(1));
        socket.configureBlocking(true);
        return read == 0;
      } catch (IOException e) {
        return false;
      }
    }
  }

  /** Keeps a connection, or closes it where enough are kept. */
  void keep(Spare spare) {
    if (!spare.connection.channel().isOpen() || !tryKeep(spare)) {
      spare.connection.close();
    }
  }

  private synchronized boolean tryKeep(Spare spare) {
    return kept.size() < KEPT_MAX && kept.add(spare);
  }

  /** Returns the connection that was kept last and still is one, or {@code null}. */
  @Nullable Spare take() {
    Spare spare = poll();
    while (spare != null && !spare.isQuiet()) {
      spare.connection.close();
      spare = poll();
    }
    return spare;
  }

  private synchronized @Nullable Spare poll() {
    return kept.pollLast();
  }
}
