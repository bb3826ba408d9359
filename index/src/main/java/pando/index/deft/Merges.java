package pando.index.deft;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.cache.Children;
import pando.index.pool.Catalogue;

/** Merges nodes that removals have left nearly empty, and gives their memory back. */
final class Merges {
  /*
   * Two neighbours become the left one, under the exclusive locks of both and of the node above that
   * knows both. They are taken without waiting, as whoever holds one lock may be waiting for another;
   * where one is taken, the merge is left to a later removal.
   *
   * The left node is written first, then the node above without the right one, then the right one,
   * empty and hidden, and only then is any lock let go. Until then, a reader who comes to the right
   * node by an old pointer finds in it what is in the left one, too. Afterwards he finds that he went
   * astray; and so he does when the place holds another node.
   *
   * A node whose sibling is not yet known above is no neighbour of the next one that is: siblings
   * tell.
   */

  /** One in so many removals below the threshold tries, so that none tries in vain each time. */
  private static final int STEP = 4;

  private static final int WRITES_MAX = 100;

  private final DeftServer server;
  private final LeafLayout leaves;
  private final InnerLayout inners;
  private final Nodes nodes;
  private final NodeLocks locks;
  private final Descent descent;
  private final Splits splits;
  private final Catalogue catalogue;
  private final Worker worker;
  private final MemorySegment memory;
  private final long left;
  private final long right;
  private final long parent;
  private final long message;
  private final VerbList list = new VerbList();
  private final long[] keys;
  private final long[] values;

  /** Those of the node above. */
  private final Children children;

  /** Those of two inner nodes that become one. */
  private final Children joined;

  private final Children added;

  Merges(DeftContext context, Descent descent, Splits splits) {
    this.server = context.server;
    this.leaves = server.leaves;
    this.inners = server.inners;
    this.nodes = context.nodes;
    this.locks = context.locks;
    this.descent = descent;
    this.splits = splits;
    this.catalogue = context.catalogue;
    this.worker = context.worker;
    this.memory = context.memory;
    this.left = context.leaf;
    this.right = context.sibling;
    this.parent = context.parent;
    this.message = context.message;
    this.keys = new long[leaves.capacity()];
    this.values = new long[leaves.capacity()];
    this.children = new Children(inners.capacity());
    this.joined = new Children(2 * inners.capacity());
    this.added = new Children(inners.capacity());
  }

  /** Tells whether a leaf with so few entries should look for a neighbour. */
  boolean isDue(int entries) {
    return entries < leaves.capacity() * server.options.mergeShare() && entries % STEP == 0;
  }

  /** Merges the node of a level that covers a key with a neighbour, if that can be done now. */
  void merge(long key, int level) {
    if (!descent.find(key, level + 1) || !locks.tryExclusive(descent.node)) {
      return;
    }
    long above = descent.node;
    if (nodes.readHeld(above, level + 1, key, parent) != Nodes.COVERS) {
      locks.unlock(above);
      return;
    }
    copyChildren(parent, children);
    int index = children.childOf(key);
    boolean merged = mergeWithNext(index, level) || mergeWithNext(index - 1, level);
    if (merged && children.count == 1 && lowerRoot(above, level + 1)) {
      return;
    }
    long low = NodeHeader.low(memory, parent);
    locks.unlock(above);
    if (!merged) {
      return;
    }
    splits.refresh(level + 1, low, above);
    if (children.count <= inners.capacity() * server.options.mergeShare()) {
      merge(key, level + 1);
    }
  }

  private void copyChildren(long node, Children copy) {
    long low = NodeHeader.low(memory, node);
    long high = NodeHeader.high(memory, node);
    inners.copyChildren(memory, node, Shape.WHOLE, 0, low, high, copy);
  }

  /** Merges a child of the node above, whose lock is held, with the one after it. */
  private boolean mergeWithNext(int index, int level) {
    if (index < 0 || index + 1 >= children.count) {
      return false;
    }
    long leftAddress = ChildPointer.address(children.pointers[index]);
    long rightAddress = ChildPointer.address(children.pointers[index + 1]);
    if (!locks.tryExclusive(leftAddress)) {
      return false;
    }
    if (!locks.tryExclusive(rightAddress)) {
      locks.unlock(leftAddress);
      return false;
    }
    boolean fits =
        nodes.readHeld(leftAddress, level, children.keys[index], left) == Nodes.COVERS
            && nodes.readHeld(rightAddress, level, children.keys[index + 1], right) == Nodes.COVERS
            && NodeHeader.sibling(memory, left) == rightAddress
            && (level == 0 ? joinLeaves() : joinInners(index));
    if (fits) {
      writeAll(index);
    }
    locks.unlock(rightAddress);
    locks.unlock(leftAddress);
    if (fits) {
      server.allocator.free(worker, message, rightAddress);
    }
    return fits;
  }

  /** Moves everything from the right leaf into the left one; {@code false} where it is too much. */
  private boolean joinLeaves() {
    int most = (int) (leaves.capacity() * server.options.mergedShare());
    if (leaves.entries(memory, left) + leaves.entries(memory, right) > most) {
      return false;
    }
    int count = leaves.copySorted(memory, right, Long.MIN_VALUE, Long.MAX_VALUE, keys, values);
    for (int i = 0; i < count; i++) {
      if (!leaves.add(memory, left, keys[i], values[i])) {
        return false;
      }
    }
    takeFences();
    leaves.seal(memory, left, server.nextStamp(), false);
    leaves.clearEntries(memory, right);
    leaves.seal(memory, right, server.nextStamp(), true);
    return true;
  }

  /** Moves the children of the right node into the left one, the child above of that index. */
  private boolean joinInners(int index) {
    copyChildren(left, joined);
    copyChildren(right, added);
    if (joined.count + added.count > inners.capacity() * server.options.mergedShare()) {
      return false;
    }
    for (int i = 0; i < added.count; i++) {
      InnerLayout.insert(joined, added.keys[i], added.pointers[i]);
    }
    takeFences();
    children.pointers[index] = inners.arrange(memory, left, joined, 0, joined.count);
    InnerLayout.setHidden(memory, right, true);
    return true;
  }

  private void takeFences() {
    NodeHeader.setFences(
        memory, left, NodeHeader.low(memory, left), NodeHeader.high(memory, right));
    NodeHeader.setSibling(memory, left, NodeHeader.sibling(memory, right));
  }

  private void writeAll(int index) {
    int after = children.count - index - 2;
    System.arraycopy(children.keys, index + 2, children.keys, index + 1, after);
    System.arraycopy(children.pointers, index + 2, children.pointers, index + 1, after);
    children.count--;
    inners.arrange(memory, parent, children, 0, children.count);
    writeSurely(left);
    writeSurely(parent);
    writeSurely(right);
  }

  /**
   * Writes a node, again and again where that fails. A merge that stops half-way would leave two
   * nodes with the same keys; where it has to, the locks stay held, so that nobody uses them.
   */
  private void writeSurely(long node) {
    PandoException failure = null;
    for (int attempt = 0; attempt < WRITES_MAX; attempt++) {
      try {
        nodes.addWrite(list.clear(), node);
        worker.post(list);
        return;
      } catch (PandoException e) {
        failure = e;
        worker.backoff().pauseBriefly(attempt);
      }
    }
    throw stoppedHalfWay(node, failure);
  }

  private StalledException stoppedHalfWay(long node, @Nullable PandoException failure) {
    locks.keep();
    return new StalledException(
        "a merge stopped half-way, and keeps its nodes locked: node="
            + GlobalAddress.toString(NodeHeader.address(memory, node))
            + ", because="
            + failure);
  }

  /** Makes the only child of a locked node the root, if the node is the root; frees the node. */
  private boolean lowerRoot(long node, int level) {
    // Whoever has split it may be about to make its sibling known above.
    if (level < 2 || NodeHeader.sibling(memory, parent) != GlobalAddress.NULL) {
      return false;
    }
    long root = catalogue.root();
    long child = ChildPointer.address(children.pointers[0]);
    if (Catalogue.rootAddress(root) != node || !replaceRootSurely(root, child, level - 1)) {
      return false;
    }
    InnerLayout.setHidden(memory, parent, true);
    writeSurely(parent);
    locks.unlock(node);
    server.setRoot(0, worker.backoff());
    server.allocator.free(worker, message, node);
    return true;
  }

  /** Replaces the root, again and again where that fails: nobody may use what is no longer one. */
  private boolean replaceRootSurely(long root, long child, int level) {
    PandoException failure = null;
    for (int attempt = 0; attempt < WRITES_MAX; attempt++) {
      try {
        // Nobody else replaces a root that is locked and has no sibling: then it was us.
        return catalogue.replaceRoot(root, child, level) || attempt > 0;
      } catch (PandoException e) {
        failure = e;
        worker.backoff().pauseBriefly(attempt);
      }
    }
    throw stoppedHalfWay(parent, failure);
  }
}
