package pando.index.orca;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.index.Partitioning;
import pando.index.host.Replaced;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.directory.LeafPointer;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.space.ExtentAllocator;
import pando.index.pool.Catalogue;
import pando.index.pool.PoolChange;

/** An index of ORCA without entries, which a bulk load replaces. */
final class OrcaReplaced implements Replaced {
  private final PoolChange change;
  private final Partitioning partitioning;
  private final List<OrcaServer> servers;
  private final int memoryServers;
  private final int regionBytes;
  private final List<Extent> extents = new ArrayList<>();

  private record Extent(int range, long address, int bytes) {
    int units() {
      return (bytes + LeafLayout.UNIT_BYTES - 1) / LeafLayout.UNIT_BYTES;
    }
  }

  /**
   * Creates an object that knows nothing of the index yet.
   *
   * @param partitioning of the index that is replaced
   * @param servers compute servers in this process, at least one
   */
  OrcaReplaced(
      PoolChange change,
      Partitioning partitioning,
      List<OrcaServer> servers,
      int memoryServers,
      int regionBytes) {
    this.change = change;
    this.partitioning = partitioning;
    this.servers = servers;
    this.memoryServers = memoryServers;
    this.regionBytes = regionBytes;
  }

  @Override
  public void check(long root) {
    // What they do not use may be what the load needs.
    servers.forEach(server -> server.trim(change.worker(), change.message()));
    long table = Catalogue.rootAddress(root);
    extents.add(new Extent(0, table, RootTable.BYTES));
    servers.getFirst().withContext(context -> check(table, context));
  }

  private void check(long table, OrcaContext context) {
    TreeReader reader = new TreeReader(context);
    OrcaRoots roots = new OrcaRoots(context, table);
    roots.read();
    for (int range = 0; range < partitioning.servers(); range++) {
      int each = range;
      List<RangeTree> trees =
          roots.trees(
              partitioning.ownerOfRange(range),
              partitioning.lowOfRange(range),
              partitioning.highOfRange(range),
              partitioning.epoch(),
              true);
      for (RangeTree tree : trees) {
        List<List<TreeReader.Page>> levels =
            reader.read(
                tree,
                (pointer, header) ->
                    addLeaf(each, pointer, LeafLayout.records(context.memory, header)));
        levels.forEach(pages ->
            pages.forEach(
                page -> extents.add(new Extent(each, page.address(), DirectoryPage.BYTES))));
      }
    }
  }

  private void addLeaf(int range, long pointer, int records) {
    long address = LeafPointer.address(pointer);
    if (records > 0) {
      throw new IllegalStateException(
          "the index is not empty: leaf="
              + GlobalAddress.toString(address)
              + ", records="
              + records);
    }
    extents.add(new Extent(range, address, LeafLayout.bytes(LeafPointer.segments(pointer))));
  }

  @Override
  public void free() {
    // The space of compute servers in other processes, which have not joined yet.
    ExtentAllocator others = new ExtentAllocator(memoryServers, regionBytes);
    for (Extent extent : extents) {
      OrcaServer owner = owner(extent.range);
      if (owner == null) {
        others.claim(extent.address, extent.units());
      }
    }
    for (Extent extent : extents) {
      OrcaServer owner = owner(extent.range);
      ExtentAllocator space = owner == null ? others : owner.store.space.extents();
      space.free(change.worker(), change.message(), extent.address, extent.units());
    }
    others.trim(change.worker(), change.message());
  }

  private @Nullable OrcaServer owner(int range) {
    for (OrcaServer server : servers) {
      if (server.number == partitioning.ownerOfRange(range)) {
        return server;
      }
    }
    return null;
  }
}
