package pando.fabric.wire;

import java.io.IOException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Closes the channels of peers that take too long. Blocking channels have no time limit of their
 * own; closing one wakes the thread that waits in it. It rests while nothing is expected of any
 * peer. Thread-safe.
 */
public final class Watchdog implements AutoCloseable {
  private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long NONE = 0;

  private final Set<Watched> open = ConcurrentHashMap.newKeySet();
  private final Thread thread;
  private volatile boolean resting;
  private volatile boolean closed;

  private Watchdog(String name) {
    thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
  }

  /** Starts a watchdog in a thread of its own. */
  public static Watchdog start(String name) {
    Watchdog watchdog = new Watchdog(name);
    watchdog.thread.start();
    return watchdog;
  }

  /**
   * Watches a channel from now on; it has all the time until a limit is set.
   *
   * @throws AsynchronousCloseException if the watchdog is closed; the channel is then, too
   */
  public Watched watch(SocketChannel channel) throws IOException {
    Watched watched = new Watched(channel);
    open.add(watched);
    if (closed) {
      watched.close();
      throw new AsynchronousCloseException();
    }
    return watched;
  }

  /** Returns whether it is closed. */
  public boolean isClosed() {
    return closed;
  }

  /** Closes all channels, and those that come later. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
    open.forEach(Watched::close);
  }

  private void run() {
    while (!closed && !Thread.currentThread().isInterrupted()) {
      if (check()) {
        LockSupport.parkNanos(this, PERIOD_NANOS);
      } else {
        rest();
      }
    }
  }

  /** Rests until something is expected. */
  private void rest() {
    resting = true;
    // What was expected before is seen here; what is expected from now on wakes.
    if (!closed && !check()) {
      LockSupport.park(this);
    }
    resting = false;
  }

  private void wake() {
    if (resting) {
      resting = false;
      LockSupport.unpark(thread);
    }
  }

  /** Closes channels of peers that are late; returns whether something is expected of others. */
  private boolean check() {
    try {
      long now = System.nanoTime();
      boolean expects = false;
      for (Watched watched : open) {
        expects |= watched.check(now);
      }
      return expects;
    } catch (OutOfMemoryError e) {
      // Of no other thread's making, perhaps. Without a watchdog verbs would wait for ever.
      return true;
    }
  }

  /** A channel, and until when its peer has to do something. One thread at a time uses it. */
  public final class Watched implements AutoCloseable {
    private final SocketChannel socket;
    private ByteChannel channel;
    private volatile long deadline = NONE;
    private volatile boolean late;
    private volatile Runnable afterClose = () -> {};
    private volatile BooleanSupplier isGivenUp = () -> false;

    private Watched(SocketChannel socket) {
      this.socket = socket;
      this.channel = socket;
    }

    /** Returns the socket. */
    public SocketChannel socket() {
      return socket;
    }

    /** Returns what bytes go by: the socket, or what is used in its place. */
    public ByteChannel channel() {
      return channel;
    }

    /** Lets bytes go by another channel, which uses the socket. */
    public void use(ByteChannel other) {
      channel = other;
    }

    /** Closes the channel unless {@link #relax} comes within a time. */
    public void expect(long nanos) {
      expectBy(System.nanoTime() + nanos);
    }

    /** Closes the channel unless {@link #relax} comes before a time of {@link System#nanoTime}. */
    public void expectBy(long nanoTime) {
      // A deadline that happens to be NONE is one nanosecond later.
      deadline = nanoTime | 1;
      wake();
    }

    /** Leaves the channel to its user: nothing closes it any more but {@link #close}. */
    public void release() {
      open.remove(this);
      relax();
    }

    /** Leaves the peer all the time. */
    public void relax() {
      deadline = NONE;
    }

    /** Returns whether the channel was closed as the peer took too long, or was given up. */
    public boolean isLate() {
      return late;
    }

    /**
     * Returns why an access to the channel failed: that the peer took too long or was given up, or
     * as it says.
     */
    public IOException reason(IOException failure) {
      if (!late) {
        return failure;
      }
      return new IOException(isGivenUp.getAsBoolean() ? "given up" : "too late", failure);
    }

    /** Has the channel closed, too, while something is expected of a peer that is given up. */
    public void closeOnce(BooleanSupplier isGivenUp) {
      this.isGivenUp = isGivenUp;
    }

    /** Has an action run after the channel was closed, by whichever thread. */
    public void afterClose(Runnable action) {
      afterClose = action;
    }

    /** Closes the channel if its peer is late; returns whether something else is expected. */
    private boolean check(long now) {
      long until = deadline;
      if (until == NONE) {
        return false;
      }
      boolean isOver = now - until > 0 || isGivenUp.getAsBoolean();
      if (isOver) {
        late = true;
        close();
      }
      return !isOver;
    }

    @Override
    public void close() {
      open.remove(this);
      try {
        socket.close();
      } catch (IOException e) {
        // It is of no further use either way.
      }
      afterClose.run();
    }
  }
}
