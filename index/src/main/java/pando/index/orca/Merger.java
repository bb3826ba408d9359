package pando.index.orca;

import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.VerbCounters;
import pando.index.host.PausableSteps;

/** One of the {@link Mergers}: a background task that merges one leaf after the other. */
final class Merger implements AutoCloseable {
  /** Leaves that a step merges at most: pausing the task waits for them. */
  private static final int LEAVES = 4;

  private final OrcaServer server;
  private final Fabric fabric;
  private final Runnable wakeNext;
  private final PausableSteps steps = new PausableSteps();
  private @Nullable Merges merges;
  private volatile @Nullable OrcaContext context;
  private volatile long merged;
  private volatile long failed;
  private volatile @Nullable Throwable failure;
  private boolean closed;

  /**
   * Creates a merger that has opened nothing yet.
   *
   * @param wakeNext wakes the next one
   */
  Merger(OrcaServer server, Fabric fabric, Runnable wakeNext) {
    this.server = server;
    this.fabric = fabric;
    this.wakeNext = wakeNext;
  }

  /** Merges some leaves if memory for deltas is nearly short; returns whether it did. */
  boolean step() {
    return steps.take(this::mergeSome);
  }

  private boolean mergeSome() {
    int leaves = 0;
    while (leaves < LEAVES && server.deltas.isNearlyShort() && tryMerge()) {
      leaves++;
    }
    if (server.deltas.isNearlyShort()) {
      wakeNext.run();
    } else {
      server.mergers.rest();
    }
    return leaves > 0;
  }

  /** Merges a leaf. A failure leaves it as it was; sessions go on without the task. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // Written by the task alone.
  private boolean tryMerge() {
    try {
      boolean found = open().mergeFullest();
      merged += found ? 1 : 0;
      return found;
    } catch (PandoException | VirtualMachineError e) {
      fail(e);
      return false;
    } catch (Throwable e) {
      // A bug: the task ends, and closing throws it.
      fail(e);
      throw e;
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Written by the task alone.
  private void fail(Throwable e) {
    failed++;
    failure = e;
  }

  /** Opened by the task itself: a worker belongs to one thread. */
  private Merges open() {
    Merges opened = merges;
    if (opened == null) {
      OrcaContext own = new OrcaContext(server, fabric);
      context = own;
      opened = new Merges(own);
      merges = opened;
    }
    return opened;
  }

  /** Waits until the current step has ended. No other one begins before {@link #resume}. */
  void pause(Backoff backoff) {
    steps.pause(backoff);
  }

  /** Goes on. */
  void resume() {
    steps.resume();
  }

  /** Returns how merging has gone so far. */
  BackgroundMerges counts() {
    return new BackgroundMerges(merged, failed, failure);
  }

  /** Returns the verbs issued so far. */
  VerbCounters verbs() {
    OrcaContext opened = context;
    return opened == null ? new VerbCounters() : opened.worker.counters();
  }

  @Override
  public void close() {
    OrcaContext opened = context;
    if (opened != null && !closed) {
      closed = true;
      opened.close();
    }
  }
}
