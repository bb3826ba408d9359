package pando.baselines.rolex;

import pando.fabric.StalledException;
import pando.fabric.VerbList;

/**
 * The locks of models that one worker holds. A lock keeps other workers from changing the model's
 * leaves. A model is named by the place of its run.
 */
interface ModelLocks {
  /**
   * Locks a key's model, waits if the lock is taken, and posts READs under it.
   *
   * @param place of the run that the key's model is known to have
   * @param reads of the run's memory server, or nothing; are kept
   * @return whether the model was locked; if not, the key's model has another run by now
   * @throws StalledException if it stays locked
   */
  boolean lockAndRead(long key, long place, VerbList reads);

  /** Locks a model if the lock is free and the model still has this run; returns whether it did. */
  boolean tryLock(long place);

  /** Locks a new run, which no other session knows, if the lock is free; returns whether it did. */
  boolean tryLockNew(long place);

  /** Returns the {@linkplain RunLayout#GATE gate} with which a new, locked run is written. */
  long gate(long place);

  /** Unlocks a model. */
  void unlock(long place);

  /** Unlocks all models and pages that the worker has locked. */
  void unlockAll();

  /** Forgets all locks that the worker holds and leaves them locked. */
  void keep();

  /**
   * Unlocks everything after a failure. Another failure is added to the given one as suppressed.
   */
  void abandon(Throwable failure);
}
