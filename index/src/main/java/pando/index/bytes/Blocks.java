package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Makes blocks of others: with a record more or less, in two, or two in one. */
final class Blocks {
  /** Share of a block that may be garbage: one of so many bytes. */
  private static final int GARBAGE_PART = 4;

  private Blocks() {}

  /** Returns a block without records. */
  static Block empty(MemorySegment low, @Nullable MemorySegment high) {
    return new BlockWriter(low, high, 0, 0).finish();
  }

  /**
   * Returns a block in which a key has a value.
   *
   * @param found what {@link Block#find} returns for the key
   * @param stored the value, or the word of a blob
   */
  static Block with(Block old, int found, MemorySegment key, MemorySegment stored, boolean blob) {
    if (found < 0) {
      return inserted(old, -1 - found, key, stored, blob);
    }
    if (old.stored(found).byteSize() == stored.byteSize() && old.hasBlob(found) == blob) {
      return patched(old, found, stored);
    }
    return inserted(without(old, found), found, key, stored, blob);
  }

  private static Block patched(Block old, int i, MemorySegment stored) {
    MemorySegment bytes = copy(old);
    Block block = Block.of(bytes);
    MemorySegment.copy(stored, 0, block.stored(i), 0, stored.byteSize());
    return block;
  }

  private static MemorySegment copy(Block old) {
    MemorySegment bytes = MemorySegment.ofArray(new byte[(int) old.bytes().byteSize()]);
    bytes.copyFrom(old.bytes());
    return bytes;
  }

  /** Slots and records are copied as they are; the new record goes behind the others. */
  private static Block inserted(
      Block old, int i, MemorySegment key, MemorySegment stored, boolean blob) {
    int suffixBytes = (int) key.byteSize() - old.prefixBytes();
    int storedBytes = (int) stored.byteSize();
    long oldBytes = old.bytes().byteSize();
    int recordBytes = Block.LENGTHS_BYTES + suffixBytes + storedBytes;
    MemorySegment bytes =
        MemorySegment.ofArray(new byte[Math.toIntExact(oldBytes + Block.SLOT_BYTES + recordBytes)]);
    long slot = Block.HEADER_BYTES + (long) i * Block.SLOT_BYTES;
    MemorySegment.copy(old.bytes(), 0, bytes, 0, slot);
    MemorySegment.copy(old.bytes(), slot, bytes, slot + Block.SLOT_BYTES, oldBytes - slot);
    long record = oldBytes + Block.SLOT_BYTES;
    long suffix = record + Block.LENGTHS_BYTES;
    bytes.set(Block.INT, record, suffixBytes);
    bytes.set(Block.INT, record + 4, blob ? Block.BLOB : storedBytes);
    MemorySegment.copy(key, old.prefixBytes(), bytes, suffix, suffixBytes);
    MemorySegment.copy(stored, 0, bytes, suffix + suffixBytes, storedBytes);
    bytes.set(Block.INT, 4, old.count() + 1);
    bytes.set(Block.INT, slot, Block.head(suffix, suffixBytes, bytes));
    bytes.set(Block.INT, slot + 4, (int) (oldBytes - old.records()));
    return Block.of(bytes);
  }

  /** Returns a block without a record. */
  static Block without(Block old, int i) {
    long oldBytes = old.bytes().byteSize();
    int garbage = old.garbage() + old.recordBytes(i);
    if (garbage > oldBytes / GARBAGE_PART) {
      return rewritten(old, i);
    }
    MemorySegment bytes = MemorySegment.ofArray(new byte[(int) oldBytes - Block.SLOT_BYTES]);
    long slot = Block.HEADER_BYTES + (long) i * Block.SLOT_BYTES;
    long behind = slot + Block.SLOT_BYTES;
    MemorySegment.copy(old.bytes(), 0, bytes, 0, slot);
    MemorySegment.copy(old.bytes(), behind, bytes, slot, oldBytes - behind);
    bytes.set(Block.INT, 4, old.count() - 1);
    bytes.set(Block.INT, 20, garbage);
    return Block.of(bytes);
  }

  private static Block rewritten(Block old, int without) {
    BlockWriter writer =
        new BlockWriter(
            old.low(),
            high(old),
            old.count() - 1,
            recordsBytes(old, 0, old.count()) - old.recordBytes(without));
    for (int i = 0; i < old.count(); i++) {
      if (i != without) {
        writer.add(old, i);
      }
    }
    return writer.finish();
  }

  private static @Nullable MemorySegment high(Block block) {
    return block.hasHigh() ? block.high() : null;
  }

  private static long recordsBytes(Block block, int from, int to) {
    long bytes = 0;
    for (int i = from; i < to; i++) {
      bytes += block.recordBytes(i);
    }
    return bytes;
  }

  /**
   * Returns where to cut a block in two: the number of the right part's first record. Of the cuts
   * near the middle, the one whose separator is shortest.
   *
   * @param block with at least two records
   */
  static int cut(Block block) {
    long half = recordsBytes(block, 0, block.count()) / 2;
    long window = half / 5;
    long before = block.recordBytes(0);
    int best = 1;
    int shortest = Integer.MAX_VALUE;
    long nearest = Long.MAX_VALUE;
    for (int i = 1; i < block.count(); i++) {
      long away = Math.abs(before - half);
      int length = Block.commonPrefix(block.suffixOf(i - 1), block.suffixOf(i));
      boolean inWindow = away <= window;
      if (inWindow ? length < shortest : shortest == Integer.MAX_VALUE && away < nearest) {
        best = i;
        nearest = away;
        shortest = inWindow ? length : shortest;
      }
      before += block.recordBytes(i);
    }
    return best;
  }

  /** Returns the shortest string above the key before a cut and not above the one behind it. */
  static MemorySegment separator(Block block, int cut) {
    int length =
        block.prefixBytes() + Block.commonPrefix(block.suffixOf(cut - 1), block.suffixOf(cut)) + 1;
    return block.key(cut).asSlice(0, length);
  }

  /** Returns the block of a part of a block's range. */
  static Block part(
      Block block, int from, int to, MemorySegment low, @Nullable MemorySegment high) {
    // A longer prefix is cut off each key, or none.
    BlockWriter writer = new BlockWriter(low, high, to - from, recordsBytes(block, from, to));
    for (int i = from; i < to; i++) {
      writer.add(block, i);
    }
    return writer.finish();
  }

  /** Returns the left part of a block that is cut. */
  static Block left(Block block, int cut, MemorySegment separator) {
    return part(block, 0, cut, block.low(), separator);
  }

  /** Returns the right part of a block that is cut. */
  static Block right(Block block, int cut, MemorySegment separator) {
    return part(block, cut, block.count(), separator, high(block));
  }

  /** Returns the bytes of the block that two neighbours would be together, at the most. */
  static long joinedBytes(Block left, Block right) {
    long more =
        (long) left.prefixBytes() * left.count() + (long) right.prefixBytes() * right.count();
    return left.usedBytes() + right.usedBytes() + more;
  }

  /** Returns two neighbours as one block. */
  static Block joined(Block left, Block right) {
    long bytes =
        recordsBytes(left, 0, left.count())
            + recordsBytes(right, 0, right.count())
            + (long) left.prefixBytes() * left.count()
            + (long) right.prefixBytes() * right.count();
    BlockWriter writer =
        new BlockWriter(left.low(), high(right), left.count() + right.count(), bytes);
    for (int i = 0; i < left.count(); i++) {
      writer.add(left, i);
    }
    for (int i = 0; i < right.count(); i++) {
      writer.add(right, i);
    }
    return writer.finish();
  }
}
