package pando.index.orca;

import pando.fabric.Fabric;
import pando.index.host.HostedTask;

/** One of the {@link Mergers}: a background task that merges one leaf after the other. */
final class Merger extends HostedTask<OrcaContext, OrcaMerges> {
  /** Leaves that a step merges at most: pausing the task waits for them. */
  private static final int LEAVES = 4;

  private final OrcaServer server;
  private final int number;

  Merger(OrcaServer server, Fabric fabric, int number) {
    super(
        server,
        fabric,
        "pando-merger-" + server.number + "-" + number,
        () -> new OrcaContext(server, fabric));
    this.server = server;
    this.number = number;
  }

  /** Goes on, and lets sessions wake the tasks again: a wake during the pause had no effect. */
  @Override
  public void resume() {
    super.resume();
    server.mergers.rest();
  }

  @Override
  protected OrcaMerges open(OrcaContext context) {
    return new OrcaMerges(context);
  }

  /** Merges some leaves if memory for deltas is nearly short. */
  @Override
  protected boolean step() {
    int leaves = 0;
    while (leaves < LEAVES && server.deltas.isNearlyShort() && attempt(this::merge)) {
      leaves++;
    }
    if (server.deltas.isNearlyShort()) {
      server.mergers.wake(number + 1);
    } else {
      server.mergers.rest();
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
