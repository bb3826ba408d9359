package pando.index.bytes;

import java.util.Collections;
import java.util.Iterator;
import pando.index.session.Sweep;

/** Merges blocks with their changes, and then writes the labels that have other words since. */
final class BlockSweep extends Sweep {
  /** Blocks that a step merges at most. */
  private static final int BLOCKS = 4;

  private final ByteIndex index;
  private final BlockChanges changes;

  /** Blocks that are left. Those that had changes when the walk began are among them. */
  private Iterator<BlockEntry> left = Collections.emptyIterator();

  /** Whether the labels come once the blocks are done: once, even if they cannot be written. */
  private boolean labelsDue;

  /** Creates a walk by what a session has, which does nothing else meanwhile. */
  BlockSweep(ByteIndex index, BlockSession session) {
    super(index.writeBack, session.reader.blobs.worker(), session.reader.pass);
    this.index = index;
    this.changes = session.changes;
  }

  @Override
  protected void rewind() {
    left = index.unwritten.iterator();
    labelsDue = true;
  }

  @Override
  protected boolean write() {
    for (int i = 0; i < BLOCKS && left.hasNext(); i++) {
      if (!changes.tryMerge(left.next())) {
        leaveOut();
      }
    }
    if (left.hasNext()) {
      return true;
    }
    if (labelsDue) {
      labelsDue = false;
      if (!changes.settleSuperseded()) {
        leaveOut();
      }
    }
    return false;
  }
}
