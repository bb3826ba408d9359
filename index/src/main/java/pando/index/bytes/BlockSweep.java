package pando.index.bytes;

import pando.index.session.Sweep;

/** Merges blocks with their changes, and then writes the labels that have other words since. */
final class BlockSweep extends Sweep {
  /** Blocks that a step merges at most. */
  private static final int BLOCKS = 4;

  private final ByteIndex index;
  private final BlockChanges changes;

  /** Blocks that are left. */
  private long left;

  /** What {@link ByteIndex#requeued} was when this walk began. */
  private long requeued;

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
    left = index.unwritten.size();
    requeued = index.requeued;
    labelsDue = true;
  }

  @Override
  protected boolean write() {
    for (int i = 0; i < BLOCKS && left > 0; i++) {
      left--;
      BlockEntry entry = index.unwritten.poll();
      if (entry == null) {
        left = 0;
      } else {
        entry.setQueued(false);
        merge(entry);
      }
    }
    if (left > 0) {
      return true;
    }
    if (index.requeued != requeued) {
      // Another walk may have put blocks of this one behind others that are new.
      leaveOut();
    }
    if (labelsDue) {
      labelsDue = false;
      if (!changes.settleSuperseded()) {
        leaveOut();
      }
    }
    return false;
  }

  private void merge(BlockEntry entry) {
    boolean merged = false;
    try {
      merged = changes.tryMerge(entry);
    } finally {
      if (!merged) {
        entry.setQueued(true);
        index.unwritten.add(entry);
        index.requeued++;
        leaveOut();
      }
    }
  }
}
