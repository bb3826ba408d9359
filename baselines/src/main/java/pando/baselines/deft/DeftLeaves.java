package pando.baselines.deft;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.Worker;

/**
 * Reads or locks the leaf of a key, or the lines of it that can hold the key. Restarts if a descent
 * finds a wrong leaf.
 */
final class DeftLeaves {
  /** What to read of a leaf, and how to lock it. */
  enum Access {
    /** The lines that can hold the key, under a shared lock. */
    SHARED_PAIR,
    /** The lines that can hold the key, under the exclusive lock. */
    PAIR,
    /** The whole leaf, under the exclusive lock. */
    WHOLE
  }

  private final DeftLeafLayout layout;
  private final Worker worker;
  private final MemorySegment memory;
  private final DeftNodeLocks locks;
  private final DeftNodes nodes;
  private final DeftDescent descent;
  private final long leaf;
  private final int nodeBytes;
  private final VerbList reads = new VerbList();

  DeftLeaves(DeftContext context, DeftDescent descent) {
    this.layout = context.server.leaves;
    this.worker = context.worker;
    this.memory = context.memory;
    this.locks = context.locks;
    this.nodes = context.nodes;
    this.descent = descent;
    this.leaf = context.leaf;
    this.nodeBytes = context.server.inners.nodeBytes();
  }

  /**
   * Reads the lines that can hold a key; returns the index of the key's entry, -1 if there is none.
   */
  int read(long key) {
    for (int attempt = 0; attempt < DeftDescent.RESTARTS_MAX; attempt++) {
      descent.findLeaf(key);
      if (readCovering(key, attempt)) {
        return layout.find(memory, leaf, key);
      }
    }
    throw descent.noLeaf(key);
  }

  private boolean readCovering(long key, int attempt) {
    for (int hops = 0; hops < DeftDescent.HOPS_MAX; hops++) {
      int outcome = nodes.readPair(descent.node, key, leaf);
      if (outcome == DeftNodes.TORN) {
        outcome = readLocked(key);
      }
      if (outcome == DeftNodes.COVERS) {
        return true;
      }
      if (outcome == DeftNodes.STALE || !goRight(key)) {
        break;
      }
    }
    descent.astray(attempt);
    return false;
  }

  /** Reads, under the lock, lines that all READs found torn or damaged. */
  private int readLocked(long key) {
    long node = descent.node;
    post(node, key, Access.PAIR);
    int outcome = nodes.checkPairHeld(node, key, leaf);
    locks.unlock(node);
    return outcome;
  }

  /**
   * Locks the leaf of a key and reads what {@code access} says. The leaf stays locked.
   *
   * @return the leaf's address
   */
  long lock(long key, Access access) {
    for (int attempt = 0; attempt < DeftDescent.RESTARTS_MAX; attempt++) {
      descent.findLeaf(key);
      if (lockCovering(key, access, attempt)) {
        return descent.node;
      }
    }
    throw descent.noLeaf(key);
  }

  private boolean lockCovering(long key, Access access, int attempt) {
    for (int hops = 0; hops < DeftDescent.HOPS_MAX; hops++) {
      long node = descent.node;
      post(node, key, access);
      int outcome =
          access == Access.WHOLE
              ? nodes.checkHeld(node, 0, key, leaf)
              : nodes.checkPairHeld(node, key, leaf);
      if (outcome == DeftNodes.COVERS) {
        return true;
      }
      boolean right = outcome == DeftNodes.RIGHT && goRight(key);
      locks.unlock(node);
      if (!right) {
        break;
      }
    }
    descent.astray(attempt);
    return false;
  }

  /** Locks a leaf and then reads it; in one doorbell list, if the lock is free. */
  private void post(long node, long key, Access access) {
    prepare(node, key, access);
    boolean read =
        access == Access.SHARED_PAIR
            ? locks.lockShared(node, reads)
            : locks.lockExclusive(node, reads);
    if (!read) {
      worker.post(reads);
    }
  }

  private void prepare(long node, long key, Access access) {
    reads.clear();
    if (access == Access.WHOLE) {
      reads.read(node, leaf, nodeBytes);
    } else {
      nodes.addPair(reads, node, key, leaf);
    }
  }

  /**
   * Exchanges the shared lock of a leaf for an exclusive one, if it is not exclusive already, and
   * reads the whole leaf.
   *
   * @return whether the leaf still covers the key; the lock is held in any case
   */
  boolean upgrade(long node, long key) {
    prepare(node, key, Access.WHOLE);
    if (!locks.upgrade(node, reads)) {
      worker.post(reads);
    }
    return nodes.checkHeld(node, 0, key, leaf) == DeftNodes.COVERS;
  }

  /**
   * Goes on to the sibling of the leaf; returns {@code false} if the leaf has changed meanwhile.
   */
  private boolean goRight(long key) {
    long sibling = nodes.siblingOf(descent.node, key, leaf);
    if (sibling == GlobalAddress.NULL) {
      return false;
    }
    descent.right(sibling);
    return true;
  }
}
