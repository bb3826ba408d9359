package pando.fabric.lane;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** How a lane waits for sockets, also for less than a millisecond. One thread waits and closes. */
public final class SocketWait implements AutoCloseable {
  /** Shortest wait for sockets; a shorter one is slept. */
  private static final long WAIT_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(1);

  private static final long SLEEP_NANOS_MAX = TimeUnit.MICROSECONDS.toNanos(50);

  private final Selector selector;

  /** Opens it, without sockets. */
  public SocketWait() {
    try {
      selector = Selector.open();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot wait for several connections", e);
    }
  }

  /** Returns what sockets are registered with. */
  public Selector selector() {
    return selector;
  }

  /**
   * Waits until a socket is ready, until {@link #wakeUp} is called or was called since the last
   * wait, or until a time has passed.
   *
   * @param ready receives each that is ready; they stay ready until they are read or written
   */
  public void await(long nanos, Consumer<SelectionKey> ready) {
    try {
      if (nanos >= WAIT_NANOS_MIN) {
        selector.select(ready, TimeUnit.NANOSECONDS.toMillis(nanos));
      } else if (selector.selectNow(ready) == 0) {
        LockSupport.parkNanos(this, Math.min(nanos, SLEEP_NANOS_MAX));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot wait for several connections", e);
    }
  }

  /** Ends the wait under way, or the next. Thread-safe. */
  public void wakeUp() {
    selector.wakeup();
  }

  @Override
  public void close() {
    try {
      selector.close();
    } catch (IOException e) {
      // It is of no further use either way.
    }
  }
}
