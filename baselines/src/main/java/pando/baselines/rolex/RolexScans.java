package pando.baselines.rolex;

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
final class RolexScans extends LeafScan {
  /** Leaves READ together, or more where more of one model can cover the first key. */
  static final int PARALLEL = 32;

  private static final int LEAVES_MAX = RunLayout.LEAVES_MAX;

  /** Share of a leaf that is expected to be filled. */
  private static final double FILL = 0.7;

  private final RolexLeafLayout layout;
  private final ModelTable models;
  private final RolexLeaves leaves;
  private final Chains chains;
  private final RolexContext context;
  private final Worker worker;
  private final MemorySegment memory;
  private final VerbList reads = new VerbList();
  private final ModelView model;

  /** The leaves that were read together, in the order of the scan. */
  private final LeafCursor[] leavesRead = new LeafCursor[LEAVES_MAX];

  private int planned;

  private final EntryBuffer entries = new EntryBuffer();

  /** Where the entries of each leaf begin, and behind the last. */
  private final int[] starts = new int[LEAVES_MAX + 1];

  /** Where the scan leaves each leaf. */
  private final long[] fences = new long[LEAVES_MAX];

  private int whole;

  RolexScans(RolexContext context, RolexLeaves leaves) {
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
  protected int readLeaves(long from, long to, boolean down, long limit) {
    for (int attempt = 0; ; attempt++) {
      context.pages.find(from, model);
      plan(from, to, down, limit);
      worker.scatter(reads);
      collect(from, down);
      if (whole > 0) {
        return whole;
      }
      if (!leaves.astray(from, attempt)) {
        collectLocked(from, down);
        return 1;
      }
    }
  }

  /** Reads, under the lock, a leaf that all READs found torn. */
  private void collectLocked(long from, boolean down) {
    leaves.lock(from);
    begin();
    boolean collected = chains.collect(leaves.leaf, entries);
    end(fence(leaves.leaf, down));
    leaves.unlock();
    if (!collected) {
      throw chains.corrupt(from);
    }
  }

  /** Adds the leaves that can cover a key, and those behind them as far as the limit goes. */
  private void plan(long from, long to, boolean down, long limit) {
    reads.clear();
    planned = 0;
    int beyond = (int) Math.min(limit / (layout.delta() * FILL), PARALLEL);
    int first = model.first(from);
    int last = model.last(from);
    if (down) {
      int least = Math.min(last - PARALLEL + 1, first);
      add(Math.max(Math.max(first - beyond, least), firstOf(to)), last, true);
    } else {
      int most = Math.max(first + PARALLEL - 1, last);
      add(first, Math.min(Math.min(last + beyond, most), lastOf(to)), false);
    }
    while (planned < beyond && goOn(to, down)) {
      int end = model.leaves() - 1;
      int more = Math.min(beyond, PARALLEL - 1) - planned;
      if (down) {
        add(Math.max(end - more, firstOf(to)), end, true);
      } else {
        add(0, Math.min(more, lastOf(to)), false);
      }
    }
  }

  /** Finds the next model of the scan, if it is known. */
  private boolean goOn(long to, boolean down) {
    return down
        ? model.low > to && models.find(model.low - 1, model)
        : model.high < to && models.find(model.high + 1, model);
  }

  private int firstOf(long to) {
    return to <= model.low ? 0 : model.first(to);
  }

  private int lastOf(long to) {
    return to >= model.high ? model.leaves() - 1 : model.last(to);
  }

  private void add(int first, int last, boolean down) {
    int added = last - first + 1;
    long start = context.server.runs.leafAddress(model.place, first);
    reads.read(start, context.leaf(planned), added * layout.bytes());
    for (int i = 0; i < added; i++) {
      long address = start + (long) i * layout.bytes();
      int slot = planned + i;
      int place = planned + (down ? added - 1 - i : i);
      leavesRead[place].set(slot, context.leaf(slot), address, model.stamp);
      chains.addKnown(reads, slot, address, GlobalAddress.server(start));
    }
    planned += added;
  }

  /** Collects the entries of leaves in a row, from that of a key on, as far as they are whole. */
  private void collect(long from, boolean down) {
    begin();
    long next = from;
    for (int i = 0; i < planned; i++) {
      LeafCursor leaf = leavesRead[i];
      if (whole == 0 && isBefore(leaf, from, down)) {
        continue;
      }
      boolean follows =
          RolexLeafLayout.covers(memory, leaf.image, next)
              && layout.isWhole(memory, leaf.image, leaf.identity());
      if (!follows || !chains.collect(leaf, entries)) {
        return;
      }
      long fence = fence(leaf, down);
      end(fence);
      if (fence == (down ? Long.MIN_VALUE : Long.MAX_VALUE)) {
        return;
      }
      next = down ? fence - 1 : fence + 1;
    }
  }

  /** Returns whether the scan has left a leaf behind where it begins. */
  private boolean isBefore(LeafCursor leaf, long from, boolean down) {
    long fence = fence(leaf, down);
    return down ? fence > from : fence < from;
  }

  private long fence(LeafCursor leaf, boolean down) {
    return down
        ? RolexLeafLayout.low(memory, leaf.image)
        : RolexLeafLayout.high(memory, leaf.image);
  }

  private void begin() {
    entries.clear();
    whole = 0;
    starts[0] = 0;
  }

  private void end(long fence) {
    fences[whole++] = fence;
    starts[whole] = entries.count();
  }

  @Override
  protected long fence(int leaf, boolean down) {
    return fences[leaf];
  }

  @Override
  protected int entriesMax(int leaf) {
    return starts[leaf + 1] - starts[leaf];
  }

  @Override
  protected int copySorted(int leaf, long least, long greatest, long[] keys, long[] values) {
    int copied = 0;
    for (int i = starts[leaf]; i < starts[leaf + 1]; i++) {
      if (entries.key(i) >= least && entries.key(i) <= greatest) {
        keys[copied] = entries.key(i);
        values[copied++] = entries.value(i);
      }
    }
    return copied;
  }
}
