package pando.baselines.deft;

import java.lang.foreign.MemorySegment;
import pando.baselines.blink.BLinkDescent;
import pando.fabric.VerbList;
import pando.fabric.Worker;

/**
 * The descent in DEFT's tree. A node that is reached by a pointer is READ only in the part that has
 * the key. The root and siblings are READ as a whole, as no pointer has their shape and version.
 */
final class DeftDescent extends BLinkDescent {
  private static final int RESTARTS_TO_A_LOOK = 64;

  private final DeftServer server;
  private final DeftNodes nodes;
  private final DeftNodeLocks locks;
  private final Worker worker;
  private final MemorySegment memory;
  private final VerbList reads = new VerbList();

  DeftDescent(DeftContext context) {
    super(context, context.server.inners.capacity(), context.server.options.caching());
    this.server = context.server;
    this.nodes = context.nodes;
    this.locks = context.locks;
    this.worker = context.worker;
    this.memory = context.memory;
  }

  @Override
  protected long addressOf(long to) {
    return ChildPointer.address(to);
  }

  @Override
  protected int readChildren(long key) {
    if (pointer == NONE) {
      return super.readChildren(key);
    }
    int shape = ChildPointer.shape(pointer);
    int part = DeftShape.partOf(shape, low, key);
    counters.innerReads++;
    if (nodes.readPart(pointer, part, buffer)) {
      server.inners.copyChildren(memory, buffer, shape, part, low, high, children);
      return areSound(key) ? DeftNodes.COVERS : DeftNodes.STALE;
    }
    return isGuided() ? DeftNodes.STALE : super.readChildren(key);
  }

  /**
   * Returns whether the pointers of a part can be followed. This checks less than a READ of the
   * whole node does.
   */
  private boolean areSound(long key) {
    if (children.count == 0 || children.keys[0] > key) {
      return false;
    }
    for (int i = 0; i < children.count; i++) {
      if (!nodes.isChild(children.pointers[i])) {
        return false;
      }
    }
    return true;
  }

  @Override
  protected int read(long key) {
    int outcome = nodes.readInner(node, level, key, buffer);
    if (outcome != DeftNodes.TORN) {
      return outcome;
    }
    // No hold-and-wait: a session that holds a lock does not wait for this one.
    return locks.areHeld() ? readUnlessLocked(key) : readLocked(key);
  }

  private int readUnlessLocked(long key) {
    if (!tryLock()) {
      return DeftNodes.STALE;
    }
    int outcome = nodes.readHeld(node, level, key, buffer);
    locks.unlock(node);
    return outcome;
  }

  private int readLocked(long key) {
    int outcome = lockAndRead(level, key, buffer);
    locks.unlock(node);
    return outcome;
  }

  @Override
  protected int lockAndRead(int wanted, long key, long target) {
    reads.clear().read(node, target, server.inners.nodeBytes());
    if (!locks.lockExclusive(node, reads)) {
      worker.post(reads);
    }
    return nodes.checkHeld(node, wanted, key, target);
  }

  /** {@inheritDoc} Rests if a drain mends what a dead process left half done. */
  @Override
  protected void beforeRestart(int attempt) {
    if (attempt % RESTARTS_TO_A_LOOK == 0) {
      server.drains.wake();
    }
    if (!locks.areHeld() && locks.isRestAsked()) {
      locks.rest();
    }
  }

  @Override
  protected boolean tryLock() {
    return locks.tryExclusive(node);
  }
}
