package pando.index.rolex;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.session.LeafScan;

/**
 * Reads the leaves of a scan, in one round trip those of several models with the synonym leaves
 * that are known behind them. Each leaf is a consistent snapshot; entries of a chain of synonym
 * leaves may be of different times.
 */
final class Scans extends LeafScan {
  /** Leaves READ together, or more where more of one model can cover the first key. */
  static final int PARALLEL = 32;

  private static final int LEAVES_MAX = RunLayout.LEAVES_MAX;

  /** Share of a leaf that is expected to be filled. */
  private static final double FILL = 0.7;

  private final LeafLayout layout;
  private final ModelTable models;
  private final Leaves leaves;
  private final Chains chains;
  private final RolexContext context;
  private final Worker worker;
  private final MemorySegment memory;
  private final VerbList reads = new VerbList();
  private final ModelView model;

  /** The leaves that were read together. */
  private final LeafCursor[] leavesRead = new LeafCursor[LEAVES_MAX];

  private int planned;

  private final EntryBuffer entries = new EntryBuffer();

  /** Where the entries of each leaf begin, and behind the last. */
  private final int[] starts = new int[LEAVES_MAX + 1];

  private final long[] highs = new long[LEAVES_MAX];
  private int whole;

  Scans(RolexContext context, Leaves leaves) {
    super(context::abandon);
    this.context = context;
    this.layout = context.server.leaves;
    this.models = context.server.models;
    this.leaves = leaves;
    this.chains = context.chains;
    this.worker = context.worker;
    this.memory = context.memory;
    this.model = new ModelView(context.server.options.epsilon(), layout.delta());
    Arrays.setAll(leavesRead, i -> new LeafCursor());
  }

  @Override
  protected int readLeaves(long from, long to, long limit) {
    for (int attempt = 0; ; attempt++) {
      context.pages.find(from, model);
      plan(from, to, limit);
      worker.scatter(reads);
      collect(from);
      if (whole > 0) {
        return whole;
      }
      if (!leaves.astray(from, attempt)) {
        collectLocked(from);
        return 1;
      }
    }
  }

  /** Reads, under the lock, a leaf that all READs found torn. */
  private void collectLocked(long from) {
    leaves.lock(from);
    begin();
    boolean collected = chains.collect(leaves.leaf, entries);
    end(LeafLayout.high(memory, leaves.leaf.image));
    leaves.unlock();
    if (!collected) {
      throw chains.corrupt(from);
    }
  }

  /** Adds the leaves that can cover a key, and those behind them as far as the limit goes. */
  private void plan(long from, long to, long limit) {
    reads.clear();
    planned = 0;
    int beyond = (int) Math.min(limit / (layout.delta() * FILL), PARALLEL);
    int first = model.first(from);
    int most = Math.max(first + PARALLEL - 1, model.last(from));
    add(first, Math.min(Math.min(model.last(from) + beyond, most), lastOf(to)));
    while (planned < beyond && model.high < to && models.find(model.high + 1, model)) {
      add(0, Math.min(Math.min(beyond, PARALLEL - 1) - planned, lastOf(to)));
    }
  }

  private int lastOf(long to) {
    return to >= model.high ? model.leaves() - 1 : model.last(to);
  }

  private void add(int first, int last) {
    int added = last - first + 1;
    long start = context.server.runs.leafAddress(model.place, first);
    reads.read(start, context.leaf(planned), added * layout.bytes());
    for (int i = 0; i < added; i++) {
      long address = start + (long) i * layout.bytes();
      leavesRead[planned].set(planned, context.leaf(planned), address, model.stamp);
      chains.addKnown(reads, planned, address, GlobalAddress.server(start));
      planned++;
    }
  }

  /** Collects the entries of leaves in a row, from that of a key on, as far as they are whole. */
  private void collect(long from) {
    begin();
    long next = from;
    for (int i = 0; i < planned; i++) {
      LeafCursor leaf = leavesRead[i];
      boolean isBefore = whole == 0 && LeafLayout.high(memory, leaf.image) < from;
      if (isBefore) {
        continue;
      }
      boolean follows =
          LeafLayout.covers(memory, leaf.image, next)
              && layout.isWhole(memory, leaf.image, leaf.identity());
      if (!follows || !chains.collect(leaf, entries)) {
        return;
      }
      long high = LeafLayout.high(memory, leaf.image);
      end(high);
      if (high == Long.MAX_VALUE) {
        return;
      }
      next = high + 1;
    }
  }

  private void begin() {
    entries.clear();
    whole = 0;
    starts[0] = 0;
  }

  private void end(long high) {
    highs[whole++] = high;
    starts[whole] = entries.count();
  }

  @Override
  protected long high(int leaf) {
    return highs[leaf];
  }

  @Override
  protected int entriesMax(int leaf) {
    return starts[leaf + 1] - starts[leaf];
  }

  @Override
  protected int copySorted(int leaf, long from, long to, long[] keys, long[] values) {
    int copied = 0;
    for (int i = starts[leaf]; i < starts[leaf + 1]; i++) {
      if (entries.key(i) >= from && entries.key(i) <= to) {
        keys[copied] = entries.key(i);
        values[copied++] = entries.value(i);
      }
    }
    return copied;
  }
}
