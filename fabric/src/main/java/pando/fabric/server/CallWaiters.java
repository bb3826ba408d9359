package pando.fabric.server;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import pando.fabric.layout.MailboxLayout;

/**
 * Threads of this process that wait for a memory server of this process to answer their CALLs, by
 * the slot of its mailbox. Such a thread rests until a processor wakes it. If it yielded instead
 * where other threads use all cores, it would run again only after these.
 *
 * <p>A thread {@linkplain #enter registers} before it looks for the answer, and a processor stores
 * the answer before it looks for a registered thread. So either the thread finds the answer, or the
 * processor finds the thread.
 */
public final class CallWaiters {
  /** Longest rest: then the thread looks whether the memory server is lost. */
  private static final long REST_NANOS_MAX = 1_000_000;

  private final AtomicReferenceArray<@Nullable Thread> threads =
      new AtomicReferenceArray<>(MailboxLayout.SLOTS);

  CallWaiters() {}

  /** Registers the calling thread, to be woken when the CALL of a slot is answered. */
  public void enter(int slot) {
    threads.set(slot, Thread.currentThread());
    VarHandle.fullFence();
  }

  /** Rests until the calling thread is woken, or for some time. */
  public void rest() {
    LockSupport.parkNanos(this, REST_NANOS_MAX);
  }

  /** Ends what {@link #enter} began. */
  public void leave(int slot) {
    threads.set(slot, null);
  }

  /** Wakes the thread that waits for the answer in a slot, if one rests. */
  void wake(int slot) {
    Thread waiting = threads.get(slot);
    if (waiting != null) {
      LockSupport.unpark(waiting);
    }
  }
}
