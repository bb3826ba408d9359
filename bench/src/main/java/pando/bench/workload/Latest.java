package pando.bench.workload;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Draws records by their age: the newest is rank 1. The loaded records are as old as their numbers
 * are small, and all inserted ones are younger, in the order in which their inserts ended. There
 * are as many ranks as loaded records, so that the very oldest fall out of reach.
 */
final class Latest implements Distribution.Draw {
  /** Initial room for inserted records, so that a client seldom has to grow the array. */
  private static final int ROOM_MIN = 1 << 10;

  private static final int ROOM_MAX = 1 << 22;

  private final long loaded;
  private final Zipf ages;

  /** The inserted records, of which the first {@link #size} stay as they are. */
  private volatile long[] inserted;

  private volatile int size;

  Latest(long loaded, double theta) {
    this.loaded = loaded;
    ages = new Zipf(loaded, theta);
    inserted = new long[Math.clamp(loaded / 8, ROOM_MIN, ROOM_MAX)];
  }

  @Override
  public long next(SplittableRandom random) {
    // Read the size first: an array that is read afterwards has at least as many records.
    long place = loaded + size - ages.next(random);
    return place < loaded ? place : inserted[(int) (place - loaded)];
  }

  @Override
  public synchronized void onInserted(long record) {
    if (size == inserted.length) {
      inserted = Arrays.copyOf(inserted, 2 * size);
    }
    inserted[size] = record;
    size++;
  }
}
