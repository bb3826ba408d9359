package pando.baselines.sherman;

import pando.baselines.lock.LockTables;
import pando.fabric.Fabric;
import pando.fabric.memory.Words;
import pando.index.NodePokes;
import pando.index.pool.Catalogue;
import pando.index.pool.NodePlaces;

/** Reads and damages nodes of a B-link tree, and their locks. */
public final class ShermanPokes extends NodePokes {
  private final BLinkLayout layout;
  private final Catalogue catalogue;
  private final LockTables locks;

  /** Opens a pool. */
  public ShermanPokes(Fabric fabric, ShermanOptions options) {
    super(fabric, options.nodeBytes(), 0);
    this.layout = new BLinkLayout(nodeBytes);
    ShermanValidation validation = ShermanIndex.resolve(fabric, options);
    this.catalogue =
        new Catalogue(
            worker,
            nodeBytes,
            new NodePlaces(fabric, nodeBytes),
            ShermanServer.system(options, validation));
    this.locks = new LockTables(fabric, options.locks(validation));
  }

  @Override
  public long[] path(long key) {
    long root = catalogue.root();
    int level = Catalogue.rootLevel(root);
    long[] path = new long[level + 1];
    path[level] = Catalogue.rootAddress(root);
    for (; level > 0; level--) {
      peek(path[level]);
      path[level - 1] = BLinkLayout.slot(memory, 0, layout.childOf(memory, 0, key));
    }
    return path;
  }

  @Override
  protected void seal() {
    BLinkLayout.setChecksum(memory, 0, layout.computeChecksum(memory, 0));
  }

  @Override
  public long low(long address) {
    peek(address);
    return BLinkLayout.low(memory, 0);
  }

  @Override
  public long high(long address) {
    peek(address);
    return BLinkLayout.high(memory, 0);
  }

  @Override
  public int image() {
    return BLinkLayout.IMAGE;
  }

  @Override
  public int slotAt(int index) {
    return BLinkLayout.position(index) + 1 + Long.BYTES;
  }

  /** Returns a name of the lock of a node. */
  long lockOf(long address) {
    return locks.lockOf(address);
  }

  /** Has somebody hold the lock of a node; nobody, if it is 0. */
  void setLock(long address, long holder) {
    long lock = locks.lockOf(address);
    long word = locks.wordOf(lock);
    int shift = locks.shiftOf(lock);
    worker.read(word, 0, Long.BYTES);
    long others = Words.get(memory, 0) & ~(LockTables.LOCK_MASK << shift);
    Words.set(memory, 0, others | (holder << shift));
    worker.write(word, 0, Long.BYTES);
  }
}
