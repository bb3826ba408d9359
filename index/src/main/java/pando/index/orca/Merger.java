package pando.index.orca;

import pando.index.host.HostedServer;
import pando.index.host.HostedTask;
import pando.index.orca.delta.Deltas;

/** One of a compute server's background tasks that merge one leaf after the other. */
final class Merger extends HostedTask<OrcaContext, OrcaMerges> {
  /** Leaves that a step merges at most: pausing the task waits for them. */
  private static final int LEAVES = 4;

  private final Deltas deltas;
  private final MergeRelief relief;
  private final Runnable next;

  /**
   * Creates a task that rests.
   *
   * @param number of the task
   * @param next wakes the next one
   */
  Merger(HostedServer server, OrcaStore store, int number, Runnable next) {
    super(
        server,
        store.fabric,
        "pando-merger-" + store.number + "-" + number,
        () -> new OrcaContext(store));
    this.deltas = store.deltas;
    this.relief = store.relief;
    this.next = next;
  }

  /** Goes on, and lets sessions wake the tasks again: a wake during the pause had no effect. */
  @Override
  public void resume() {
    super.resume();
    relief.rest();
  }

  @Override
  protected OrcaMerges open(OrcaContext context) {
    return new OrcaMerges(context);
  }

  /**
   * Merges some leaves until memory for deltas is eased, so that the tasks are woken less often.
   */
  @Override
  protected boolean step() {
    int leaves = 0;
    while (leaves < LEAVES && !deltas.isEased() && attempt(this::merge)) {
      leaves++;
    }
    if (deltas.isNearlyShort()) {
      next.run();
    } else {
      relief.rest();
    }
    return leaves > 0;
  }

  private boolean merge() {
    boolean found = opened().mergeFullest();
    if (found) {
      countDone();
    }
    return found;
  }
}
