package pando.baselines.rolex;

import pando.fabric.Fabric;
import pando.index.host.HostedTask;

/**
 * Retrains models that the sessions of a compute server find due, concurrently with them (ROLEX,
 * asynchronous retraining). Its verbs are counted with the compute server's.
 */
final class Retrainer extends HostedTask<RolexContext, Retraining> {
  private final RetrainQueue queue;
  private final long[] due = new long[1];

  /**
   * Creates a retrainer that has opened nothing yet.
   *
   * @param number number of the retrainer at its compute server
   */
  Retrainer(RolexServer server, RetrainQueue queue, Fabric fabric, int number) {
    super(
        server,
        fabric,
        "pando-retrainer-" + server.number + "-" + number,
        () -> RolexContext.ofRetrainer(server, fabric, number));
    this.queue = queue;
  }

  @Override
  protected Retraining open(RolexContext context) {
    return new Retraining(context);
  }

  /**
   * Retrains the first model of the queue. A failure leaves it as it was: it is due again when
   * another one is.
   */
  @Override
  protected boolean step() {
    boolean works = queue.take(due);
    if (works) {
      attempt(this::retrain);
    }
    return works;
  }

  private boolean retrain() {
    boolean replaced = opened().retrain(due[0]);
    if (replaced) {
      countDone();
    }
    return replaced;
  }
}
