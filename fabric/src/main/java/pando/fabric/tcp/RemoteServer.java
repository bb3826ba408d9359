package pando.fabric.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.FencedException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.StalledException;
import pando.fabric.base.Fences;
import pando.fabric.wire.ClientHandshake;
import pando.fabric.wire.Hello;
import pando.fabric.wire.Hello.Welcome;
import pando.fabric.wire.Introduction;
import pando.fabric.wire.RefusedException;
import pando.fabric.wire.Role;
import pando.fabric.wire.Sockets;
import pando.fabric.wire.Watchdog;

/**
 * A compute server's view of one memory server: where it is, and whether it is lost, or refuses
 * this compute server.
 */
final class RemoteServer {
  private static final SecureRandom WAYS = new SecureRandom();
  private static final long GREETING_NANOS_MAX = TimeUnit.SECONDS.toNanos(3);

  private final InetSocketAddress address;
  private final Introduction self;
  private final Welcome known;
  private final SpareConnections spares = new SpareConnections();
  private volatile @Nullable String lostBecause;
  private volatile boolean isFenced;

  private RemoteServer(InetSocketAddress address, Introduction self, Welcome known) {
    this.address = address;
    this.self = self;
    this.known = known;
  }

  /**
   * Asks the memory server at an address what it is.
   *
   * @param number that it must have
   * @throws TcpException if there is none, or another
   * @throws FencedException if it refuses this compute server
   */
  static RemoteServer find(
      InetSocketAddress address, int number, Introduction self, Watchdog watchdog) {
    try (Watchdog.Watched connection = connect(address, watchdog, () -> false)) {
      Welcome welcome = greet(connection, self, Fences.NO_WAY);
      if (welcome.version() != Hello.VERSION || welcome.status() == Hello.OTHER_VERSION) {
        throw new TcpException(
            "memory server of another version: address="
                + address
                + ", version="
                + welcome.version()
                + ", expected="
                + Hello.VERSION);
      }
      if (welcome.server() != number) {
        throw new TcpException(
            "memory server at the wrong place: address="
                + address
                + ", place="
                + number
                + ", number="
                + welcome.server());
      }
      checkRoom(address, welcome);
      RemoteServer server = new RemoteServer(address, self, welcome.withStatus(Hello.WELCOME));
      server.checkNotFenced(welcome);
      return server;
    } catch (RefusedException e) {
      throw new TcpException(
          "no connection to the memory server: address=" + address + ", because=" + e.getMessage(),
          e);
    } catch (IOException e) {
      throw new TcpException("no memory server answers: address=" + address, e);
    }
  }

  /** Returns the same memory server, for another that comes to it. */
  RemoteServer seenBy(Introduction other) {
    return new RemoteServer(address, other, known);
  }

  /** Returns the connections that closed workers have left. */
  SpareConnections spares() {
    return spares;
  }

  /** Returns the epoch that requests have, 0 for none. */
  long epoch() {
    return self.epoch();
  }

  int number() {
    return known.server();
  }

  long dramBytes() {
    return known.dramBytes();
  }

  boolean hasCas16() {
    return known.cas16();
  }

  /**
   * Makes up the name of a way to the memory server, which no other client can guess. That of an
   * admin has none: what it sends may take effect late.
   */
  long newWay() {
    return self.role() == Role.COMPUTE ? WAYS.nextLong() : Fences.NO_WAY;
  }

  /**
   * Opens a further connection, if this is still the memory server that was found; another one in
   * its place declares it lost. Nothing takes effect any more that was sent by an older connection
   * of the same way.
   *
   * @param way of which this is the newest connection, see {@link #newWay}
   * @throws IOException if nothing answers as a memory server does
   * @throws StalledException if the memory server still serves an older connection, or has no room
   * @throws FencedException if it refuses this compute server; no later verb is tried
   */
  Watchdog.Watched open(Watchdog watchdog, long way) throws IOException {
    Watchdog.Watched connection = connect(address, watchdog, this::isLost);
    boolean ready = false;
    try {
      Welcome welcome = greet(connection, self, way);
      if (!isKnown(welcome)) {
        declareLost("another one has its place: known=" + known + ", found=" + welcome);
      }
      checkNotFenced(welcome);
      checkUsable();
      checkRoom(address, welcome);
      ready = true;
      return connection;
    } finally {
      if (!ready) {
        connection.close();
      }
    }
  }

  private boolean isKnown(Welcome welcome) {
    return welcome.equals(known)
        || welcome.equals(known.withStatus(Hello.FULL))
        || welcome.equals(known.withStatus(Hello.FENCED))
        || welcome.equals(known.withStatus(Hello.OCCUPIED));
  }

  private void checkNotFenced(Welcome welcome) {
    if (welcome.status() == Hello.FENCED) {
      throw fenced();
    }
  }

  /** Notes that this compute server is refused: every further verb throws what this returns. */
  FencedException fenced() {
    isFenced = true;
    return new FencedException(
        "this compute server is fenced: " + self.computeServer() + ", by=" + this);
  }

  /** Declares the memory server lost: every further verb throws, and none waits for an answer. */
  void declareLost(String because) {
    lostBecause = because;
  }

  private boolean isLost() {
    return lostBecause != null;
  }

  /** Checks that the memory server is not lost, and does not refuse this compute server. */
  void checkUsable() {
    if (isFenced) {
      throw fenced();
    }
    String because = lostBecause;
    if (because != null) {
      throw new MemoryServerLostException(
          "memory server is lost: server=" + number() + ", because=" + because);
    }
  }

  @Override
  public String toString() {
    return "server=" + number() + ", address=" + address;
  }

  private static void checkRoom(InetSocketAddress address, Welcome welcome) {
    if (welcome.status() == Hello.OCCUPIED) {
      throw new StalledException(
          "the memory server still serves what was sent by the connection before: server="
              + welcome.server()
              + ", address="
              + address);
    }
    if (welcome.status() == Hello.FULL) {
      throw new StalledException(
          "the memory server has as many connections as it takes: server="
              + welcome.server()
              + ", address="
              + address);
    }
  }

  private static Watchdog.Watched connect(
      InetSocketAddress address, Watchdog watchdog, BooleanSupplier isLost) throws IOException {
    Watchdog.Watched connection = watchdog.watch(SocketChannel.open());
    boolean connected = false;
    try {
      connection.closeOnce(isLost);
      connection.expect(GREETING_NANOS_MAX);
      Sockets.configure(connection.socket());
      connection.socket().connect(address);
      connected = true;
      return connection;
    } finally {
      if (!connected) {
        connection.close();
      }
    }
  }

  private static Welcome greet(Watchdog.Watched connection, Introduction self, long way)
      throws IOException {
    Welcome welcome = ClientHandshake.perform(connection, self, way);
    connection.relax();
    return welcome;
  }
}
