package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Changes of a block that wait in local memory, in the order in which they were made: of each key,
 * the last one counts.
 *
 * <pre>
 *   log:     key 2 | value 2 | key | value      for each change, one behind the other
 *   places:  hash 16 bits | place 16 bits       where each change is in the log, and its key's hash
 * </pre>
 *
 * <p>A change has the lengths of its key and of its value. As in a {@link BlockSegment}, a value of
 * length 65,535 is the word of a blob; one of length 65,534 is none: the key is removed.
 *
 * <p>What one of these objects says never changes. Each change makes a new object, which shares the
 * log with the one before: it appends behind the end that this one sees. So only the session that
 * holds the block's latch may make one, out of the block's last.
 */
final class BlockDelta {
  /** No changes. */
  static final BlockDelta NONE =
      new BlockDelta(MemorySegment.ofArray(new byte[0]), 0, new int[0], 0, 0, 0);

  private static final int PLACE_MASK = 0xffff;
  private static final int REMOVED = 0xfffe;
  private static final int LOG_BYTES_MIN = 64;
  private static final int PLACES_MIN = 4;

  /** Bytes of the objects beside the two arrays, with the arrays' own headers. */
  private static final int OBJECT_BYTES = 40 + 40 + 2 * 16;

  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  /** Bytes from {@link #size} on, and places from {@link #count} on, are those of later objects. */
  private final MemorySegment log;

  private final int size;
  private final int[] places;
  private final int count;
  private final int growth;
  private final int removedBytes;

  private BlockDelta(
      MemorySegment log, int size, int[] places, int count, int growth, int removedBytes) {
    this.log = log;
    this.size = size;
    this.places = places;
    this.count = count;
    this.growth = growth;
    this.removedBytes = removedBytes;
  }

  /** Returns the number of changes, with those of which a later one of the same key counts. */
  int count() {
    return count;
  }

  /** Returns the bytes of all changes. */
  int size() {
    return size;
  }

  /** Returns about how many bytes more the block takes with the changes, at the most. */
  int growth() {
    return growth;
  }

  /** Returns about how many bytes of the block its removed records take, at the most. */
  int removedBytes() {
    return removedBytes;
  }

  /** Returns the bytes of local memory that the changes take. */
  long localBytes() {
    return count == 0 ? 0 : OBJECT_BYTES + log.byteSize() + (long) places.length * Integer.BYTES;
  }

  /**
   * Returns the memory of all changes, in which {@link BlockSegment} finds what one of them has.
   */
  MemorySegment memory() {
    return log;
  }

  /** Returns where a change is. */
  int record(int i) {
    return places[i] & PLACE_MASK;
  }

  /** Returns the number of the last change of a key, or -1 if there is none. */
  int find(MemorySegment key, long hash) {
    int tag = tag(hash);
    for (int i = count - 1; i >= 0; i--) {
      if ((places[i] & ~PLACE_MASK) == tag && isOf(record(i), key)) {
        return i;
      }
    }
    return -1;
  }

  private static int tag(long hash) {
    return (int) hash & ~PLACE_MASK;
  }

  private boolean isOf(int record, MemorySegment key) {
    long at = BlockSegment.suffix(record);
    return BlockSegment.suffixBytes(log, record) == key.byteSize()
        && MemorySegment.mismatch(log, at, at + key.byteSize(), key, 0, key.byteSize()) < 0;
  }

  /** Returns whether a change is that its key is not there. */
  static boolean isRemoved(MemorySegment in, int record) {
    return BlockSegment.valueLength(in, record) == REMOVED;
  }

  /** Returns the word of the blob that a change has. */
  long word(int i) {
    return log.get(Block.LONG, BlockSegment.stored(log, record(i)));
  }

  /**
   * Returns these changes and another one.
   *
   * @param stored the value, or the word of a blob
   * @param more bytes that the block takes for it at the most
   */
  BlockDelta with(MemorySegment key, long hash, MemorySegment stored, boolean blob, int more) {
    int length = blob ? BlockSegment.BLOB : (int) stored.byteSize();
    return with(key, hash, stored, length, growth + more, removedBytes);
  }

  /**
   * Returns these changes and the removal of a key.
   *
   * @param fewer bytes that the record takes at the most
   */
  BlockDelta without(MemorySegment key, long hash, int fewer) {
    return with(key, hash, NOTHING, REMOVED, growth, removedBytes + fewer);
  }

  private BlockDelta with(
      MemorySegment key,
      long hash,
      MemorySegment stored,
      int length,
      int newGrowth,
      int newRemovedBytes) {
    long keyEnd = BlockSegment.suffix(size) + key.byteSize();
    int end = Math.toIntExact(keyEnd + stored.byteSize());
    MemorySegment to = end <= log.byteSize() ? log : grown(end);
    to.set(Block.SHORT, size, (short) key.byteSize());
    to.set(Block.SHORT, size + 2L, (short) length);
    MemorySegment.copy(key, 0, to, BlockSegment.suffix(size), key.byteSize());
    MemorySegment.copy(stored, 0, to, keyEnd, stored.byteSize());
    int[] all =
        count < places.length ? places : Arrays.copyOf(places, Math.max(2 * count, PLACES_MIN));
    all[count] = tag(hash) | size;
    return new BlockDelta(to, end, all, count + 1, newGrowth, newRemovedBytes);
  }

  private MemorySegment grown(int end) {
    byte[] array = new byte[Math.max(2 * size, Math.max(end, LOG_BYTES_MIN))];
    MemorySegment to = MemorySegment.ofArray(array);
    MemorySegment.copy(log, 0, to, 0, size);
    return to;
  }

  /** Returns the changes that count, in a log of their own. */
  BlockDelta compacted() {
    BlockDelta next = NONE;
    for (int i = 0; i < count; i++) {
      MemorySegment key = key(i);
      if (find(key, places[i]) == i) {
        next = next.with(key, places[i], stored(i), valueLength(i), growth, removedBytes);
      }
    }
    return next;
  }

  private MemorySegment key(int i) {
    return log.asSlice(BlockSegment.suffix(record(i)), BlockSegment.suffixBytes(log, record(i)));
  }

  private int valueLength(int i) {
    return BlockSegment.valueLength(log, record(i));
  }

  /**
   * Returns what is stored for a key: the value, or the word of a blob; nothing if it is removed.
   */
  private MemorySegment stored(int i) {
    long at = BlockSegment.stored(log, record(i));
    return log.asSlice(at, (i + 1 < count ? record(i + 1) : size) - at);
  }
}
