package pando.door.resp;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where the scans of a client go on, by numbers, as clients take a cursor to be one: the last 1,024
 * keys, or fewer if they are long. Thread-safe, as a client may go on in another connection of its
 * own.
 */
final class Cursors {
  private static final int CURSORS_MAX = 1024;
  private static final long BYTES_MAX = 1 << 20;
  private static final int SEQUENCE_BITS = 32;

  /** Bytes that a cursor takes beside its key. */
  private static final int CURSOR_BYTES = 128;

  private final long client;
  private final MemoryBudget budget;
  private final Map<Long, byte[]> keys = new LinkedHashMap<>();
  private long sequence;
  private long bytes;

  Cursors(long client, MemoryBudget budget) {
    this.client = client;
    this.budget = budget;
  }

  /** Returns the number of the client that a cursor is of. */
  static long clientOf(long cursor) {
    return cursor >>> SEQUENCE_BITS;
  }

  /**
   * Keeps a key; returns its cursor, which is not 0.
   *
   * @throws Refusal if what all connections keep takes too much memory
   */
  synchronized long add(byte[] key) {
    if (!budget.tryTake(bytes(key))) {
      throw new Refusal("ERR the server has no memory for further cursors");
    }
    sequence++;
    long cursor = (client << SEQUENCE_BITS) | (sequence & ((1L << SEQUENCE_BITS) - 1));
    keys.put(cursor, key);
    bytes += bytes(key);
    while (keys.size() > CURSORS_MAX || (bytes > BYTES_MAX && keys.size() > 1)) {
      Map.Entry<Long, byte[]> oldest = keys.entrySet().iterator().next();
      keys.remove(oldest.getKey());
      bytes -= bytes(oldest.getValue());
      budget.giveBack(bytes(oldest.getValue()));
    }
    return cursor;
  }

  private static long bytes(byte[] key) {
    return CURSOR_BYTES + (long) key.length;
  }

  /** Forgets all cursors. */
  synchronized void clear() {
    keys.clear();
    budget.giveBack(bytes);
    bytes = 0;
  }

  synchronized byte @Nullable [] key(long cursor) {
    return keys.get(cursor);
  }
}
