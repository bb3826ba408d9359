package pando.index.orca;

import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import pando.index.Partitioning;
import pando.index.Partitioning.Bound;
import pando.index.host.Parting;

/**
 * Keys of a compute server that is lost: what the pool has of them, its tree and the gifts that it
 * had not taken on, become gifts for the heir.
 */
final class Inheriting implements Parting {
  private final OrcaServer heir;
  private final int lost;
  private final Partitioning table;
  private final Supplier<Partitioning> current;

  /**
   * Begins to inherit.
   *
   * @param table the partition table by which the lost one has the keys
   * @param current returns the table that counts
   */
  Inheriting(OrcaServer heir, int lost, Partitioning table, Supplier<Partitioning> current) {
    this.heir = heir;
    this.lost = lost;
    this.table = table;
    this.current = current;
    heir.store.space.setInherits(true);
  }

  @Override
  public Bound bound() {
    return table.boundOfRange(table.rangeOfServer(lost));
  }

  @Override
  public void give(int receiver, Partitioning after) {
    heir.withContext(context -> {
      OrcaRoots roots = roots(context);
      roots.eraseUnused(table);
      List<RangeTree> trees =
          roots.trees(lost, table.lowOfServer(lost), table.highOfServer(lost), table.epoch(), true);
      // Of gifts of one epoch the last one counts, as the own tree may have keys of the others.
      trees.stream()
          .sorted(Comparator.comparingInt(RangeTree::gift))
          .forEach(tree -> roots.give(tree.page(), after.epoch(), receiver, tree.giver()));
      if (table.hasServer(receiver) && trees.stream().anyMatch(tree -> !tree.whole())) {
        // One may lead to old leaves of keys that the heir has: it may have got them from the lost
        // one, whose root was not written any more. If the heir ends, too, its own tree counts.
        long own = heir.store.directory.root().address();
        roots.give(own, after.epoch(), receiver, heir.number);
      }
    });
  }

  private OrcaRoots roots(OrcaContext context) {
    OrcaRoots roots = new OrcaRoots(context, heir.store.root.table());
    roots.read();
    return roots;
  }

  @Override
  public void close() {
    heir.store.space.setInherits(false);
    heir.withContext(this::cleanUp);
  }

  /** Erases what the lost one had. Gifts that were not given are erased by the next change. */
  private void cleanUp(OrcaContext context) {
    Partitioning after = current.get();
    if (after.epoch() != table.epoch()) {
      roots(context).eraseUnused(after);
    }
  }
}
