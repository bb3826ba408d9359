package pando.baselines.emt;

import pando.fabric.WaitLimit;
import pando.index.bugs.PlantedBug;
import pando.index.session.NeighbourSearch;

/**
 * Finds the entry next to a key. Where the key's tree has none, its neighbours are asked, one after
 * the other. Then those that had none are asked again: if each still has none, and no new key has
 * become the first that it had to pass since, then all were without one at the same time.
 */
final class EmtNeighbours extends NeighbourSearch {
  private static final String CHANGING = "the trees next to a key kept changing: key";

  private final EmtContext context;
  private final TreeCalls calls;
  private final Runnable key = this::setKey;

  /** What each tree that was passed has counted. */
  private final long[] editions;

  private long asked;
  private boolean edgeSeen;

  EmtNeighbours(EmtContext context) {
    this.context = context;
    this.calls = context.calls;
    this.editions = new long[context.server.memoryServers];
  }

  @Override
  public Outcome look(long wanted, boolean down) {
    Ranges ranges = context.ranges();
    int first = ranges.find(wanted);
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      int last = search(ranges, first, wanted, down);
      // The confirmation overwrites the answer.
      long foundKey = calls.get(EmtMessage.NEXT_KEY);
      long foundValue = calls.get(EmtMessage.NEXT_VALUE);
      boolean found = !edgeSeen;
      if (last == first || isConfirmed(ranges, first, last, wanted, down)) {
        return found ? found(foundKey, foundValue) : Outcome.NONE;
      }
      context.counters.restarts++;
      start =
          WaitLimit.SHORT.pauseBriefly(context.worker.backoff(), attempt, start, CHANGING, wanted);
    }
  }

  /** Asks tree after tree; returns the last one, which has an entry or no neighbour. */
  private int search(Ranges ranges, int first, long wanted, boolean down) {
    int last = down ? 0 : ranges.count() - 1;
    for (int tree = first; ; tree += down ? -1 : 1) {
      long status = ask(ranges, tree, first, wanted, down);
      edgeSeen = status != EmtMessage.FOUND;
      if (!edgeSeen || tree == last) {
        return tree;
      }
      editions[tree] = calls.get(EmtMessage.EDITION);
    }
  }

  private boolean isConfirmed(Ranges ranges, int first, int last, long wanted, boolean down) {
    if (PlantedBug.EMT_EDGE_UNCONFIRMED) {
      return true;
    }
    for (int tree = first; tree != last; tree += down ? -1 : 1) {
      long status = ask(ranges, tree, first, wanted, down);
      if (status == EmtMessage.FOUND || calls.get(EmtMessage.EDITION) != editions[tree]) {
        return false;
      }
    }
    return true;
  }

  private long ask(Ranges ranges, int tree, int first, long wanted, boolean down) {
    asked = tree == first ? wanted : down ? ranges.high(tree) : ranges.low(tree);
    long operation = down ? EmtMessage.FLOOR : EmtMessage.CEILING;
    return calls.send(ranges.tree(tree), operation, EmtMessage.GET_BYTES, key);
  }

  private void setKey() {
    calls.set(EmtMessage.KEY, asked);
  }
}
