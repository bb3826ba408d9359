package pando.baselines.emt;

import java.util.Arrays;
import pando.fabric.Fabric;
import pando.index.NodePokes;
import pando.index.pool.Catalogue;
import pando.index.pool.NodePlaces;

/** Reads and damages the nodes of the trees of EMT-D, which have no checksum. */
public final class EmtPokes extends NodePokes {
  private final EmtNode layout;
  private final int memoryServers;
  private final NodePlaces places;
  private final Catalogue catalogue;

  /** Opens a pool. */
  public EmtPokes(Fabric fabric, EmtOptions options) {
    super(fabric, options.nodeBytes(), 0);
    this.layout = new EmtNode(nodeBytes);
    this.memoryServers = fabric.memoryServers();
    this.places = new NodePlaces(fabric, nodeBytes);
    this.catalogue = new Catalogue(worker, nodeBytes, places, EmtIndex.number());
  }

  /** Returns the addresses of the headers of all trees. */
  long[] trees() {
    Ranges ranges = ranges();
    long[] trees = new long[ranges.count()];
    Arrays.setAll(trees, ranges::tree);
    return trees;
  }

  private Ranges ranges() {
    long first = Catalogue.rootAddress(catalogue.root());
    return Ranges.read(first, places, memoryServers, worker, 0);
  }

  @Override
  public long[] path(long key) {
    Ranges ranges = ranges();
    worker.read(ranges.tree(ranges.find(key)), 0, EmtHeader.BYTES);
    long root = EmtHeader.get(memory, 0, EmtHeader.ROOT);
    long[] path = new long[EmtHeader.rootLevel(root) + 1];
    long address = EmtHeader.rootAddress(root);
    for (int level = path.length - 1; ; level--) {
      path[level] = address;
      if (level == 0) {
        return path;
      }
      worker.read(address, 0, nodeBytes);
      address = layout.value(memory, 0, EmtNode.floor(memory, 0, key));
    }
  }

  @Override
  public long low(long address) {
    worker.read(address, 0, nodeBytes);
    return EmtNode.low(memory, 0);
  }

  @Override
  public long high(long address) {
    worker.read(address, 0, nodeBytes);
    return EmtNode.high(memory, 0);
  }

  /** {@inheritDoc} Does nothing: nodes have no checksum. */
  @Override
  protected void seal() {}

  @Override
  public int slotAt(int index) {
    return layout.valueAt(index);
  }
}
