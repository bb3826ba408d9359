package pando.index.deft;

import java.lang.foreign.MemorySegment;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.blink.BLinkDescent;

/**
 * The way down a tree of DEFT: of a node to which a pointer leads, the one part is READ that knows
 * the key. The shape and version of the root and of a sibling stand in no pointer: they are READ as
 * a whole.
 */
final class Descent extends BLinkDescent {
  private final DeftServer server;
  private final Nodes nodes;
  private final NodeLocks locks;
  private final Worker worker;
  private final MemorySegment memory;
  private final VerbList reads = new VerbList();

  Descent(DeftContext context) {
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
    int part = Shape.partOf(shape, low, key);
    counters.innerReads++;
    if (nodes.readPart(pointer, part, buffer)) {
      server.inners.copyChildren(memory, buffer, shape, part, low, high, children);
      return areSound(key) ? Nodes.COVERS : Nodes.STALE;
    }
    return isGuided() ? Nodes.STALE : super.readChildren(key);
  }

  /** Returns whether the children of a part can be followed; the whole node would tell more. */
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
    if (outcome != Nodes.TORN) {
      return outcome;
    }
    // No hold-and-wait: a session that holds a lock starts again instead.
    return locks.areHeld() ? readUnlessLocked(key) : readLocked(key);
  }

  private int readUnlessLocked(long key) {
    if (!tryLock()) {
      return Nodes.STALE;
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
  protected void copyChildren() {
    nodes.copyChildren(buffer, children);
  }

  @Override
  protected int lockAndRead(int wanted, long key, long target) {
    reads.clear().read(node, target, server.inners.nodeBytes());
    if (!locks.lockExclusive(node, reads)) {
      worker.post(reads);
    }
    return nodes.checkHeld(node, wanted, key, target);
  }

  @Override
  protected boolean tryLock() {
    return locks.tryExclusive(node);
  }
}
