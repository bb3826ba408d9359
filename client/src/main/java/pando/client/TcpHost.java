package pando.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import pando.fabric.tcp.Authentication;
import pando.fabric.wire.ClientHandshake;
import pando.fabric.wire.FrameException;
import pando.fabric.wire.Hello;
import pando.fabric.wire.Introduction;
import pando.fabric.wire.Protocol;
import pando.fabric.wire.Role;
import pando.fabric.wire.Sockets;
import pando.fabric.wire.Watchdog;

/** Real time, and compute servers that are reached by TCP. */
final class TcpHost implements ClientHost {
  private static final long GREETING_NANOS_MAX = TimeUnit.SECONDS.toNanos(3);

  private final Authentication authentication;
  private final Introduction introduction;
  private final SecureRandom random = new SecureRandom();
  private final Watchdog watchdog;

  TcpHost(Authentication authentication) {
    this.authentication = authentication;
    this.introduction =
        new Introduction(
            Protocol.OPERATIONS, authentication.credentials(Role.CLIENT), Role.CLIENT, null);
    this.watchdog = Watchdog.start("pando-client-watchdog");
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public void pause(long nanos) {
    LockSupport.parkNanos(this, nanos);
  }

  @Override
  public long random() {
    return random.nextLong();
  }

  @Override
  public Line line(String address) {
    return new TcpLine(address);
  }

  @Override
  public void close() {
    watchdog.close();
  }

  private final class TcpLine implements Line {
    private final String address;

    /** Is the same for all connections, as a thread may wait with it while they change. */
    private volatile @Nullable Selector selector;

    private Watchdog.@Nullable Watched connection;
    private @Nullable SelectionKey key;

    TcpLine(String address) {
      this.address = address;
    }

    /** An interruption would close a channel that is not open yet: then once more. */
    @Override
    public ByteChannel open() throws IOException {
      boolean interrupted = false;
      try {
        while (true) {
          interrupted |= Thread.interrupted();
          try {
            return open(checkedAddress());
          } catch (ClosedByInterruptException e) {
            interrupted = true;
          }
        }
      } finally {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }

    private InetSocketAddress checkedAddress() throws IOException {
      try {
        InetSocketAddress to = Addresses.resolved(address);
        authentication.checkAddress(to);
        return to;
      } catch (IllegalArgumentException e) {
        // Routes may name any address.
        throw new IOException(e.getMessage(), e);
      }
    }

    private ByteChannel open(InetSocketAddress to) throws IOException {
      Watchdog.Watched opened = watchdog.watch(SocketChannel.open());
      boolean done = false;
      try {
        opened.expect(GREETING_NANOS_MAX);
        Sockets.configure(opened.socket());
        opened.socket().connect(to);
        greet(opened);
        opened.release();
        opened.socket().configureBlocking(false);
        key = opened.socket().register(selector(), SelectionKey.OP_READ);
        connection = opened;
        done = true;
        return opened.channel();
      } catch (IOException e) {
        throw opened.reason(e);
      } finally {
        if (!done) {
          opened.close();
        }
      }
    }

    private void greet(Watchdog.Watched opened) throws IOException {
      Hello.Welcome welcome = ClientHandshake.perform(opened, introduction, 0);
      if (welcome.version() != Hello.VERSION || welcome.status() == Hello.OTHER_VERSION) {
        throw new FrameException(
            "it speaks another version: version="
                + welcome.version()
                + ", expected="
                + Hello.VERSION);
      }
      if (welcome.status() != Hello.WELCOME) {
        throw new FrameException("it has as many connections as it takes");
      }
    }

    private Selector selector() throws IOException {
      Selector its = selector;
      if (its == null) {
        its = Selector.open();
        selector = its;
      }
      return its;
    }

    @Override
    public void awaitRoom(boolean awaits) {
      SelectionKey its = key;
      if (its != null) {
        its.interestOps(SelectionKey.OP_READ | (awaits ? SelectionKey.OP_WRITE : 0));
        wakeUp();
      }
    }

    @Override
    public void await(long nanosMax) throws IOException {
      Selector its = selector;
      if (its != null) {
        try {
          its.select(TcpHost::ignore, Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanosMax)));
        } catch (ClosedSelectorException e) {
          // The client was closed before this thread waited: that ends the wait.
        }
      }
    }

    private void wakeUp() {
      Selector its = selector;
      if (its != null) {
        its.wakeup();
      }
    }

    @Override
    public void end() {
      key = null;
      Watchdog.Watched open = connection;
      connection = null;
      if (open != null) {
        open.close();
      }
      wakeUp();
    }

    @Override
    public void close() throws IOException {
      Selector its = selector;
      if (its != null) {
        its.close();
      }
    }
  }

  private static void ignore(SelectionKey ready) {}
}
