package pando.index.orca;

import pando.index.orca.leaf.LeafPacker;

/** Cuts sorted records into leaves. */
final class LeafCuts {
  private final LeafPacker packer;
  private final int recordsMax;
  private final int segmentsMax;

  /** Creates an object that plans leaves with a packer. */
  LeafCuts(LeafPacker packer, OrcaOptions options) {
    this.packer = packer;
    this.recordsMax = options.recordsMax();
    this.segmentsMax = options.segmentsMax();
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
    int records = to - from;
    if (records <= recordsMax) {
      int segments = packer.plan(keys, from, records, low, high);
      if (segments > 0 && segments <= segmentsMax) {
        pieces.add(from, records, low, high, segments);
        return;
      }
    }
    int middle = from + records / 2;
    cut(keys, from, middle, low, keys[middle] - 1, pieces);
    cut(keys, middle, to, keys[middle], high, pieces);
  }
}
