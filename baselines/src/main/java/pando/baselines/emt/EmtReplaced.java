package pando.baselines.emt;

import pando.fabric.GlobalAddress;
import pando.fabric.memory.Words;
import pando.index.host.Replaced;
import pando.index.pool.Catalogue;
import pando.index.pool.PoolChange;

/** The trees without entries that a bulk load replaces. */
final class EmtReplaced implements Replaced {
  private final PoolChange change;
  private final EmtServer server;
  private final TreeNodes nodes;
  private Ranges ranges = Ranges.NONE;

  EmtReplaced(PoolChange change, EmtServer server) {
    this.change = change;
    this.server = server;
    this.nodes =
        new TreeNodes(
            server,
            new TreeCalls(server, change.worker(), change.message(), EmtServer.NO_SESSION));
  }

  @Override
  public void check(long root) {
    ranges =
        Ranges.read(
            Catalogue.rootAddress(root),
            server.places,
            server.memoryServers,
            change.worker(),
            0);
    for (int i = 0; i < ranges.count(); i++) {
      change.worker().read(ranges.tree(i) + EmtHeader.ENTRIES, 0, Long.BYTES);
      long entries = Words.get(change.worker().memory(), 0);
      if (entries > 0) {
        throw new IllegalStateException(
            "the index is not empty: tree=%s, entries=%s"
                .formatted(GlobalAddress.toString(ranges.tree(i)), entries));
      }
    }
  }

  @Override
  public void free() {
    for (int i = 0; i < ranges.count(); i++) {
      nodes.drop(ranges.tree(i));
      server.allocator.free(change.worker(), change.message(), ranges.tree(i));
    }
  }
}
