package pando.baselines.smart;

import pando.baselines.smart.LeafCollector.Observer;
import pando.index.session.LeafScan;

/** Scans: what the {@link LeafCollector} finds at a time is one leaf of {@link LeafScan}. */
final class Scans extends LeafScan {
  /** Greatest number of entries that are collected at a time, about. */
  private static final int ENTRIES_MAX = 256;

  private final LeafCollector collector;

  /** The last key that was asked for. */
  private long bound;

  /** The key from which a scan goes on that has come to the end of all nodes it looked at. */
  private long resumed;

  /** From the parent of which node on it does so: one with a path of fewer bytes. */
  private int below = KeyPath.BYTES;

  Scans(SmartContext context) {
    super(context::abandon);
    this.collector = context.collector;
  }

  @Override
  protected int readLeaves(long from, long to, boolean down, long limit) {
    bound = to;
    int most = (int) Math.min(limit, ENTRIES_MAX);
    int start = from == resumed ? below : KeyPath.BYTES;
    collector.collect(KeyPath.of(from), KeyPath.of(to), down, most, start, Observer.NONE);
    long end = KeyPath.key(collector.end());
    resumed = down ? end - 1 : end + 1;
    below = collector.nextBelow();
    return 1;
  }

  /** {@inheritDoc} Not beyond what was asked for: others may serve the keys there. */
  @Override
  protected long fence(int leaf, boolean down) {
    long end = KeyPath.key(collector.end());
    return down ? Math.max(end, bound) : Math.min(end, bound);
  }

  @Override
  protected int entriesMax(int leaf) {
    return collector.count();
  }

  @Override
  protected int copySorted(int leaf, long least, long greatest, long[] keys, long[] values) {
    int found = collector.count();
    boolean down = collector.isDown();
    int count = 0;
    for (int i = 0; i < found; i++) {
      int entry = down ? found - 1 - i : i;
      long key = KeyPath.key(collector.path(entry));
      if (key >= least && key <= greatest) {
        keys[count] = key;
        values[count++] = collector.value(entry);
      }
    }
    return count;
  }
}
