package pando.index.blob;

import java.util.concurrent.atomic.AtomicLongArray;
import pando.fabric.StalledException;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;

/**
 * One free place of each size. In a full pool a new value goes there, and the place of the value
 * that it replaces becomes the free one. Thread-safe.
 */
final class Reserve {
  /** No place. */
  static final long NONE = 0;

  private static final long LENT = -1;

  private final AtomicLongArray places;

  /** Creates a reserve that has no place yet. */
  Reserve(int classes) {
    this.places = new AtomicLongArray(classes);
  }

  /** Returns whether there is neither a place of a size nor a loan. */
  boolean lacks(int sizeClass) {
    return places.get(sizeClass) == NONE;
  }

  /** Keeps a place if the reserve lacks one of its size; returns whether it did. */
  boolean keep(int sizeClass, long place) {
    return lacks(sizeClass) && places.compareAndSet(sizeClass, NONE, place);
  }

  /**
   * Lends the place of a size, for which others wait then; returns {@link #NONE} if there is none.
   *
   * @throws StalledException if the one that has it does not give it back
   */
  long lend(int sizeClass, Worker worker) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      long place = places.get(sizeClass);
      if (place == NONE || (place != LENT && places.compareAndSet(sizeClass, place, LENT))) {
        return place;
      }
      String what = "another replacement in a full pool does not end";
      start = WaitLimit.SHORT.pauseBriefly(worker.backoff(), attempt, start, what);
    }
  }

  /** Ends a loan by a place of that size, or by {@link #NONE} if it is lost. */
  void repay(int sizeClass, long place) {
    places.set(sizeClass, place);
  }

  /** Takes away the place of a size; returns {@link #NONE} if it is not there. */
  long take(int sizeClass) {
    long place = places.get(sizeClass);
    boolean isOurs = place != LENT && places.compareAndSet(sizeClass, place, NONE);
    return isOurs ? place : NONE;
  }

  /** Returns how many places of a size are there, 0 or 1. */
  int count(int sizeClass) {
    long place = places.get(sizeClass);
    return place == NONE || place == LENT ? 0 : 1;
  }
}
