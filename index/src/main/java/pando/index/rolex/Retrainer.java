package pando.index.rolex;

import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.VerbCounters;
import pando.index.host.PausableSteps;

/**
 * Retrains models that the sessions of a compute server find due, concurrently with them (ROLEX,
 * asynchronous retraining). Its verbs are counted with the compute server's.
 */
final class Retrainer implements AutoCloseable {

  private final RolexServer server;
  private final Fabric fabric;
  private final RetrainQueue queue;
  private final int number;
  private final PausableSteps steps = new PausableSteps();
  private final long[] low = new long[1];
  private volatile @Nullable RolexContext context;
  private @Nullable Retraining retraining;
  private boolean closed;
  private volatile long retrained;
  private volatile long failed;
  private volatile @Nullable Throwable failure;

  /**
   * Creates a retrainer that has opened nothing yet.
   *
   * @param number number of the retrainer at its compute server
   */
  Retrainer(RolexServer server, RetrainQueue queue, Fabric fabric, int number) {
    this.number = number;
    this.server = server;
    this.queue = queue;
    this.fabric = fabric;
  }

  /**
   * Retrains the first model of the queue. A failure leaves it as it was: it is due again when
   * another one is.
   *
   * @return whether there was one
   */
  boolean step() {
    return steps.take(this::retrainNext);
  }

  private boolean retrainNext() {
    boolean works = queue.take(low);
    if (works) {
      retrain(low[0]);
    }
    return works;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Written by the task alone.
  private void retrain(long due) {
    try {
      if (open().retrain(due)) {
        retrained++;
      }
    } catch (PandoException | VirtualMachineError e) {
      failed++;
      failure = e;
      // The cause, such as a full pool, may last, so the task does not retry at once.
      server.retrainLater(due);
      if (retraining != null) {
        retraining.rest();
      }
    }
  }

  /** Waits until the current model is retrained. No other one is begun before {@link #resume}. */
  void pause(Backoff backoff) {
    steps.pause(backoff);
  }

  /** Goes on. */
  void resume() {
    steps.resume();
  }

  /** Opened by the task itself: a worker belongs to one thread. */
  private Retraining open() {
    Retraining opened = retraining;
    if (opened == null) {
      RolexContext own = RolexContext.ofRetrainer(server, fabric, number);
      opened = new Retraining(own);
      context = own;
      retraining = opened;
    }
    return opened;
  }

  /** Returns the counts of retrained and failed models. */
  Retrainings retrainings() {
    return new Retrainings(retrained, failed, failure);
  }

  /** Returns the verbs issued so far. */
  VerbCounters verbs() {
    RolexContext opened = context;
    return opened == null ? new VerbCounters() : opened.worker.counters();
  }

  @Override
  public void close() {
    RolexContext opened = context;
    if (opened != null && !closed) {
      closed = true;
      opened.close();
    }
  }
}
