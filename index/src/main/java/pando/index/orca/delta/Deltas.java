package pando.index.orca.delta;

import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;
import pando.fabric.memory.Words;
import pando.index.orca.parts.CacheParts;
import pando.index.session.Shortage;

/**
 * The deltas of a compute server's leaves: for each leaf that has changes, a block of records that
 * ascend by key, each a put or a removal. A block is named by an int, 0 if there is none.
 *
 * <p>Blocks are taken and given back by any thread. A block has one writer at a time, the holder of
 * the latch of its leaf, and any number of readers: those may read a block that is changed, given
 * back or used again meanwhile, get anything then, but no exception, and find out by the version of
 * the leaf. What is named by the leaf is published by the writer's unlatching.
 */
public final class Deltas {
  /** No block. */
  public static final int NONE = DeltaBlock.NONE;

  /** Highest number of records in a block. */
  public static final int RECORDS_MAX = DeltaBlock.RECORDS_MAX;

  /** Bytes of a key and its value. */
  public static final int ENTRY_BYTES = 2 * Long.BYTES;

  /** Kind: the key is present, and known to be absent from the leaf. */
  public static final int PUT = 1;

  /** Kind: the key is present, and the leaf may have an older value. */
  public static final int PUT_OVER = 2;

  /** Kind: the key was removed, and the leaf may have it. */
  public static final int TOMBSTONE = 3;

  /**
   * Records of a block, by size: a slab has room for one block of the largest, for two, three...
   */
  private static final int[] ROOMS = {4, 7, 11, 16, 22, 31, 41, 50, 63, 84, 127, RECORDS_MAX};

  /** Records that are searched one after the other. */
  private static final int GROUP = 16;

  /** Lines that a block of some 15 records has. */
  private static final int TOUCHED_LINES = 5;

  private static final int LINE_BYTES = 64;

  private final CacheParts parts;
  private final MemorySegment memory;
  private final Slabs slabs;

  /** Creates memory for deltas that has no part yet. */
  public Deltas(CacheParts parts) {
    long most = 0xFFFF_FFFFL * DeltaBlock.UNIT_BYTES;
    if (parts.count() * parts.bytesOfPart() > most) {
      throw new IllegalArgumentException(
          "too much memory to name its blocks: parts=%s, bytesOfPart=%s, most=%s"
              .formatted(parts.count(), parts.bytesOfPart(), most));
    }
    this.parts = parts;
    this.memory = parts.memory();
    this.slabs = new Slabs(parts, ROOMS);
  }

  // Parts

  /** Gives blocks from a part, too. */
  public void add(int part) {
    slabs.add(part);
  }

  /** Gives no more blocks from a part; those in use stay. {@link #add} takes it back. */
  public void retire(int part) {
    slabs.retire(part);
  }

  /** Returns the parts that blocks are given from. */
  public int[] parts() {
    return IntStream.range(0, parts.count()).filter(slabs::has).toArray();
  }

  /** Returns whether blocks are given from a part. */
  public boolean has(int part) {
    return slabs.has(part);
  }

  /** Returns the bytes of all blocks in use in a part. */
  public long bytesUsed(int part) {
    return slabs.bytesUsed(part);
  }

  /** Returns the part that a block lies in. */
  public int partOf(int block) {
    return parts.partOf(DeltaBlock.at(block));
  }

  /** Returns the bytes that blocks can be made of. */
  public long bytes() {
    return slabs.bytes();
  }

  /** Returns the bytes of all blocks in use. */
  public long bytesUsed() {
    return slabs.bytesUsed();
  }

  /** Returns the number of records that all blocks in use can hold. */
  public long roomUsed() {
    return slabs.roomUsed();
  }

  /** Returns whether memory is going to be short: more than 5/6 of the bytes are used. */
  public boolean isNearlyShort() {
    return Shortage.isNearlyShort(bytesUsed(), bytes());
  }

  /** Returns whether memory would not be nearly short again after a few changes. */
  public boolean isEased() {
    return Shortage.isEased(bytesUsed(), bytes());
  }

  /** Returns whether more than 7/8 of the bytes are used, so that leaves should be merged. */
  public boolean isShort() {
    return Shortage.isShort(bytesUsed(), bytes());
  }

  /** Returns which share of the last eighth of the bytes is used. */
  public double shortage() {
    return Shortage.share(bytesUsed(), bytes());
  }

  // Reading

  /** Returns the number of records of a block, at most {@link #RECORDS_MAX}. */
  public int count(int block) {
    return DeltaBlock.count(memory, block);
  }

  /**
   * Searches a key in a block.
   *
   * @return the record's index, or {@code -1 - index} of where it would go
   */
  public int find(int block, long key) {
    // First by groups, then in one group: the processor waits for the lines of each step at once.
    long records = DeltaBlock.recordsAt(memory, block);
    int count = count(block);
    int group = 0;
    for (int first = GROUP; first < count; first += GROUP) {
      group += keyAt(records, first) <= key ? GROUP : 0;
    }
    int end = Math.min(group + GROUP, count);
    int index = group;
    for (int i = group; i < end; i++) {
      index += keyAt(records, i) < key ? 1 : 0;
    }
    return index < count && keyAt(records, index) == key ? index : -1 - index;
  }

  /**
   * Reads from the first lines of a block, whatever is there, and though it may have fewer: its
   * header would have to be waited for.
   */
  public long touch(int block) {
    long sum = 0;
    if (block != NONE) {
      long at = DeltaBlock.at(block);
      for (int i = 0; i < TOUCHED_LINES; i++) {
        sum += Words.get(memory, at + (long) i * LINE_BYTES);
      }
    }
    return sum;
  }

  private long keyAt(long records, int index) {
    return Words.get(memory, records + (long) index * DeltaBlock.RECORD_BYTES);
  }

  /** Returns the kind of a record: {@link #PUT}, {@link #PUT_OVER} or {@link #TOMBSTONE}. */
  public int kind(int block, int index) {
    assert isIndex(index) : index;
    return DeltaBlock.kind(memory, block, index);
  }

  /** Returns the key of a record. */
  public long key(int block, int index) {
    assert isIndex(index) : index;
    return DeltaBlock.key(memory, block, index);
  }

  /** Returns the value of a record; what was given with it if it is a tombstone. */
  public long value(int block, int index) {
    assert isIndex(index) : index;
    return DeltaBlock.value(memory, block, index);
  }

  private static boolean isIndex(int index) {
    return index >= 0 && index < RECORDS_MAX;
  }

  // Writing, under the latch of the leaf

  /** Sets the kind of a record. */
  public void setKind(int block, int index, int kind) {
    checkIndex(block, index);
    checkKind(kind);
    DeltaBlock.setKind(memory, block, index, kind);
  }

  /** Sets the value of a record. */
  public void setValue(int block, int index, long value) {
    checkIndex(block, index);
    DeltaBlock.setValue(memory, block, index, value);
  }

  /**
   * Takes an empty block.
   *
   * @return {@link #NONE} if there is no memory
   */
  public int create() {
    return slabs.take(1);
  }

  /**
   * Inserts a record whose key the block does not have.
   *
   * @return the block; or a larger one with all records and the new one, and then the block that
   *     was passed stays as it was, for readers, until the caller has published the new one and
   *     frees it; or {@link #NONE} if there is no memory, or no block has room for one more
   */
  public int insert(int block, long key, long value, int kind) {
    checkKind(kind);
    int found = find(block, key);
    if (found >= 0) {
      throw new IllegalArgumentException(
          "the delta has the key: key=" + key + ", block=" + block + ", index=" + found);
    }
    int index = -1 - found;
    int count = count(block);
    int to = block;
    if (count == DeltaBlock.room(memory, block)) {
      to = slabs.take(count + 1);
      if (to == NONE) {
        return NONE;
      }
      DeltaBlock.copy(memory, block, 0, to, 0, index);
    }
    DeltaBlock.copy(memory, block, index, to, index + 1, count - index);
    DeltaBlock.setRecord(memory, to, index, key, value, kind);
    DeltaBlock.setCount(memory, to, count + 1);
    return to;
  }

  /** Removes a record from a block, which may be empty then, but stays. */
  public void remove(int block, int index) {
    checkIndex(block, index);
    int count = count(block);
    DeltaBlock.copy(memory, block, index + 1, block, index, count - index - 1);
    DeltaBlock.setCount(memory, block, count - 1);
  }

  /**
   * Gives a block back. Readers that still have its name may go on reading.
   *
   * @throws IllegalStateException if it is not in use
   */
  public void free(int block) {
    slabs.give(block);
  }

  /** Returns the memory, for tests that damage it. */
  MemorySegment memory() {
    return memory;
  }

  private void checkIndex(int block, int index) {
    if (index < 0 || index >= count(block)) {
      throw new IllegalArgumentException(
          "no such record: block=" + block + ", index=" + index + ", records=" + count(block));
    }
  }

  private static void checkKind(int kind) {
    if (kind < PUT || kind > TOMBSTONE) {
      throw new IllegalArgumentException("no such kind: kind=" + kind);
    }
  }
}
