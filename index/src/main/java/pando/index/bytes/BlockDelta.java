package pando.index.bytes;

import java.lang.foreign.MemorySegment;

/**
 * Changes of a block that wait in local memory, one for each key that has changed.
 *
 * <pre>
 *   log:   tag 2 | key 2 | value 2 | key | value      for each change, one behind the other
 * </pre>
 *
 * <p>The tag is a part of the key's hash. A change has the lengths of its key and of its value. As
 * in a {@link BlockSegment}, a value of length 65,535 is the word of a blob; one of length 65,534
 * is none: the key is removed.
 *
 * <p>What one of these objects says never changes. Each change makes a new object. If its key had
 * no change, it shares the log with the one before: it appends behind the end that this one sees.
 * So only the session that holds the block's latch may make one, out of the block's last. A log has
 * little room to spare, as most blocks have few changes: how many changes the memory holds says how
 * many go into a block together.
 */
final class BlockDelta {
  /** No changes. */
  static final BlockDelta NONE = new BlockDelta(new byte[0], 0, 0, 0, 0);

  private static final int TAG_BYTES = Short.BYTES;
  private static final int REMOVED = 0xfffe;

  /** A log that is full grows by one of so many parts of it, or by a change. */
  private static final int GROWTH_PART = 4;

  /** Bytes of the object and of the array's header. */
  private static final int OBJECT_BYTES = 32 + 16;

  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  /** Bytes from {@link #size} on are those of later objects. */
  private final byte[] log;

  private final int size;
  private final int count;
  private final int growth;
  private final int removedBytes;

  private BlockDelta(byte[] log, int size, int count, int growth, int removedBytes) {
    this.log = log;
    this.size = size;
    this.count = count;
    this.growth = growth;
    this.removedBytes = removedBytes;
  }

  /** Returns the number of changes. */
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
    return count == 0 ? 0 : OBJECT_BYTES + Block.padded(log.length);
  }

  /**
   * Returns the memory of all changes, in which {@link BlockSegment} finds what one of them has.
   */
  MemorySegment memory() {
    return MemorySegment.ofArray(log);
  }

  /** Returns where each change is. */
  int[] records() {
    MemorySegment in = memory();
    int[] records = new int[count];
    int record = TAG_BYTES;
    for (int i = 0; i < count; i++) {
      records[i] = record;
      record = end(in, record) + TAG_BYTES;
    }
    return records;
  }

  /** Returns where a change ends. */
  private static int end(MemorySegment in, int record) {
    int stored = isRemoved(in, record) ? 0 : BlockSegment.storedBytes(in, record);
    return (int) BlockSegment.stored(in, record) + stored;
  }

  /** Returns where the change of a key is, or -1 if there is none. */
  int find(MemorySegment key, long hash) {
    MemorySegment in = memory();
    short tag = tag(hash);
    for (int at = 0; at < size; ) {
      int record = at + TAG_BYTES;
      if (in.get(Block.SHORT, at) == tag && isOf(in, record, key)) {
        return record;
      }
      at = end(in, record);
    }
    return -1;
  }

  private static short tag(long hash) {
    return (short) (hash >>> Short.SIZE);
  }

  private static boolean isOf(MemorySegment in, int record, MemorySegment key) {
    long at = BlockSegment.suffix(record);
    return BlockSegment.suffixBytes(in, record) == key.byteSize()
        && MemorySegment.mismatch(in, at, at + key.byteSize(), key, 0, key.byteSize()) < 0;
  }

  /** Returns whether a change is that its key is not there. */
  static boolean isRemoved(MemorySegment in, int record) {
    return BlockSegment.valueLength(in, record) == REMOVED;
  }

  /** Returns the word of the blob that a change has. */
  long word(int record) {
    MemorySegment in = memory();
    return in.get(Block.LONG, BlockSegment.stored(in, record));
  }

  /**
   * Returns these changes and another one, in place of one of its key.
   *
   * @param before what {@link #find} returns for the key
   * @param stored the value, or the word of a blob
   * @param more bytes that the block takes for it at the most
   */
  BlockDelta with(
      int before, MemorySegment key, long hash, MemorySegment stored, boolean blob, int more) {
    int length = blob ? BlockSegment.BLOB : (int) stored.byteSize();
    return with(before, key, hash, stored, length, growth + more, removedBytes);
  }

  /**
   * Returns these changes and the removal of a key, in place of its change.
   *
   * @param before what {@link #find} returns for the key
   * @param fewer bytes that the record takes at the most
   */
  BlockDelta without(int before, MemorySegment key, long hash, int fewer) {
    return with(before, key, hash, NOTHING, REMOVED, growth, removedBytes + fewer);
  }

  private BlockDelta with(
      int before,
      MemorySegment key,
      long hash,
      MemorySegment stored,
      int length,
      int newGrowth,
      int newRemovedBytes) {
    int from = before < 0 ? size : before - TAG_BYTES;
    int to = before < 0 ? size : end(memory(), before);
    int at = size - (to - from);
    long keyAt = BlockSegment.suffix(at + TAG_BYTES);
    int end = Math.toIntExact(keyAt + key.byteSize() + stored.byteSize());
    byte[] next = before < 0 && end <= log.length ? log : without(from, to, end);
    MemorySegment in = MemorySegment.ofArray(next);
    in.set(Block.SHORT, at, tag(hash));
    in.set(Block.SHORT, at + TAG_BYTES, (short) key.byteSize());
    in.set(Block.SHORT, at + TAG_BYTES + 2L, (short) length);
    MemorySegment.copy(key, 0, in, keyAt, key.byteSize());
    MemorySegment.copy(stored, 0, in, keyAt + key.byteSize(), stored.byteSize());
    int newCount = before < 0 ? count + 1 : count;
    return new BlockDelta(next, end, newCount, newGrowth, newRemovedBytes);
  }

  /** Returns a copy of the log, but for some of its bytes, with room up to an end. */
  private byte[] without(int from, int to, int end) {
    boolean grows = end > log.length;
    byte[] copy = new byte[grows ? Math.max(end, size + size / GROWTH_PART) : log.length];
    System.arraycopy(log, 0, copy, 0, from);
    System.arraycopy(log, to, copy, from, size - to);
    return copy;
  }
}
