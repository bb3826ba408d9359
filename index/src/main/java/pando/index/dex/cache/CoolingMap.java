package pando.index.dex.cache;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import pando.fabric.Backoff;
import pando.fabric.WaitLimit;

/**
 * The candidates for eviction: a hash table whose buckets are small first-in-first-out arrays (DEX
 * section 5.2). This ranks coldness well enough, and no central queue is contended.
 *
 * <pre>
 *   bucket, 8 ints   | lock | count | oldest | ... six frames ... | - |
 * </pre>
 *
 * <p>A bucket's lock is held for a few instructions and never across a verb. Thread-safe.
 */
final class CoolingMap {
  /** No frame. */
  static final int NONE = -1;

  private static final int BUCKET_INTS = 8;
  private static final int COUNT = 1;
  private static final int PLACES = 2;
  private static final int PLACES_MAX = 6;
  private static final VarHandle INTS = MethodHandles.arrayElementVarHandle(int[].class);

  private final int[] ints;
  private final int buckets;

  /** Creates a map for about {@code capacity} frames: at least one bucket of six. */
  CoolingMap(int capacity) {
    buckets = Math.max(1, capacity / PLACES_MAX);
    ints = new int[buckets * BUCKET_INTS];
  }

  int buckets() {
    return buckets;
  }

  /**
   * Adds a frame as the youngest of its bucket.
   *
   * @return the oldest frame, pushed out of a full bucket, or {@link #NONE}
   */
  int push(Backoff backoff, long address, int frame) {
    int bucket = lock(backoff, bucket(address));
    int count = ints[bucket + COUNT];
    int oldest = NONE;
    if (count == PLACES_MAX) {
      oldest = ints[bucket + PLACES];
      close(bucket, 0, count--);
    }
    ints[bucket + PLACES + count] = frame;
    ints[bucket + COUNT] = count + 1;
    unlock(bucket);
    return oldest;
  }

  /** Removes a frame, if it is still in the map. */
  void remove(Backoff backoff, long address, int frame) {
    int bucket = lock(backoff, bucket(address));
    int count = ints[bucket + COUNT];
    for (int i = 0; i < count; i++) {
      if (ints[bucket + PLACES + i] == frame) {
        close(bucket, i, count);
        ints[bucket + COUNT] = count - 1;
        break;
      }
    }
    unlock(bucket);
  }

  /**
   * Removes the oldest frame of a bucket, 0 to {@link #buckets()} - 1, and returns it; {@link
   * #NONE} if the bucket is empty.
   */
  int pop(Backoff backoff, int number) {
    int bucket = lock(backoff, number * BUCKET_INTS);
    int count = ints[bucket + COUNT];
    int oldest = NONE;
    if (count > 0) {
      oldest = ints[bucket + PLACES];
      close(bucket, 0, count);
      ints[bucket + COUNT] = count - 1;
    }
    unlock(bucket);
    return oldest;
  }

  /** Forgets every frame. No other thread may use the map meanwhile. */
  void clear() {
    Arrays.fill(ints, 0);
  }

  private int bucket(long address) {
    long hash = (address * 0xD6E8FEB86659FD93L) >>> 32;
    return (int) ((hash * buckets) >>> 32) * BUCKET_INTS;
  }

  private void close(int bucket, int index, int count) {
    int at = bucket + PLACES + index;
    System.arraycopy(ints, at + 1, ints, at, count - index - 1);
  }

  private int lock(Backoff backoff, int bucket) {
    long start = 0;
    for (int attempt = 0; !INTS.compareAndSet(ints, bucket, 0, 1); attempt++) {
      String what = "a bucket of the cooling map stayed locked: bucket";
      start = WaitLimit.SHORT.pause(backoff, attempt, start, what, bucket);
    }
    return bucket;
  }

  private void unlock(int bucket) {
    INTS.setRelease(ints, bucket, 0);
  }
}
