package pando.door.resp;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * How often the keys of a door were changed, for clients that watch some. Keys share a number with
 * others of the same hash, so a key may look changed that is not. Thread-safe.
 */
final class KeyVersions {
  /*
   * Each event loop counts in numbers of its own, which only it writes: no two wait for each other,
   * and a change costs two plain stores. A number is odd while a change is under way. It becomes
   * odd before the change has any effect; so who looks at the numbers once the change has ended, or
   * while nobody changes the key, sees it. A transaction counts its changes at its end, before
   * others see any of them: one that is run again has not changed what it watches. A watcher
   * remembers the sum over all event loops, when none of them is odd. The numbers only grow, so the
   * sum is the same as long as all of them are.
   */

  /** The version of a key that is being changed: none is equal to it later. */
  static final long CHANGING = -1;

  private static final int COUNT = 1 << 12;
  private static final long SPREAD = 0x9E3779B97F4A7C15L;
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle NUMBER = MethodHandles.arrayElementVarHandle(long[].class);

  private final List<Changes> all = new CopyOnWriteArrayList<>();

  /** Returns the numbers of another event loop. */
  Changes newChanges() {
    Changes changes = new Changes();
    all.add(changes);
    return changes;
  }

  /** Returns how often the keys of a hash were changed, or {@link #CHANGING}. */
  long version(int hash) {
    long sum = 0;
    for (Changes changes : all) {
      long number = (long) NUMBER.getAcquire(changes.numbers, hash);
      if ((number & 1) != 0) {
        return CHANGING;
      }
      sum += number;
    }
    return sum;
  }

  /** Returns the hash of a key: which number it has. */
  static int hash(int database, byte[] bytes, int from, int length) {
    long hash = (long) database + length;
    int at = from;
    int end = from + length;
    for (; at + Long.BYTES <= end; at += Long.BYTES) {
      hash = Long.rotateLeft((hash ^ (long) LONG.get(bytes, at)) * SPREAD, Integer.SIZE);
    }
    long rest = 0;
    for (; at < end; at++) {
      rest = rest << Byte.SIZE | (bytes[at] & 0xff);
    }
    return (int) (((hash ^ rest) * SPREAD) >>> (Long.SIZE - Integer.numberOfTrailingZeros(COUNT)));
  }

  /** Changes by one event loop. Not thread-safe. */
  static final class Changes {
    private final long[] numbers = new long[COUNT];

    /** Begins a change of a key, perhaps within another one. */
    void begin(int hash) {
      NUMBER.setRelease(numbers, hash, numbers[hash] | 1);
    }

    /** Counts a change of a key that others do not see yet. */
    void add(int hash) {
      begin(hash);
      end(hash);
    }

    /** Ends a change of a key. */
    void end(int hash) {
      NUMBER.setRelease(numbers, hash, (numbers[hash] | 1) + 1);
    }
  }
}
