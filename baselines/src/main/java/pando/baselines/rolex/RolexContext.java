package pando.baselines.rolex;

import java.util.function.BooleanSupplier;
import pando.baselines.lock.LockTables;
import pando.baselines.lock.NodeLocks;
import pando.fabric.Fabric;
import pando.fabric.WaitLimit;
import pando.index.host.LocalMemory;
import pando.index.host.WorkerContext;

/**
 * What the parts of one worker share, a session's or a retrainer's: verbs, locks, and places in
 * local memory.
 */
final class RolexContext extends WorkerContext {

  final RolexServer server;
  final NodeLocks locks;
  final ModelLocks modelLocks;
  final ModelPages pages;
  final Chains chains;

  /** Where as many leaves as a run can have start side by side. */
  final long leaves;

  /** Where one leaf starts. */
  final long leaf;

  /** Where a whole run starts that is written. */
  final long run;

  /** Where two words start. */
  final long words;

  RolexContext(RolexServer server, Fabric fabric, int session) {
    LocalMemory local = new LocalMemory();
    long leafBytes = server.leaves.bytes();
    this.leaves = local.region(RunLayout.LEAVES_MAX * leafBytes);
    long ofChains = local.region(Chains.leavesOfScratch() * leafBytes);
    this.leaf = local.region(leafBytes);
    this.run = local.region(server.runs.bytes(server.options.leavesMax()));
    long ofPages = local.region(server.pages.pageBytes());
    this.words = local.region(2 * Long.BYTES);
    long ofLocks = local.region(NodeLocks.SCRATCH_BYTES);
    super(fabric, local);
    this.server = server;
    this.locks =
        new NodeLocks(server.locks, server.lockOptions, server.number, session, worker, ofLocks);
    this.pages = new ModelPages(server, worker, counters, ofPages, message);
    this.modelLocks =
        server.options.writesByCall()
            ? new FrozenModelLocks(server, locks, pages, worker, message, owner(server, session))
            : new OnChipModelLocks(locks, worker);
    this.chains = new Chains(server, worker, ofChains);
  }

  private static long owner(RolexServer server, int session) {
    return ((server.number + 1L) << LockTables.SESSION_BITS) | session;
  }

  @Override
  public void abandon(Throwable failure) {
    modelLocks.abandon(failure);
  }

  /** Opens the part of a retrainer, whose number no session can have. */
  static RolexContext ofRetrainer(RolexServer server, Fabric fabric, int retrainer) {
    return new RolexContext(server, fabric, RolexOptions.SESSIONS_MAX + retrainer);
  }

  /** Returns where one of the leaves that were read side by side starts in local memory. */
  long leaf(int number) {
    return leaves + (long) number * server.leaves.bytes();
  }

  /**
   * Locks a new run or page. Another session may hold the same lock briefly, for another address
   * that shares it.
   */
  void lockNew(long address, BooleanSupplier tryLock) {
    long start = 0;
    for (int attempt = 0; !tryLock.getAsBoolean(); attempt++) {
      String what = "the lock of a new run or page stayed taken: address";
      start = WaitLimit.SHORT.pauseBriefly(worker.backoff(), attempt, start, what, address);
    }
  }
}
