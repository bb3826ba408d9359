package pando.fabric.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import pando.fabric.MemoryServerLostException;
import pando.fabric.StalledException;
import pando.fabric.wire.Hello;
import pando.fabric.wire.Hello.Welcome;
import pando.fabric.wire.RefusedException;

/** A compute server's view of one memory server: where it is, and whether it is lost. */
final class RemoteServer {
  private static final long GREETING_NANOS_MAX = TimeUnit.SECONDS.toNanos(3);

  private final InetSocketAddress address;
  private final Credentials credentials;
  private final Welcome known;
  private volatile @Nullable String lostBecause;

  private RemoteServer(InetSocketAddress address, Credentials credentials, Welcome known) {
    this.address = address;
    this.credentials = credentials;
    this.known = known;
  }

  /**
   * Asks the memory server at an address what it is.
   *
   * @param number that it must have
   * @throws TcpException if there is none, or another
   */
  static RemoteServer find(
      InetSocketAddress address, int number, Credentials credentials, Watchdog watchdog) {
    try (Watchdog.Watched connection = connect(address, watchdog)) {
      Welcome welcome = greet(connection, credentials);
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
      return new RemoteServer(address, credentials, welcome);
    } catch (RefusedException e) {
      throw new TcpException(
          "no connection to the memory server: address=" + address + ", because=" + e.getMessage(),
          e);
    } catch (IOException e) {
      throw new TcpException("no memory server answers: address=" + address, e);
    }
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
   * Opens a further connection, if this is still the memory server that was found; another one in
   * its place declares it lost.
   *
   * @throws IOException if nothing answers as a memory server does
   */
  Watchdog.Watched open(Watchdog watchdog) throws IOException {
    Watchdog.Watched connection = connect(address, watchdog);
    boolean ready = false;
    try {
      Welcome welcome = greet(connection, credentials);
      if (!welcome.equals(known) && !welcome.equals(known.withStatus(Hello.FULL))) {
        declareLost("another one has its place: known=" + known + ", found=" + welcome);
      }
      checkAlive();
      checkRoom(address, welcome);
      ready = true;
      return connection;
    } finally {
      if (!ready) {
        connection.close();
      }
    }
  }

  /** Declares the memory server lost: every further verb throws. */
  void declareLost(String because) {
    lostBecause = because;
  }

  void checkAlive() {
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
    if (welcome.status() == Hello.FULL) {
      throw new StalledException(
          "the memory server has as many connections as it takes: server="
              + welcome.server()
              + ", address="
              + address);
    }
  }

  private static Watchdog.Watched connect(InetSocketAddress address, Watchdog watchdog)
      throws IOException {
    Watchdog.Watched connection = watchdog.watch(SocketChannel.open());
    boolean connected = false;
    try {
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

  private static Welcome greet(Watchdog.Watched connection, Credentials credentials)
      throws IOException {
    Welcome welcome = ClientHandshake.perform(connection, credentials);
    connection.relax();
    return welcome;
  }
}
