package pando.durable.holder;

import static pando.durable.holder.LogFrame.INT;

import java.lang.foreign.MemorySegment;

/**
 * Entries as a row of bytes, which is cut into pieces anywhere. Not thread-safe.
 *
 * <pre>
 *  0           4             8
 * +-----------+-------------+-----+-------+
 * | key bytes | value bytes | key | value |
 * +-----------+-------------+-----+-------+
 * </pre>
 */
final class EntryBytes {
  private static final int HEAD = 8;
  private static final int FIRST_BYTES = 8 << 10;

  private MemorySegment bytes = MemorySegment.ofArray(new byte[FIRST_BYTES]);
  private long start;
  private long end;

  /** Returns how many bytes there are. */
  long size() {
    return end - start;
  }

  void clear() {
    start = 0;
    end = 0;
  }

  /** Adds an entry. */
  void add(MemorySegment key, MemorySegment value) {
    long length = HEAD + key.byteSize() + value.byteSize();
    reserve(length);
    bytes.set(INT, end, (int) key.byteSize());
    bytes.set(INT, end + 4, (int) value.byteSize());
    MemorySegment.copy(key, 0, bytes, end + HEAD, key.byteSize());
    MemorySegment.copy(value, 0, bytes, end + HEAD + key.byteSize(), value.byteSize());
    end += length;
  }

  /** Adds a piece. */
  void add(MemorySegment from, long at, long length) {
    reserve(length);
    MemorySegment.copy(from, at, bytes, end, length);
    end += length;
  }

  private void reserve(long more) {
    if (end + more > bytes.byteSize()) {
      long size = Math.max(size() + more, FIRST_BYTES);
      MemorySegment room =
          size > bytes.byteSize() / 2
              ? MemorySegment.ofArray(new byte[Math.toIntExact(2 * size)])
              : bytes;
      MemorySegment.copy(bytes, start, room, 0, size());
      end -= start;
      start = 0;
      bytes = room;
    }
  }

  /** Takes a piece from the start. */
  void take(MemorySegment to, long at, long length) {
    MemorySegment.copy(bytes, start, to, at, length);
    start += length;
  }

  /** Returns whether there is a whole entry at the start. */
  boolean hasEntry() {
    return size() >= HEAD && size() >= HEAD + keyBytes() + valueBytes();
  }

  private long keyBytes() {
    return length(start);
  }

  private long valueBytes() {
    return length(start + 4);
  }

  private long length(long at) {
    int length = bytes.get(INT, at);
    if (length < 0) {
      throw new IllegalArgumentException("no length of a key or value: " + length);
    }
    return length;
  }

  /** Returns the key of the entry at the start, until something is added. */
  MemorySegment key() {
    return bytes.asSlice(start + HEAD, keyBytes());
  }

  /** Returns the value of the entry at the start, until something is added. */
  MemorySegment value() {
    return bytes.asSlice(start + HEAD + keyBytes(), valueBytes());
  }

  /** Takes the entry away that is at the start. */
  void removeEntry() {
    start += HEAD + keyBytes() + valueBytes();
  }
}
