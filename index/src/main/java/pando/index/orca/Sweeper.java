package pando.index.orca;

import pando.fabric.Fabric;
import pando.index.Unwritten;
import pando.index.host.HostedTask;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.records.RecordCache;
import pando.index.session.Marks;
import pando.index.session.WriteBack;

/** A background task that writes back what is changed in local memory alone before it is old. */
final class Sweeper extends HostedTask<OrcaContext, OrcaSweep> {
  final WriteBack writeBack;
  private final OrcaServer server;

  Sweeper(OrcaServer server, Fabric fabric) {
    super(server, fabric, "pando-sweeper-" + server.number, () -> new OrcaContext(server, fabric));
    this.server = server;
    this.writeBack =
        new WriteBack(server.options.writeBackNanos(), this::wake, this::wakeAfter, this::opened);
    server.records.newer().onSet(writeBack::note);
    server.directory.entries().unmerged().onSet(writeBack::note);
  }

  @Override
  protected OrcaSweep open(OrcaContext context) {
    return server.sweep(context);
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
    long bytes = unwrittenBytes();
    return bytes == 0 ? Unwritten.NONE : new Unwritten(bytes, writeBack.ageNanosMax());
  }

  private long unwrittenBytes() {
    RecordCache records = server.records;
    LeafEntries entries = server.directory.entries();
    long unwritten = 0;
    Marks buckets = records.newer();
    for (long next = buckets.next(0); next != Marks.NONE; next = buckets.next(next + 1)) {
      long bucket = next * RecordCache.BUCKET_BYTES;
      unwritten += records.has(bucket) ? records.waysDirty(bucket) : 0;
    }
    Marks leaves = entries.unmerged();
    for (long next = leaves.next(0); next != Marks.NONE; next = leaves.next(next + 1)) {
      int delta = LeafEntries.delta(entries.version((int) next));
      unwritten += delta == 0 ? 0 : server.deltas.count(delta);
    }
    return unwritten * Deltas.ENTRY_BYTES;
  }
}
