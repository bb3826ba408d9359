package pando.baselines.deft;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * What the sessions of a process share with its {@link Drainer}: their abandoned tickets, and where
 * they ask for locks to be reset. Thread-safe.
 */
final class Drains {
  /** The tickets of sessions that gave up waiting. */
  final AbandonedTickets abandoned = new AbandonedTickets();

  /** Where sessions have asked, and the pool may not say so yet. */
  private final AtomicInteger asked = new AtomicInteger(DrainWords.NOWHERE);

  private volatile boolean refused;
  private volatile Runnable drainer = () -> {};

  /** Sets what wakes the drainer. */
  void onWake(Runnable wake) {
    drainer = wake;
  }

  /** Makes the drainer look at the pool soon. */
  void wake() {
    drainer.run();
  }

  /** Asks for the locks of a memory server to be reset. */
  void ask(int server) {
    asked.accumulateAndGet(DrainWords.at(server), DrainWords::both);
    wake();
  }

  /** Returns where sessions have asked, and the pool may not say so yet. */
  int asked() {
    return asked.get();
  }

  /** Notes that the pool says so, unless sessions have asked for more since. */
  void noteSaid(int where) {
    asked.compareAndSet(where, DrainWords.NOWHERE);
  }

  /**
   * Refuses all further drains: a session of this process keeps nodes locked that are half changed,
   * or a verb of it may take effect later.
   */
  void refuse() {
    refused = true;
  }

  /** Returns whether all drains are refused. */
  boolean areRefused() {
    return refused;
  }
}
