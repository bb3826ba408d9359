package pando.index.sherman;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.index.CorruptNodeException;
import pando.index.pool.Catalogue;
import pando.index.pool.NodePlaces;
import pando.index.pool.PoolChange;

/** A change of a B-link tree as a whole. */
final class Topology extends PoolChange {
  private static final long NODE = 0;

  private final BLinkLayout layout;
  private final Validation validation;
  private final MemorySegment memory;

  /**
   * Prepares a change.
   *
   * @param totals takes the verbs at the end
   */
  Topology(Fabric fabric, ShermanOptions options, Validation validation, Totals totals) {
    super(
        fabric,
        options.nodeBytes(),
        new NodePlaces(fabric, options.nodeBytes()),
        ShermanServer.system(options, validation),
        totals::add);
    this.layout = new BLinkLayout(options.nodeBytes());
    this.validation = validation;
    this.memory = worker().memory();
  }

  /**
   * Returns the nodes of a tree that has no entries.
   *
   * @throws IllegalStateException where it has some
   */
  List<Long> nodesOfEmptyTree(long root, ShermanServer server) {
    List<Long> addresses = new ArrayList<>();
    Nodes nodes = nodes(server);
    long first = Catalogue.rootAddress(root);
    for (int level = Catalogue.rootLevel(root); level >= 0; level--) {
      first = collectLevel(nodes, first, level, addresses);
    }
    return addresses;
  }

  /** Collects a level along its siblings; returns the first node of the level below. */
  private long collectLevel(Nodes nodes, long first, int level, List<Long> addresses) {
    long address = first;
    long low = Long.MIN_VALUE;
    long below = GlobalAddress.NULL;
    while (address != GlobalAddress.NULL) {
      if (nodes.readHeld(address, level, low, NODE) != Nodes.COVERS) {
        throw new CorruptNodeException(address, "is not the node that covers key=" + low);
      }
      if (level == 0 && layout.entries(memory, NODE) > 0) {
        throw new IllegalStateException(
            "the index is not empty: leaf=" + GlobalAddress.toString(address));
      }
      if (level > 0 && address == first) {
        below = BLinkLayout.slot(memory, NODE, 0);
      }
      addresses.add(address);
      low = BLinkLayout.high(memory, NODE) + 1;
      address = BLinkLayout.sibling(memory, NODE);
    }
    return below;
  }

  /** Frees nodes that nothing points to any more, but for old copies: those find them freed. */
  void free(List<Long> addresses, ShermanServer server) {
    Nodes nodes = nodes(server);
    for (long address : addresses) {
      worker().read(address + BLinkLayout.IMAGE, BLinkLayout.IMAGE, layout.imageBytes());
      BLinkLayout.free(memory, NODE);
      nodes.write(NODE);
      server.allocator.free(worker(), message(), address);
    }
  }

  /** Gives back what a compute server has allocated and does not use. */
  void trim(ShermanServer server) {
    server.allocator.trim(worker(), message());
  }

  private Nodes nodes(ShermanServer server) {
    return new Nodes(server, validation, worker(), message());
  }
}
