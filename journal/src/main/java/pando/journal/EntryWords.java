package pando.journal;

import static pando.journal.FileBytes.LONG;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Words as the bytes of entries. A key has 8 bytes, big-endian, with the sign bit turned over, so
 * that keys order as unsigned bytes. A value has 8 bytes, little-endian.
 */
public final class EntryWords {
  private static final ValueLayout.OfLong KEY =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private EntryWords() {}

  /** Stores a key. */
  public static void setKey(MemorySegment memory, long at, long key) {
    memory.set(KEY, at, key ^ Long.MIN_VALUE);
  }

  /** Returns the key that the first 8 bytes are. */
  public static long key(MemorySegment bytes) {
    return bytes.get(KEY, 0) ^ Long.MIN_VALUE;
  }

  /** Stores a value. */
  public static void setValue(MemorySegment memory, long at, long value) {
    memory.set(LONG, at, value);
  }

  /** Returns the value that the first 8 bytes are. */
  public static long value(MemorySegment bytes) {
    return bytes.get(LONG, 0);
  }
}
