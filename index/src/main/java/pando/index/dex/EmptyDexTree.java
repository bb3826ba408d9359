package pando.index.dex;

import java.util.List;
import pando.index.host.Replaced;
import pando.index.pool.PoolChange;

/** The tree without entries that a bulk load replaces. */
final class EmptyDexTree implements Replaced {
  private final PoolChange change;
  private final Topology topology;
  private final DexServer server;
  private List<Long> nodes = List.of();

  /**
   * Creates an object that knows no tree yet.
   *
   * @param server receives the freed nodes
   */
  EmptyDexTree(PoolChange change, Topology topology, DexServer server) {
    this.change = change;
    this.topology = topology;
    this.server = server;
  }

  @Override
  public void check(long root) {
    nodes = topology.nodesOfEmptyTree(root);
  }

  @Override
  public void free() {
    for (long address : nodes) {
      server.allocator.free(change.worker(), change.message(), address);
    }
  }
}
