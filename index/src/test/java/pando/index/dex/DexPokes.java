package pando.index.dex;

import pando.fabric.Fabric;
import pando.fabric.Worker;
import pando.index.NodePokes;
import pando.index.dex.node.NodeLayout;
import pando.index.pool.Catalogue;

/** Reads and damages DEX's nodes. */
public final class DexPokes extends NodePokes {
  private final NodeLayout layout;
  private final NodeGuard guard;
  private final int systemNumber;

  /** Place of a key, which is that of a number. */
  private final long key;

  /** Opens a pool. */
  public DexPokes(Fabric fabric, DexOptions options) {
    super(fabric, options.nodeBytes(), options.layout().keyBytes());
    this.layout = options.layout();
    this.systemNumber = options.systemNumber();
    this.key = (long) nodeBytes + Worker.CALL_BYTES_MAX;
    this.guard = new NodeGuard(fabric, layout);
  }

  @Override
  public long[] path(long number) {
    long root = new Catalogue(worker, nodeBytes, guard.places(), systemNumber).root();
    long wanted = layout.make(memory, number, number, key);
    int level = Catalogue.rootLevel(root);
    long[] path = new long[level + 1];
    path[level] = Catalogue.rootAddress(root);
    for (; level > 0; level--) {
      peek(path[level]);
      int index = layout.floor(memory, 0, wanted);
      path[level - 1] = layout.slot(memory, 0, index);
    }
    return path;
  }

  @Override
  protected void seal() {
    layout.seal(memory, 0);
  }

  @Override
  public long low(long address) {
    peek(address);
    return layout.first(memory, layout.low(memory, 0));
  }

  @Override
  public long high(long address) {
    peek(address);
    return layout.first(memory, layout.high(memory, 0));
  }

  @Override
  public int image() {
    return NodeLayout.IMAGE;
  }

  @Override
  public int slotAt(int index) {
    int fences = layout.keyWords() > 1 ? 2 * layout.keyBytes() : 0;
    int keys = layout.capacity() * layout.keyBytes();
    return NodeLayout.HEADER_BYTES + fences + keys + index * Long.BYTES;
  }
}
