package pando.index.orca;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;
import pando.index.Partitioning;
import pando.index.Partitioning.Bound;
import pando.index.host.Parting;
import pando.index.session.Failures;

/**
 * Keys of a compute server that is lost: what the pool has of them, its tree and the gifts that it
 * had not taken on, become gifts for the heir.
 */
final class Inheriting implements Parting {
  private final OrcaServer heir;
  private final int lost;
  private final Partitioning table;
  private final BooleanSupplier isGiven;
  private List<RangeTree> trees = List.of();
  private final List<Integer> gifts = new ArrayList<>();

  /**
   * Begins to inherit.
   *
   * @param table the partition table by which the lost one has the keys
   * @param isGiven returns whether a later table counts
   */
  Inheriting(OrcaServer heir, int lost, Partitioning table, BooleanSupplier isGiven) {
    this.heir = heir;
    this.lost = lost;
    this.table = table;
    this.isGiven = isGiven;
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
      roots.eraseBeyond(table.epoch());
      trees =
          roots.trees(lost, table.lowOfServer(lost), table.highOfServer(lost), table.epoch(), true);
      // Of gifts of one epoch the last one counts, as the own tree may have keys of the others.
      trees.stream()
          .sorted(Comparator.comparingInt(RangeTree::gift))
          .forEach(
              tree -> gifts.add(roots.give(tree.page(), after.epoch(), receiver, tree.giver())));
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

  /** Erases the roots that count no more: the lost one's, or what was not given. */
  private void cleanUp(OrcaContext context) {
    OrcaRoots roots = roots(context);
    Failures failures = new Failures();
    if (isGiven.getAsBoolean()) {
      failures.collect(() -> roots.eraseOwn(lost));
      for (RangeTree tree : trees) {
        if (tree.gift() != RangeTree.OWN) {
          failures.collect(() -> roots.erase(tree.gift()));
        }
      }
    } else {
      gifts.forEach(gift -> failures.collect(() -> roots.erase(gift)));
    }
    failures.rethrow();
  }
}
