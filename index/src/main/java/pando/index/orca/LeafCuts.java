package pando.index.orca;

import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.leaf.LeafPacker;

/** Cuts sorted records into leaves. */
final class LeafCuts {
  private final LeafPacker packer;
  private final int recordsMax;
  private final int segmentsMax;

  /** Least number of records of the last piece: at least 2, as a leaf covers two keys or more. */
  private final int lastMin;

  /** Creates an object that plans leaves with a packer. */
  LeafCuts(LeafPacker packer, OrcaSettings<?> options) {
    this.packer = packer;
    this.recordsMax = options.recordsMax();
    this.segmentsMax = options.segmentsMax();
    this.lastMin = Math.min(LeafLayout.SLOTS, Math.max(2, recordsMax / 8));
  }

  /**
   * Cuts records into pieces that fit a leaf each, by halves. As any eight records fit a leaf, each
   * piece has several, and so covers several keys.
   *
   * @param from index of the first record
   * @param to index behind the last record
   * @param low least key that the pieces cover together
   * @param high greatest key that they cover, above {@code low}
   * @param pieces receives the pieces
   */
  void cut(long[] keys, int from, int to, long low, long high, Pieces pieces) {
    if (fits(keys, from, to, low, high)) {
      pieces.add(from, to - from, low, high, packer.segments());
      return;
    }
    int middle = from + (to - from) / 2;
    cut(keys, from, middle, low, keys[middle] - 1, pieces);
    cut(keys, middle, to, keys[middle], high, pieces);
  }

  /**
   * Cuts records into full pieces, and a last one that has room for what follows: for keys that
   * come in ascending order. Half a leaf would stay empty behind them.
   *
   * <p>The parameters are as for {@link #cut}.
   */
  void cutFull(long[] keys, int from, int to, long low, long high, Pieces pieces) {
    int next = from;
    long bound = low;
    while (to - next > 2 * lastMin && !fits(keys, next, to, bound, high)) {
      int first = next;
      next += Math.min(recordsMax, to - first - lastMin);
      cut(keys, first, next, bound, keys[next] - 1, pieces);
      bound = keys[next];
    }
    cut(keys, next, to, bound, high, pieces);
  }

  /** Plans a leaf; returns whether it can have these records. */
  private boolean fits(long[] keys, int from, int to, long low, long high) {
    if (to - from > recordsMax) {
      return false;
    }
    int segments = packer.plan(keys, from, to - from, low, high);
    return segments > 0 && segments <= segmentsMax;
  }
}
