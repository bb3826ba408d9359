package pando.index.session;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Which of many numbered things have changes that are not in the pool: a bit each. Thread-safe.
 *
 * <p>A change marks its thing while it holds what protects the thing, such as a latch. What writes
 * the change takes the mark first, and then the latch. So a change is marked, or is being written,
 * or is in the pool.
 */
public final class Marks {
  private static final int CHUNK_SHIFT = 13;
  private static final int CHUNK_WORDS = 1 << (CHUNK_SHIFT - 6);

  /** No number. */
  public static final long NONE = -1;

  private volatile AtomicLongArray[] chunks = new AtomicLongArray[0];
  private volatile Runnable onSet = () -> {};

  /** Creates marks of numbers below one. */
  public Marks(long numbers) {
    ensure(numbers);
  }

  /** Sets what is called after a mark was set. */
  public void onSet(Runnable action) {
    onSet = action;
  }

  /** Makes room for all numbers below one. */
  public synchronized void ensure(long numbers) {
    int before = chunks.length;
    int wanted = Math.toIntExact((numbers + (1 << CHUNK_SHIFT) - 1) >>> CHUNK_SHIFT);
    if (wanted > before) {
      AtomicLongArray[] more = Arrays.copyOf(chunks, wanted);
      for (int i = before; i < wanted; i++) {
        more[i] = new AtomicLongArray(CHUNK_WORDS);
      }
      chunks = more;
    }
  }

  /** Marks a number. Writes nothing to shared memory if it is marked. */
  public void set(long number) {
    AtomicLongArray chunk = chunk(number);
    int word = word(number);
    if ((chunk.get(word) & 1L << number) == 0) {
      replace(chunk, word, 1L << number, 1L << number);
      onSet.run();
    }
  }

  /** Takes the mark of a number away. */
  public void clear(long number) {
    replace(chunk(number), word(number), 1L << number, 0);
  }

  private static void replace(AtomicLongArray chunk, int word, long of, long by) {
    long bits = chunk.get(word);
    while (!chunk.compareAndSet(word, bits, (bits & ~of) | by)) {
      bits = chunk.get(word);
    }
  }

  /** Returns the least marked number from one on, or {@link #NONE}. */
  public long next(long from) {
    AtomicLongArray[] all = chunks;
    long word = from >>> 6;
    long above = -1L << from;
    for (; word < (long) all.length * CHUNK_WORDS; word++) {
      long bits = all[(int) (word / CHUNK_WORDS)].get((int) (word % CHUNK_WORDS)) & above;
      if (bits != 0) {
        return (word << 6) + Long.numberOfTrailingZeros(bits);
      }
      above = -1L;
    }
    return NONE;
  }

  private AtomicLongArray chunk(long number) {
    return chunks[(int) (number >>> CHUNK_SHIFT)];
  }

  private static int word(long number) {
    return (int) (number >>> 6) & (CHUNK_WORDS - 1);
  }
}
