package pando.baselines.rolex;

import java.util.Arrays;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;
import pando.index.session.SizeEstimate;

/**
 * Estimates how many entries there are: the models know all leaves, of which some are drawn at
 * random and READ with their synonym leaves. Takes no lock.
 */
final class RolexSize {
  private final RolexContext context;
  private final Worker worker;
  private final ModelView model;
  private final LeafCursor leaf = new LeafCursor();
  private final EntryBuffer entries = new EntryBuffer();

  /** The number of leaves before each model, and its least key. */
  private final EntryBuffer models = new EntryBuffer();

  private final SizeEstimate estimate = new SizeEstimate();

  RolexSize(RolexContext context) {
    this.context = context;
    this.worker = context.worker;
    this.model = new ModelView(context.server.options.epsilon(), context.server.leaves.delta());
  }

  /** Returns about how many entries there are. */
  double estimate() {
    long count = countLeaves();
    estimate.clear();
    while (!estimate.isEnough()) {
      estimate.add((double) count * drawEntries(count));
    }
    return estimate.mean();
  }

  private long countLeaves() {
    models.clear();
    long count = 0;
    long next = Long.MIN_VALUE;
    while (true) {
      context.pages.find(next, model);
      models.add(count, next);
      count += model.leaves();
      if (model.high == Long.MAX_VALUE) {
        return count;
      }
      next = model.high + 1;
    }
  }

  /** Draws a leaf; returns the number of its entries, with those of its synonym leaves. */
  private int drawEntries(long count) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      long number = worker.random().nextLong(count);
      int found = Arrays.binarySearch(models.keys(), 0, models.count(), number);
      int index = found >= 0 ? found : -found - 2;
      long key = models.value(index);
      context.pages.find(key, model);
      if (readLeaf((int) Math.min(number - models.key(index), model.leaves() - 1))) {
        return entries.count();
      }
      // The leaf is being written, or its model is one no more.
      context.counters.restarts++;
      context.pages.refresh(key);
      String what = "no leaf could be read";
      start = WaitLimit.SHORT.pauseBriefly(worker.backoff(), attempt, start, what);
    }
  }

  private boolean readLeaf(int number) {
    RolexLeafLayout layout = context.server.leaves;
    long address = context.server.runs.leafAddress(model.place, number);
    leaf.set(0, context.leaf(0), address, model.stamp);
    context.counters.leafMisses++;
    worker.read(address, leaf.image, layout.bytes());
    entries.clear();
    return layout.isWhole(context.memory, leaf.image, leaf.identity())
        && context.chains.collectAlone(leaf, entries);
  }
}
