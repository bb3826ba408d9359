package pando.index.orca;

import java.util.concurrent.atomic.AtomicInteger;
import pando.index.orca.delta.Deltas;

/**
 * Decides who merges when memory for deltas is short: background tasks, which sessions wake, and
 * some of the sessions. Thread-safe.
 */
final class MergeRelief {
  /** Sessions that merge at a time where memory is nearly out. */
  private static final int SESSIONS_MAX = 32;

  private final Deltas deltas;

  /** Sessions that merge a leaf. */
  private final AtomicInteger merging = new AtomicInteger();

  private Runnable wake = () -> {};

  /** Whether the tasks have been woken, and need not be woken again. */
  private volatile boolean awake;

  MergeRelief(Deltas deltas) {
    this.deltas = deltas;
  }

  /** Sets what wakes the tasks. Called once, before there are sessions. */
  void onShort(Runnable tasks) {
    wake = tasks;
  }

  /** Wakes the tasks, if they rest: memory is going to be short. */
  void wake() {
    if (!awake) {
      awake = true;
      wake.run();
    }
  }

  /** Lets {@link #wake()} wake the tasks again. */
  void rest() {
    awake = false;
  }

  /**
   * Returns whether a session may merge a leaf, as memory is short: the shorter it is, the more
   * sessions merge at a time. If all did, their READs and WRITEs of leaves would meet at the
   * network cards, and wait for each other. If it may, {@link #end} must follow.
   */
  boolean mayMerge() {
    if (merging.incrementAndGet() <= 1 + (int) (deltas.shortage() * SESSIONS_MAX)) {
      return true;
    }
    merging.decrementAndGet();
    return false;
  }

  /** Notes that a session has merged a leaf. */
  void end() {
    merging.decrementAndGet();
  }
}
