package pando.index.rolex;

/**
 * The circular queue of models that are due (ROLEX's CirQ): a key of each. Whoever comes while it
 * is full is not taken, and asks again with the model's next synonym leaf. Thread-safe.
 */
final class RetrainQueue {
  private static final int CAPACITY = 1 << 8;

  private final long[] keys = new long[CAPACITY];
  private int first;
  private int count;

  RetrainQueue() {}

  /** Adds a key; {@code false} where it is there already, or the queue is full. */
  synchronized boolean offer(long key) {
    if (count == CAPACITY) {
      return false;
    }
    for (int i = 0; i < count; i++) {
      if (keys[(first + i) % CAPACITY] == key) {
        return false;
      }
    }
    keys[(first + count++) % CAPACITY] = key;
    return true;
  }

  /**
   * Takes the key that came first.
   *
   * @param key takes it
   * @return whether there was one
   */
  synchronized boolean take(long[] key) {
    if (count == 0) {
      return false;
    }
    key[0] = keys[first];
    first = (first + 1) % CAPACITY;
    count--;
    return true;
  }

  /** Forgets all keys. */
  synchronized void clear() {
    count = 0;
  }
}
