package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Writes a new block, record by record in the order of their keys. */
final class BlockWriter {
  private final MemorySegment bytes;
  private final int prefixBytes;
  private final long records;
  private int count;
  private int end;

  /**
   * Begins a block.
   *
   * @param low the first key of its range
   * @param high the first key behind it, {@code null} if there is none
   * @param count number of records
   * @param recordsBytes bytes that they take without their slots, at the most
   */
  BlockWriter(MemorySegment low, @Nullable MemorySegment high, int count, long recordsBytes) {
    int lowBytes = (int) low.byteSize();
    int highBytes = high == null ? Block.NO_FENCE : (int) high.byteSize();
    this.records = Block.records(count, lowBytes, highBytes);
    this.bytes = MemorySegment.ofArray(new byte[Math.toIntExact(records + recordsBytes)]);
    this.prefixBytes = high == null ? 0 : Block.commonPrefix(low, high);
    bytes.set(Block.INT, 0, Block.MAGIC);
    bytes.set(Block.INT, 4, count);
    bytes.set(Block.INT, 8, lowBytes);
    bytes.set(Block.INT, 12, highBytes);
    bytes.set(Block.INT, 16, prefixBytes);
    long fences = Block.HEADER_BYTES + (long) count * Block.SLOT_BYTES;
    MemorySegment.copy(low, 0, bytes, fences, lowBytes);
    if (high != null) {
      MemorySegment.copy(high, 0, bytes, fences + lowBytes, highBytes);
    }
  }

  /** Adds a record of another block, whose key is in this block's range. */
  void add(Block from, int i) {
    MemorySegment suffix = from.suffixOf(i);
    int more = from.prefixBytes() - prefixBytes;
    long at = begin((int) suffix.byteSize() + more);
    if (more >= 0) {
      MemorySegment.copy(from.low(), prefixBytes, bytes, at, more);
      MemorySegment.copy(suffix, 0, bytes, at + more, suffix.byteSize());
    } else {
      MemorySegment.copy(suffix, -more, bytes, at, suffix.byteSize() + more);
    }
    end(at, (int) suffix.byteSize() + more, from.stored(i), from.hasBlob(i));
  }

  /** Adds a record. */
  void add(MemorySegment key, MemorySegment stored, boolean blob) {
    int length = (int) key.byteSize() - prefixBytes;
    long at = begin(length);
    MemorySegment.copy(key, prefixBytes, bytes, at, length);
    end(at, length, stored, blob);
  }

  private long begin(int suffixBytes) {
    bytes.set(Block.INT, records + end, suffixBytes);
    return records + end + Block.LENGTHS_BYTES;
  }

  private void end(long suffix, int suffixBytes, MemorySegment stored, boolean blob) {
    int storedBytes = (int) stored.byteSize();
    bytes.set(Block.INT, records + end + 4, blob ? Block.BLOB : storedBytes);
    MemorySegment.copy(stored, 0, bytes, suffix + suffixBytes, storedBytes);
    long slot = Block.HEADER_BYTES + (long) count * Block.SLOT_BYTES;
    bytes.set(Block.INT, slot, Block.head(suffix, suffixBytes, bytes));
    bytes.set(Block.INT, slot + 4, end);
    count++;
    end += Block.LENGTHS_BYTES + suffixBytes + storedBytes;
  }

  /** Returns the block, in as few bytes as it needs. */
  Block finish() {
    long used = records + end;
    boolean exact = used == bytes.byteSize();
    return Block.of(
        exact ? bytes : MemorySegment.ofArray(bytes.asSlice(0, used).toArray(JAVA_BYTE)));
  }
}
