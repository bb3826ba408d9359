package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.index.host.HostedWorker;
import pando.index.session.Request;

/** One session's operations at one compute server of ROLEX. */
final class RolexWorker extends HostedWorker {
  private final MemorySegment memory;
  private final RolexLeaves leaves;
  private final Chains chains;
  private final Changes changes;
  private final RolexSize size;
  private final @Nullable CallWrites calls;

  RolexWorker(RolexServer server, RolexContext context, int session) {
    RolexLeaves found = new RolexLeaves(context);
    super(
        server,
        session,
        context,
        new RolexNeighbours(context, found),
        new RolexScans(context, found));
    this.memory = context.memory;
    this.chains = context.chains;
    this.leaves = found;
    this.changes = new Changes(context, leaves);
    this.size = new RolexSize(context);
    this.calls = server.options.writesByCall() ? new CallWrites(context, leaves) : null;
  }

  @Override
  protected double estimateSize(long low, long high) {
    return size.estimate();
  }

  @Override
  protected boolean get(long wanted) {
    for (int attempt = 0; ; attempt++) {
      if (leaves.read(wanted)) {
        LeafCursor holder = chains.find(leaves.leaf, wanted);
        if (chains.isWhole()) {
          return take(holder);
        }
      }
      if (!leaves.astray(wanted, attempt)) {
        return getLocked(wanted);
      }
    }
  }

  private boolean getLocked(long wanted) {
    leaves.lock(wanted);
    LeafCursor holder = chains.find(leaves.leaf, wanted);
    leaves.unlock();
    if (!chains.isWhole()) {
      throw chains.corrupt(wanted);
    }
    return take(holder);
  }

  private boolean take(@Nullable LeafCursor holder) {
    value = holder == null ? 0 : RolexLeafLayout.value(memory, holder.image, holder.index);
    return holder != null;
  }

  @Override
  protected boolean write(Request wanted) {
    changes.reset();
    return calls == null ? writeHere(wanted) : writeThere(calls, wanted);
  }

  private boolean writeThere(CallWrites there, Request wanted) {
    boolean found = there.write(wanted);
    value = there.before();
    return found;
  }

  private boolean writeHere(Request wanted) {
    leaves.lock(wanted.key());
    boolean found = changes.write(wanted);
    value = changes.before();
    changes.retrainIfDue();
    return found;
  }

  @Override
  protected boolean mayHaveWritten() {
    return calls == null ? changes.hasBegun() : calls.isDone();
  }

  @Override
  protected void complete() {
    changes.mend();
  }
}
