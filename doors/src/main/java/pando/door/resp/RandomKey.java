package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A key by chance: some keys behind a place between the first one and the last one. So a key behind
 * a gap is chosen more often than another one, but any may be.
 */
final class RandomKey {
  private static final int STEPS = 100;

  private final Store store;
  private final byte[] prefix;
  private final byte @Nullable [] behind;
  private byte @Nullable [] chosen;

  RandomKey(Store store, byte[] prefix) {
    this.store = store;
    this.prefix = prefix;
    this.behind = Stored.behindAll(prefix);
  }

  /** Returns a key, {@code null} if there is none. */
  byte @Nullable [] choose() {
    byte[] first = one(prefix, false);
    if (first == null) {
      return null;
    }
    byte[] last = one(first, true);
    int steps = 1 + ThreadLocalRandom.current().nextInt(STEPS);
    long visited = visit(last == null ? first : between(first, last), steps, false);
    while (visited < steps) { // from the start again, if keys are few
      long more = visit(prefix, steps - visited, false);
      if (more == 0) {
        return first; // all are gone meanwhile
      }
      visited += more;
    }
    return chosen;
  }

  private byte @Nullable [] one(byte[] from, boolean down) {
    chosen = null;
    long _ = visit(from, 1, down);
    return chosen;
  }

  private long visit(byte[] from, long steps, boolean down) {
    return store.scan(
        from,
        behind,
        down,
        steps,
        (key, _) -> {
          chosen = key.toArray(JAVA_BYTE);
          return true;
        });
  }

  /** Returns a string between two others that have the same start, or one of them. */
  private byte[] between(byte[] first, byte[] last) {
    int same = Arrays.mismatch(first, last);
    int length = same + Integer.BYTES;
    if (same < 0 || length > store.keyspace().strings().keyBytesMax()) {
      return first;
    }
    long least = word(first, same);
    long more = ThreadLocalRandom.current().nextLong(word(last, same) - least + 1);
    byte[] between = Arrays.copyOf(first, length);
    for (int i = 0; i < Integer.BYTES; i++) {
      between[same + i] = (byte) ((least + more) >>> (Byte.SIZE * (Integer.BYTES - 1 - i)));
    }
    return between;
  }

  private static long word(byte[] key, int start) {
    long word = 0;
    for (int i = start; i < start + Integer.BYTES; i++) {
      word = word << Byte.SIZE | (i < key.length ? key[i] & 0xFF : 0);
    }
    return word;
  }
}
