package pando.baselines.sherman;

import pando.baselines.blink.BLinkDescent;
import pando.baselines.lock.NodeLocks;

/** The descent in Sherman's tree, whose nodes are READ as a whole. */
final class ShermanDescent extends BLinkDescent {
  private final ShermanServer server;
  private final ShermanNodes nodes;
  private final NodeLocks locks;

  /** Whether the descent may wait for the lock of a node that READs find torn again and again. */
  private boolean mayWait = true;

  ShermanDescent(ShermanContext context) {
    super(context, context.layout.capacity(), true);
    this.server = context.server;
    this.nodes = context.nodes;
    this.locks = context.locks;
  }

  /** Returns whether only this compute server writes the node that was found. */
  boolean owned() {
    return server.owns(low, high);
  }

  /**
   * Finds the leaf of a key without waiting for a lock. For a session that holds other locks.
   *
   * @return {@code false} if the descent ended at an inner node that another session has locked
   */
  boolean findLeafAtOnce(long key) {
    mayWait = false;
    try {
      findLeaf(key);
    } finally {
      mayWait = true;
    }
    return level == 0;
  }

  @Override
  protected long addressOf(long to) {
    return to;
  }

  @Override
  protected int read(long key) {
    return nodes.read(locks, mayWait, node, level, key, owned(), buffer);
  }

  @Override
  protected int lockAndRead(int wanted, long key, long target) {
    return nodes.lockAndRead(locks, node, wanted, key, owned(), target);
  }

  @Override
  protected boolean tryLock() {
    return locks.tryLock(node, owned());
  }
}
