package pando.fabric.lane;

import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** For a fabric whose verbs are complete when they return. */
public final class NoCompletions implements Completions {
  private volatile boolean woken;
  private volatile @Nullable Thread waiter;

  /** Is there from when the first socket may come. */
  private volatile @Nullable SocketWait sockets;

  /** Creates it. */
  public NoCompletions() {}

  @Override
  public boolean poll() {
    return false;
  }

  @Override
  public void await(long nanos, Consumer<SelectionKey> ready) {
    waiter = Thread.currentThread();
    SocketWait wait = sockets;
    if (!woken && wait != null) {
      wait.await(nanos, ready);
    } else if (!woken) {
      LockSupport.parkNanos(this, nanos);
    }
    woken = false;
  }

  @Override
  public void wakeUp() {
    woken = true;
    SocketWait wait = sockets;
    if (wait != null) {
      wait.wakeUp();
    }
    LockSupport.unpark(waiter);
  }

  @Override
  public synchronized Selector selector() {
    SocketWait wait = sockets;
    if (wait == null) {
      wait = new SocketWait();
      sockets = wait;
      wakeUp();
    }
    return wait.selector();
  }

  @Override
  public synchronized void close() {
    SocketWait wait = sockets;
    if (wait != null) {
      wait.close();
    }
  }
}
