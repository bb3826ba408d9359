package pando.baselines.deft;

import pando.baselines.blink.Children;
import pando.fabric.Fabric;
import pando.fabric.VerbList;
import pando.fabric.memory.Words;
import pando.index.NodePokes;
import pando.index.pool.Catalogue;
import pando.index.pool.NodePlaces;

/** Reads and damages nodes of a tree of DEFT. */
public final class DeftPokes extends NodePokes {
  private static final int FIRST_POINTER = 48;

  private final InnerLayout inners;
  private final Catalogue catalogue;
  private final LockWords locks;

  /** Opens a pool. */
  public DeftPokes(Fabric fabric, DeftOptions options) {
    super(fabric, options.nodeBytes(), 0);
    this.inners = new InnerLayout(nodeBytes, options.segments());
    this.locks = new LockWords(fabric);
    DeftValidation validation = DeftIndex.resolve(fabric, options);
    this.catalogue =
        new Catalogue(
            worker,
            nodeBytes,
            new NodePlaces(fabric, nodeBytes),
            DeftServer.system(options, validation));
  }

  @Override
  public long[] path(long key) {
    long root = catalogue.root();
    int level = Catalogue.rootLevel(root);
    long[] path = new long[level + 1];
    path[level] = Catalogue.rootAddress(root);
    Children children = new Children(inners.capacity());
    for (; level > 0; level--) {
      peek(path[level]);
      inners.copyChildren(memory, 0, DeftShape.WHOLE, 0, Long.MIN_VALUE, Long.MAX_VALUE, children);
      int child = children.count - 1;
      while (children.keys[child] > key) {
        child--;
      }
      path[level - 1] = ChildPointer.address(children.pointers[child]);
    }
    return path;
  }

  @Override
  protected void seal() {
    long sum = NodeHeader.computeChecksum(memory, 0, nodeBytes);
    NodeHeader.setChecksum(memory, 0, sum);
  }

  @Override
  public long low(long address) {
    peek(address);
    return NodeHeader.low(memory, 0);
  }

  @Override
  public long high(long address) {
    peek(address);
    return NodeHeader.high(memory, 0);
  }

  /**
   * Tells whether a ticket stays in a lock, by contract, where verbs posted together fail and the
   * session is not told: it cannot know whether the ticket was taken, or given back.
   *
   * @param done verbs that take effect
   */
  public static boolean leavesTicket(VerbList verbs, int done) {
    for (int i = 0; i < verbs.size(); i++) {
      boolean leaves =
          switch (verbs.kind(i)) {
            case MASKED_FAA -> i >= done && isReleasing(verbs.operand(i, 0));
            case CAS -> i < done && isTaking(verbs.operand(i, 1) - verbs.operand(i, 0));
            default -> false;
          };
      if (leaves) {
        return true;
      }
    }
    return false;
  }

  private static boolean isReleasing(long addend) {
    return addend == SxWord.LEAVE_SHARED || addend == SxWord.UPGRADE;
  }

  private static boolean isTaking(long difference) {
    return difference == SxWord.TAKE_EXCLUSIVE || difference == SxWord.UPGRADE;
  }

  /** Tells whether a place holds a leaf. */
  boolean isLeaf(long address) {
    peek(address);
    return NodeHeader.isLeaf(NodeHeader.first(memory, 0));
  }

  /** Returns the data version of an inner node. */
  int version(long address) {
    peek(address);
    return InnerLayout.version(NodeHeader.first(memory, 0));
  }

  /** Returns the address of the lock of a node. */
  long lockOf(long address) {
    return locks.wordOf(address);
  }

  /** Returns the lock of a node. */
  long lock(long address) {
    worker.read(lockOf(address), 0, Long.BYTES);
    return Words.get(memory, 0);
  }

  /** Sets the lock of a node. */
  void setLock(long address, long value) {
    Words.set(memory, 0, value);
    worker.write(lockOf(address), 0, Long.BYTES);
  }

  @Override
  public int slotAt(int index) {
    return FIRST_POINTER + index * 2 * Long.BYTES;
  }
}
