package pando.baselines.smart;

import pando.fabric.WaitLimit;
import pando.index.bugs.PlantedBug;
import pando.index.session.NeighbourSearch;

/**
 * Finds the entry next to a key without a lock, also among keys of other compute servers.
 *
 * <p><b>Two looks are a snapshot.</b> All nodes are noted whose slots said that nothing is nearer,
 * or where the way goes on. The leaf that is the answer is READ after them. Then the nodes are READ
 * again. No slot comes back as it was once it has changed: an emptied one differs from each emptied
 * before, and the place of what was removed is none's before the operation ends. So if the slots
 * between the key and the answer are equal, they were so all the time between the two looks; and
 * when the leaf was READ, it was the answer. If not, the search begins again. A frozen node is
 * noted together with the one above it, whose slot says that it was in the tree.
 */
final class Neighbours extends NeighbourSearch {
  private final SmartContext context;
  private final LeafCollector collector;
  private final NotedNodes noted;

  Neighbours(SmartContext context) {
    this.context = context;
    this.collector = context.collector;
    this.noted = new NotedNodes(context);
  }

  @Override
  public Outcome look(long wanted, boolean down) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      long end = collect(KeyPath.of(wanted), down);
      boolean found = collector.count() > 0;
      long path = found ? collector.path(0) : end;
      long value = found ? collector.value(0) : 0;
      if (PlantedBug.SMART_NEIGHBOUR_ONCE || noted.areSame(KeyPath.of(wanted), path)) {
        return found ? found(KeyPath.key(path), value) : Outcome.NONE;
      }
      context.counters.restarts++;
      start =
          WaitLimit.SHORT.pauseBriefly(
              context.worker.backoff(),
              attempt,
              start,
              "what is next to a key changes: key",
              wanted);
    }
  }

  /** Collects and notes, until there is an entry or nothing is left; returns up to which path. */
  private long collect(long wanted, boolean down) {
    noted.clear();
    long last = down ? 0 : -1;
    long next = wanted;
    int below = KeyPath.BYTES;
    while (true) {
      collector.collect(next, last, down, 1, below, noted);
      long end = collector.end();
      if (collector.count() > 0 || end == last) {
        return end;
      }
      next = down ? end - 1 : end + 1;
      below = collector.nextBelow();
    }
  }
}
