package pando.index.orca;

import java.util.function.Function;
import pando.fabric.Worker;
import pando.index.Unwritten;
import pando.index.host.HostedServer;
import pando.index.host.HostedTask;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.records.RecordCache;
import pando.index.session.Gate;
import pando.index.session.Marks;
import pando.index.session.WriteBack;

/** A background task that writes back what is changed in local memory alone before it is old. */
final class Sweeper extends HostedTask<OrcaContext, OrcaSweep> {
  private final WriteBack writeBack;
  private final RecordCache records;
  private final LeafEntries entries;
  private final Deltas deltas;
  private final Function<Worker, Gate.Pass> passes;

  /**
   * Creates a task that rests.
   *
   * @param passes makes a pass for its worker
   */
  Sweeper(HostedServer server, OrcaStore store, Function<Worker, Gate.Pass> passes) {
    super(server, store.fabric, "pando-sweeper-" + store.number, () -> new OrcaContext(store));
    this.records = store.records;
    this.entries = store.directory.entries();
    this.deltas = store.deltas;
    this.passes = passes;
    this.writeBack =
        new WriteBack(
            store.fabric.capabilities().keepsPool(),
            store.options.writeBackNanos(),
            this::wake,
            this::wakeAfter,
            this::opened);
    records.newer().onSet(writeBack::note);
    entries.unmerged().onSet(writeBack::note);
  }

  @Override
  protected OrcaSweep open(OrcaContext context) {
    return sweep(context, passes.apply(context.worker));
  }

  /** Makes a walk over what is unwritten, for one thread. */
  OrcaSweep sweep(OrcaContext context, Gate.Pass pass) {
    return new OrcaSweep(context, writeBack, pass);
  }

  /** Goes on: a wake during the pause had no effect. */
  @Override
  public void resume() {
    super.resume();
    writeBack.resume();
  }

  @Override
  protected boolean step() {
    return attempt(writeBack::step);
  }

  /** Returns what is in local memory alone: keys and values. */
  Unwritten unwritten() {
    return writeBack.unwritten(unwrittenBytes());
  }

  private long unwrittenBytes() {
    long unwritten = 0;
    Marks buckets = records.newer();
    for (long next = buckets.next(0); next != Marks.NONE; next = buckets.next(next + 1)) {
      long bucket = next * RecordCache.BUCKET_BYTES;
      unwritten += records.has(bucket) ? records.waysDirty(bucket) : 0;
    }
    Marks leaves = entries.unmerged();
    for (long next = leaves.next(0); next != Marks.NONE; next = leaves.next(next + 1)) {
      int delta = LeafEntries.delta(entries.version((int) next));
      unwritten += delta == 0 ? 0 : deltas.count(delta);
    }
    return unwritten * Deltas.ENTRY_BYTES;
  }
}
