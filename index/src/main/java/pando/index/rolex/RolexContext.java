package pando.index.rolex;

import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.Worker;
import pando.index.lock.LockTables;
import pando.index.lock.NodeLocks;

/**
 * What the parts of one worker share, a session's or a retrainer's: verbs, locks, and places in
 * local memory.
 */
final class RolexContext implements AutoCloseable {
  private static final int ATTEMPTS_MAX = 100;

  final RolexServer server;
  final Worker worker;
  final MemorySegment memory;
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

  /** Where there is room for the message of a CALL. */
  final long message;

  private final int session;
  private final RegisteredMemory registered;

  private RolexContext(RolexServer server, Fabric fabric, int session) {
    this.server = server;
    this.session = session;
    long leafBytes = server.leaves.bytes();
    long ofChains = RunLayout.LEAVES_MAX * leafBytes;
    this.leaves = 0;
    this.leaf = ofChains + Chains.leavesOfScratch() * leafBytes;
    this.run = leaf + leafBytes;
    long ofPages = run + server.runs.bytes(server.options.leavesMax());
    this.words = ofPages + server.pages.pageBytes();
    long ofLocks = words + 2 * Long.BYTES;
    this.message = ofLocks + NodeLocks.SCRATCH_BYTES;
    this.registered = fabric.register(message + Worker.CALL_BYTES_MAX);
    this.worker = fabric.worker(registered);
    this.memory = worker.memory();
    this.locks =
        new NodeLocks(server.locks, server.lockOptions, server.number, session, worker, ofLocks);
    this.pages = new ModelPages(server, worker, ofPages, message);
    this.modelLocks =
        server.options.writesByCall()
            ? new FrozenModelLocks(server, locks, pages, worker, message, owner(server, session))
            : new OnChipModelLocks(locks, worker);
    this.chains = new Chains(server, worker, ofChains);
  }

  private static long owner(RolexServer server, int session) {
    return ((server.number + 1L) << LockTables.SESSION_BITS) | session;
  }

  /**
   * Opens a part at a compute server.
   *
   * @throws IllegalStateException where the server has as many sessions as it can have
   */
  static RolexContext open(RolexServer server, Fabric fabric) {
    int session = server.openSession();
    boolean opened = false;
    try {
      RolexContext context = new RolexContext(server, fabric, session);
      opened = true;
      return context;
    } finally {
      if (!opened) {
        server.closeSession(session);
      }
    }
  }

  /** Opens the part of a retrainer, whose number no session can have. */
  static RolexContext ofRetrainer(RolexServer server, Fabric fabric, int retrainer) {
    return new RolexContext(server, fabric, RolexOptions.SESSIONS_MAX + retrainer);
  }

  /** Locks what nobody knows yet; another may hold its lock for something else, for a moment. */
  void lockNew(long address, BooleanSupplier tryLock) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      if (tryLock.getAsBoolean()) {
        return;
      }
      worker.backoff().pauseBriefly(attempt);
    }
    throw new StalledException(
        "the lock of a new run or page stayed taken: address="
            + GlobalAddress.toString(address)
            + ", attempts="
            + ATTEMPTS_MAX);
  }

  @Override
  public void close() {
    server.closeSession(session);
    worker.close();
    registered.close();
  }
}
