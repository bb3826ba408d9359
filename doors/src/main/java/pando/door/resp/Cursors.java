package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Where scans go on. A cursor names the key that was visited last, so that each door to the same
 * keys can go on behind it: its upper bits are the first bytes of the key, in which the door looks
 * for it, and its lower bits are a hash of all of them.
 *
 * <pre>
 * 0 (11 bits) | first 2 bytes (16 bits) | hash (37 bits)
 * </pre>
 *
 * <p>The upper bits are 0, as some clients take a cursor for a double. The door keeps the keys of
 * the last cursors that it gave, so that it need not look: the last {@value #CURSORS_MAX}, or fewer
 * if they are long or there is no memory for them. They outlive connections.
 *
 * <p>Thread-safe.
 */
final class Cursors {
  static final int CURSORS_MAX = 1 << 14;

  /** Bytes of a key that a cursor has. */
  static final int LEADING_BYTES = 2;

  private static final long BYTES_MAX = RespOptions.WAITING_BYTES_MIN / 16;
  private static final int HASH_BITS = 37;

  /** Bytes that a cursor takes beside its key. */
  private static final int CURSOR_BYTES = 128;

  private final MemoryBudget budget;
  private final SequencedMap<Long, byte[]> keys = new LinkedHashMap<>();
  private long bytes;

  Cursors(MemoryBudget budget) {
    this.budget = budget;
  }

  /** Returns the cursor of a key behind so many bytes of a segment; it is not 0. */
  static long of(MemorySegment segment, int skipped) {
    long leading = 0;
    for (int i = skipped; i < skipped + LEADING_BYTES; i++) {
      leading =
          leading << Byte.SIZE | (i < segment.byteSize() ? segment.get(JAVA_BYTE, i) & 0xFF : 0);
    }
    return leading << HASH_BITS | Math.max(1, hash(segment, skipped) >>> (Long.SIZE - HASH_BITS));
  }

  /** Hashes bytes as all doors do, in whatever version. */
  private static long hash(MemorySegment segment, int skipped) {
    long hash = 0xCBF29CE484222325L; // FNV-1a, whose upper bits are then mixed with the lower ones
    for (long i = skipped; i < segment.byteSize(); i++) {
      hash = (hash ^ (segment.get(JAVA_BYTE, i) & 0xFF)) * 0x100000001B3L;
    }
    return (hash ^ (hash >>> 32)) * 0x9E3779B97F4A7C15L;
  }

  /** Returns what keys begin with whose cursor may be this one; shorter keys have zeros there. */
  static byte[] leading(long cursor) {
    int leading = (int) (cursor >>> HASH_BITS);
    return new byte[] {(byte) (leading >>> Byte.SIZE), (byte) leading};
  }

  /** Keeps a key, which has no database in front, in place of the oldest ones. */
  synchronized void add(long cursor, byte[] key) {
    byte[] before = keys.remove(cursor);
    giveBack(before == null ? 0 : bytes(before));
    long more = bytes(key);
    while (!keys.isEmpty() && (keys.size() >= CURSORS_MAX || bytes + more > BYTES_MAX)) {
      removeOldest();
    }
    boolean hasRoom = budget.tryTake(more);
    while (!hasRoom && !keys.isEmpty()) {
      removeOldest();
      hasRoom = budget.tryTake(more);
    }
    if (hasRoom) {
      bytes += more;
      keys.put(cursor, key);
    }
  }

  private void removeOldest() {
    giveBack(bytes(keys.pollFirstEntry().getValue()));
  }

  private void giveBack(long taken) {
    bytes -= taken;
    budget.giveBack(taken);
  }

  private static long bytes(byte[] key) {
    return CURSOR_BYTES + (long) key.length;
  }

  /** Returns the key of a cursor, {@code null} if it is not kept. */
  synchronized byte @Nullable [] key(long cursor) {
    return keys.get(cursor);
  }

  /** Returns the key that was kept last of those with the same first bytes. */
  synchronized byte @Nullable [] lastWithSameStart(long cursor) {
    for (Map.Entry<Long, byte[]> each : keys.sequencedEntrySet().reversed()) {
      if (each.getKey() >>> HASH_BITS == cursor >>> HASH_BITS) {
        return each.getValue();
      }
    }
    return null;
  }
}
