package pando.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Operations at each depth of the stack of a thread, down to its end: as a program makes them that
 * recurses too far, and operates at every level. It knows what entries may have come of it.
 */
public final class DeepChanges {
  /** Number of the keys, from 0 on. */
  public static final int KEYS = 256;

  /** Small, so that it soon ends. */
  private static final long STACK_BYTES = 256 << 10;

  private static final int OPERATIONS_MAX = 30_000;
  private static final long NONE = -1;
  private static final int STORES = 3;
  private static final int REMOVES = 2;
  private static final int READS = 3;

  private final SplittableRandom random;
  private final long[] known = new long[KEYS];

  /** For each key, the values of changes since that have ended in an error. */
  private final List<Set<Long>> unsure = new ArrayList<>();

  private final byte[] kinds = new byte[OPERATIONS_MAX];
  private final int[] keys = new int[OPERATIONS_MAX];
  private final boolean[] done = new boolean[OPERATIONS_MAX];
  private int begun;
  private int failed;

  /** What operates. */
  public interface Target {
    /** Stores a value. */
    void store(int key, long value);

    /** Removes a key. */
    void remove(int key);

    /**
     * Reads something near a key.
     *
     * @param kind from 0 to 2
     */
    void read(int kind, int key);
  }

  /** Finds the values of keys, and stores others. */
  public interface Entries {
    /** Returns the value of a key, -1 if it has none. */
    long get(int key);

    /** Stores a value. */
    void store(int key, long value);
  }

  /** Begins with no entries. */
  public DeepChanges(long seed) {
    this.random = new SplittableRandom(Seeds.of(seed));
    for (int key = 0; key < KEYS; key++) {
      known[key] = NONE;
      unsure.add(new HashSet<>());
    }
  }

  /** Operates on a thread of its own until its stack has ended. */
  public void descend(Target target) throws Exception {
    for (int i = 0; i < OPERATIONS_MAX; i++) {
      kinds[i] = (byte) random.nextInt(STORES + REMOVES + READS);
      keys[i] = random.nextInt(KEYS);
      done[i] = false;
    }
    begun = 0;
    failed = 0;
    Threads.run(
        task -> new Thread(null, task, "deep", STACK_BYTES),
        List.of(() -> {
          try {
            recurse(target);
          } catch (StackOverflowError _) {
            // Of the recursion itself.
          }
          return null;
        }));
    assertThat(failed).as("operations that met the end of the stack").isPositive();
    for (int i = 0; i < begun; i++) {
      note(keys[i], kinds[i], i, done[i]);
    }
  }

  private void recurse(Target target) {
    if (begun < OPERATIONS_MAX) {
      try {
        int number = begun++;
        operate(target, kinds[number], keys[number], number);
        done[number] = true;
      } catch (StackOverflowError _) {
        // No call here, where the stack ends.
        failed++;
      }
      recurse(target);
    }
  }

  private static void operate(Target target, int kind, int key, long value) {
    if (kind < STORES) {
      target.store(key, value);
    } else if (kind < STORES + REMOVES) {
      target.remove(key);
    } else {
      target.read(kind - STORES - REMOVES, key);
    }
  }

  private void note(int key, int kind, long number, boolean isDone) {
    if (kind >= STORES + REMOVES) {
      return;
    }
    long value = kind < STORES ? number : NONE;
    if (isDone) {
      set(key, value);
    } else {
      unsure.get(key).add(value);
    }
  }

  private void set(int key, long value) {
    known[key] = value;
    unsure.get(key).clear();
  }

  /** Checks that every key has a value that it may have, and can be written. */
  public void check(Entries entries) {
    for (int key = 0; key < KEYS; key++) {
      long found = entries.get(key);
      if (found != known[key]) {
        assertThat(unsure.get(key)).as("key=%s, known=%s", key, known[key]).contains(found);
      }
      entries.store(key, key);
      set(key, key);
    }
  }

  /** Returns the entries that are known after a {@link #check}. */
  public static NavigableMap<Integer, Long> checked() {
    NavigableMap<Integer, Long> all = new TreeMap<>();
    for (int key = 0; key < KEYS; key++) {
      all.put(key, (long) key);
    }
    return all;
  }
}
