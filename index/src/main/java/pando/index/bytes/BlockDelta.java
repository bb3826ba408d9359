package pando.index.bytes;

import java.lang.foreign.MemorySegment;

/**
 * Changes of a block that wait in local memory, one for each key that has changed.
 *
 * <pre>
 *   records   key 2 | value 2 | key | value      for each change, one behind the other
 *             room
 *   slots     hash 15 | moves 1 | place 16       bits, of each record, the first one last
 * </pre>
 *
 * <p>A record has the lengths of its key and of its value. As in a {@link BlockSegment}, a value of
 * length 65,535 is the word of a blob; one of length 65,534 is none: the key is removed, and the
 * length of what was stored for it is there, in 2 bytes. Parts of the hashes are beside each other,
 * so a lookup reads few lines of the processor's cache. A change moves records if its key is new,
 * or if the length of its value is another one, or ever was since it waits.
 *
 * <p>What one of these objects says never changes. Each change makes a new object. If its key had
 * no change, it shares the array with the one before: its record goes behind the last one that this
 * object sees, and its slot before the last one. So only the session that holds the block's latch
 * may make one, out of the block's last. An array has little room to spare, as most blocks have few
 * changes: the more of them the memory holds, the more go into a block together.
 */
final class BlockDelta {
  /** No changes. */
  static final BlockDelta NONE = new BlockDelta(new byte[0], 0, 0, 0, 0);

  /** In place of a length: nothing is stored. */
  static final int ABSENT = -1;

  /** What a record takes more than its key and its value, with its part of a segment's header. */
  private static final int RECORD_OVERHEAD = 16;

  private static final int PLACE_MASK = 0xffff;
  private static final int MOVES = 0x1_0000;
  private static final int TAG_MASK = ~(PLACE_MASK | MOVES);
  private static final int SLOT_BYTES = Integer.BYTES;
  private static final int REMOVED = 0xfffe;

  /** A full array grows by one of so many parts of it, or by as much as a change needs. */
  private static final int GROWTH_PART = 4;

  /** Bytes of the object and of the array's header. */
  private static final int OBJECT_BYTES = 32 + 16;

  /** Between {@link #size} and the slots of {@link #count} records are those of later objects. */
  private final byte[] bytes;

  private final int size;
  private final int count;
  private final int growth;
  private final int removedBytes;

  private BlockDelta(byte[] bytes, int size, int count, int growth, int removedBytes) {
    this.bytes = bytes;
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
    return count == 0 ? 0 : OBJECT_BYTES + Block.padded(bytes.length);
  }

  /**
   * Returns the memory of all changes, in which {@link BlockSegment} finds what one of them has.
   */
  MemorySegment memory() {
    return MemorySegment.ofArray(bytes);
  }

  /** Returns where a change is. */
  int record(int i) {
    return slot(memory(), i) & PLACE_MASK;
  }

  /** Returns a part of a key's hash, and the place of its record. */
  private static int slot(MemorySegment in, int i) {
    return in.get(Block.INT, slotAt(in, i));
  }

  private static long slotAt(MemorySegment in, int i) {
    return in.byteSize() - (i + 1L) * SLOT_BYTES;
  }

  private static void setSlot(MemorySegment in, int i, int slot) {
    in.set(Block.INT, slotAt(in, i), slot);
  }

  /** Returns the number of the change of a key, or -1 if there is none. */
  int find(MemorySegment key, long hash) {
    MemorySegment in = memory();
    int tag = tag(hash);
    for (int i = 0; i < count; i++) {
      int slot = slot(in, i);
      if ((slot & TAG_MASK) == tag && isOf(in, slot & PLACE_MASK, key)) {
        return i;
      }
    }
    return -1;
  }

  private static int tag(long hash) {
    return (int) hash & TAG_MASK;
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
  long word(int i) {
    MemorySegment in = memory();
    return in.get(Block.LONG, BlockSegment.stored(in, record(i)));
  }

  /**
   * Returns these changes and another one, in place of one of its key.
   *
   * @param waiting what {@link #find} returns for the key
   * @param stored the value, or the word of a blob
   * @param before length of what was stored for the key, {@link #ABSENT} if it was not there
   */
  BlockDelta with(
      int waiting, MemorySegment key, long hash, MemorySegment stored, boolean blob, int before) {
    boolean comesBack = waiting >= 0 && before == ABSENT;
    int replaced = comesBack ? removedLength(waiting) : before;
    int keyBytes = (int) key.byteSize();
    int more = (int) stored.byteSize() - (replaced == ABSENT ? -keyBytes : replaced);
    int moved = moves(waiting);
    int moves = replaced == ABSENT || more != 0 ? MOVES : moved;
    int overhead = moves == moved ? 0 : RECORD_OVERHEAD;
    return with(
        waiting,
        key,
        tag(hash) | moves,
        stored,
        blob ? BlockSegment.BLOB : (int) stored.byteSize(),
        moves == 0 ? growth : Math.max(growth + more + overhead, 1),
        comesBack ? removedBytes - removedBytes(keyBytes, replaced) : removedBytes);
  }

  /**
   * Returns these changes and the removal of a key, in place of its change.
   *
   * @param waiting what {@link #find} returns for the key
   * @param before length of what was stored for the key
   */
  BlockDelta without(int waiting, MemorySegment key, long hash, int before) {
    MemorySegment length = MemorySegment.ofArray(new byte[] {(byte) before, (byte) (before >> 8)});
    int fewer = removedBytes((int) key.byteSize(), before);
    int tag = tag(hash) | moves(waiting);
    return with(waiting, key, tag, length, REMOVED, growth, removedBytes + fewer);
  }

  /** Returns the length of what was stored for a key that is removed. */
  private int removedLength(int i) {
    MemorySegment in = memory();
    return in.get(Block.SHORT, BlockSegment.stored(in, record(i))) & PLACE_MASK;
  }

  private int moves(int waiting) {
    return waiting < 0 ? 0 : slot(memory(), waiting) & MOVES;
  }

  private static int removedBytes(int keyBytes, int storedBytes) {
    return keyBytes + storedBytes + RECORD_OVERHEAD;
  }

  private BlockDelta with(
      int waiting,
      MemorySegment key,
      int tag,
      MemorySegment stored,
      int length,
      int newGrowth,
      int newRemovedBytes) {
    int others = waiting < 0 ? count : count - 1;
    int at = waiting < 0 ? size : size - recordBytes(waiting);
    assert at <= PLACE_MASK : at;
    long keyAt = BlockSegment.suffix(at);
    int end = Math.toIntExact(keyAt + key.byteSize() + stored.byteSize());
    byte[] next = withRoom(waiting, end + (others + 1) * SLOT_BYTES);
    MemorySegment in = MemorySegment.ofArray(next);
    in.set(Block.SHORT, at, (short) key.byteSize());
    in.set(Block.SHORT, at + 2L, (short) length);
    MemorySegment.copy(key, 0, in, keyAt, key.byteSize());
    MemorySegment.copy(stored, 0, in, keyAt + key.byteSize(), stored.byteSize());
    setSlot(in, others, tag | at);
    return new BlockDelta(next, end, others + 1, newGrowth, newRemovedBytes);
  }

  /** Returns the bytes of a change's record. */
  private int recordBytes(int i) {
    return (i + 1 < count ? record(i + 1) : size) - record(i);
  }

  /**
   * Returns the array if it has room behind its changes, or a copy of it with room.
   *
   * @param replaced number of a change that the copy is without, -1 for none
   * @param needed bytes of both rows, with the change that comes
   */
  private byte[] withRoom(int replaced, int needed) {
    boolean hasRoom = needed <= bytes.length;
    if (hasRoom && replaced < 0) {
      return bytes;
    }
    int wanted = hasRoom ? bytes.length : bytes.length + bytes.length / GROWTH_PART;
    byte[] copy = new byte[Math.clamp(wanted, needed, needed + needed / GROWTH_PART)];
    int from = replaced < 0 ? size : record(replaced);
    int gone = replaced < 0 ? 0 : recordBytes(replaced);
    System.arraycopy(bytes, 0, copy, 0, from);
    System.arraycopy(bytes, from + gone, copy, from, size - from - gone);
    MemorySegment all = memory();
    MemorySegment in = MemorySegment.ofArray(copy);
    int next = 0;
    for (int i = 0; i < count; i++) {
      if (i != replaced) {
        int slot = slot(all, i);
        setSlot(in, next++, (slot & PLACE_MASK) > from ? slot - gone : slot);
      }
    }
    return copy;
  }
}
