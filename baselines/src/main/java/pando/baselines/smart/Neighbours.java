package pando.baselines.smart;

import pando.index.session.NeighbourSearch;

/** Searches of the entry next to a key. */
final class Neighbours extends NeighbourSearch {
  Neighbours(SmartContext context) {}

  @Override
  public Outcome look(long wanted, boolean down) {
    throw new UnsupportedOperationException("neighbours");
  }

  @Override
  protected Outcome lookUnderLock(long wanted, boolean down) {
    throw new UnsupportedOperationException("neighbours");
  }

  @Override
  protected boolean lock(long address) {
    throw new UnsupportedOperationException("neighbours");
  }

  @Override
  protected void unlock(long address) {
    throw new UnsupportedOperationException("neighbours");
  }
}
