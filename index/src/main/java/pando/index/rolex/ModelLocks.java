package pando.index.rolex;

import pando.fabric.StalledException;
import pando.fabric.VerbList;

/**
 * What keeps others from changing the leaves of a model, for one worker. Models are named by the
 * places of their runs.
 */
interface ModelLocks {
  /**
   * Takes the lock of a key's model, waits for it, and has READs done under it.
   *
   * @param place of the run that the key's model is known to have
   * @param reads of the run's memory server, or nothing; are kept
   * @return whether the lock was taken; else the key's model has another run by now
   * @throws StalledException if it stays locked
   */
  boolean lockAndRead(long key, long place, VerbList reads);

  /** Takes a model's lock if nobody has it, and it has this run. */
  boolean tryLock(long place);

  /** Takes the lock of a run that nobody knows yet, if nobody has it for something else. */
  boolean tryLockNew(long place);

  /** Returns what goes into the {@linkplain RunLayout#GATE gate} of a new run that is locked. */
  long gate(long place);

  /** Lets go of a model's lock. */
  void unlock(long place);

  /** Lets go of all locks that the worker holds, those of pages as well. */
  void unlockAll();

  /** Forgets all locks that the worker holds and leaves them locked. */
  void keep();

  /** Lets go of everything after a failure; another failure joins the first. */
  void abandon(Throwable failure);
}
