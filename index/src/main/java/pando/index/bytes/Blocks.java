package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.KeyOrder;
import pando.index.CorruptNodeException;
import pando.index.blob.Blobs;
import pando.index.bytes.Block.DamagedException;

/** READs whole blocks, and makes blocks of others: two of one, or one of two. */
final class Blocks {
  private Blocks() {}

  /** Returns a block without records. */
  static Block empty(MemorySegment low, @Nullable MemorySegment high) {
    return new BlockWriter(low, high, 0).finish();
  }

  /**
   * READs a block, which must not be replaced meanwhile.
   *
   * @throws CorruptNodeException if it is not there, or damaged
   */
  static Block load(Blobs blobs, long word) {
    if (!blobs.load(BlockSession.BLOCKS, word)) {
      throw new CorruptNodeException(Blobs.address(word), "is not a block");
    }
    byte[] copy = blobs.bytes().asSlice(blobs.offset(), blobs.length()).toArray(JAVA_BYTE);
    try {
      return Block.checked(MemorySegment.ofArray(copy));
    } catch (DamagedException e) {
      throw new CorruptNodeException(Blobs.address(word), "is not a block: " + e.getMessage());
    }
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
      boolean inWindow = away <= window;
      int length =
          inWindow
              ? KeyOrder.commonPrefix(block.suffixOf(i - 1), block.suffixOf(i))
              : Integer.MAX_VALUE;
      if (inWindow ? length < shortest : shortest == Integer.MAX_VALUE && away < nearest) {
        best = i;
        nearest = away;
        shortest = length;
      }
      before += block.recordBytes(i);
    }
    return best;
  }

  /**
   * Returns where to cut a block of which the left part is to be full: of the cuts behind a record,
   * the one whose separator is shortest.
   *
   * @param from number of the record, 0 or more; not the last one
   */
  static int cutBehind(Block block, int from) {
    int best = block.count() - 1;
    int shortest = Integer.MAX_VALUE;
    for (int i = block.count() - 1; i > from; i--) {
      int length = KeyOrder.commonPrefix(block.suffixOf(i - 1), block.suffixOf(i));
      if (length < shortest) {
        best = i;
        shortest = length;
      }
    }
    return best;
  }

  /** Returns the shortest string above the key before a cut and not above the one behind it. */
  static MemorySegment separator(Block block, int cut) {
    int length =
        block.prefixBytes()
            + KeyOrder.commonPrefix(block.suffixOf(cut - 1), block.suffixOf(cut))
            + 1;
    return block.key(cut).asSlice(0, length);
  }

  /**
   * Returns the left part of a block that is cut.
   *
   * @param usedMax of the part, where its segments may take more than they need for short
   *     separators
   */
  static Block left(Block block, int cut, MemorySegment separator, long usedMax) {
    return part(block, 0, cut, block.low(), separator, usedMax);
  }

  /** Returns the right part of a block that is cut, as {@link #left} does. */
  static Block right(Block block, int cut, MemorySegment separator, long usedMax) {
    return part(block, cut, block.count(), separator, high(block), usedMax);
  }

  private static Block part(
      Block block,
      int from,
      int to,
      MemorySegment low,
      @Nullable MemorySegment high,
      long usedMax) {
    long guess = block.bytes().byteSize() * (to - from) / Math.max(block.count(), 1);
    BlockWriter writer = new BlockWriter(low, high, guess);
    writer.addSegments(block, from, to);
    Block part = writer.finish();
    if (part.usedBytes() <= usedMax) {
      return part;
    }
    BlockWriter full = new BlockWriter(low, high, guess);
    full.addAll(block, from, to);
    return full.finish();
  }

  /** Returns the bytes of the block that two neighbours would be together, at the most. */
  static long joinedBytes(Block left, Block right) {
    int prefixBytes = joinedPrefix(left, right);
    long more =
        (long) (left.prefixBytes() - prefixBytes) * left.count()
            + (long) (right.prefixBytes() - prefixBytes) * right.count();
    // Longer keys may need more segments, each with a header, an end and a little slack.
    long slack = (more / (BlockSegment.BYTES_MAX / 2) + 1) * 2 * Block.UNIT_BYTES;
    return left.usedBytes() + right.usedBytes() + more + slack;
  }

  private static int joinedPrefix(Block left, Block right) {
    return right.hasHigh() ? KeyOrder.commonPrefix(left.low(), right.high()) : 0;
  }

  /** Returns two neighbours as one block. */
  static Block joined(Block left, Block right) {
    BlockWriter writer = new BlockWriter(left.low(), high(right), joinedBytes(left, right));
    writer.addAll(left, 0, left.count());
    writer.addAll(right, 0, right.count());
    return writer.finish();
  }
}
