package pando.baselines.rolex;

import pando.baselines.lock.NodeLocks;
import pando.fabric.VerbList;
import pando.fabric.Worker;

/** Locks of models by verbs, in the table of node locks. Writers take them, too. */
final class OnChipModelLocks implements ModelLocks {
  private final NodeLocks locks;
  private final Worker worker;

  OnChipModelLocks(NodeLocks locks, Worker worker) {
    this.locks = locks;
    this.worker = worker;
  }

  /** {@inheritDoc} Also locks a run that was replaced; the caller detects that by its leaves. */
  @Override
  public boolean lockAndRead(long key, long place, VerbList reads) {
    boolean read = locks.lockAndRead(RunLayout.address(place), reads);
    if (!read && reads.size() > 0) {
      worker.post(reads);
    }
    return true;
  }

  @Override
  public boolean tryLock(long place) {
    return locks.tryLock(RunLayout.address(place), false);
  }

  @Override
  public boolean tryLockNew(long place) {
    return tryLock(place);
  }

  @Override
  public long gate(long place) {
    return place;
  }

  @Override
  public void unlock(long place) {
    locks.unlock(RunLayout.address(place));
  }

  @Override
  public void unlockAll() {
    locks.unlockAll();
  }

  @Override
  public void keep() {
    locks.keep();
  }

  @Override
  public void abandon(Throwable failure) {
    locks.abandon(failure);
  }
}
