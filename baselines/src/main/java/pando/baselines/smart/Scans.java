package pando.baselines.smart;

import pando.index.session.LeafScan;

/** Scans: a batch of leaves that are READ together is one leaf of {@link LeafScan}. */
final class Scans extends LeafScan {
  Scans(SmartContext context) {
    super(context::abandon);
  }

  @Override
  protected int readLeaves(long from, long to, boolean down, long limit) {
    throw new UnsupportedOperationException("scans");
  }

  @Override
  protected long fence(int leaf, boolean down) {
    throw new UnsupportedOperationException("scans");
  }

  @Override
  protected int entriesMax(int leaf) {
    throw new UnsupportedOperationException("scans");
  }

  @Override
  protected int copySorted(int leaf, long least, long greatest, long[] keys, long[] values) {
    throw new UnsupportedOperationException("scans");
  }
}
