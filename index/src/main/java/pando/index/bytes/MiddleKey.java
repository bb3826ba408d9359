package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.KeyOrder;

/** Finds a key in the middle of those that a process serves. */
final class MiddleKey {
  private MiddleKey() {}

  /**
   * Returns the key with which the block in the middle begins; if there is one block, a key that
   * separates its records in two halves; if it has less than two records, a key in the middle of
   * all keys that the block can have. Returns {@code null} if there is no such key. The gate is
   * shut.
   */
  static @Nullable MemorySegment of(BlockDirectory directory, BlockChanges changes) {
    BlockEntry[] all = directory.all();
    if (all.length > 1) {
      return copy(all[all.length / 2].low());
    }
    if (all.length == 0) {
      return null;
    }
    Block block = changes.read(all[0]);
    if (block.count() > 1) {
      return copy(Blocks.separator(block, block.count() / 2));
    }
    return between(block.low(), block.hasHigh() ? block.high() : null);
  }

  private static MemorySegment copy(MemorySegment key) {
    return MemorySegment.ofArray(key.toArray(JAVA_BYTE));
  }

  /**
   * Returns a key about half-way between two, {@code null} if 8 bytes behind their common prefix do
   * not give one.
   *
   * @param high {@code null} for the end of all keys
   */
  private static @Nullable MemorySegment between(MemorySegment low, @Nullable MemorySegment high) {
    int prefix = high == null ? 0 : KeyOrder.commonPrefix(low, high);
    long lowWord = KeyOrder.head(low, prefix, low.byteSize() - prefix);
    long highWord = high == null ? -1 : KeyOrder.head(high, prefix, high.byteSize() - prefix);
    long middle = lowWord + ((highWord - lowWord) >>> 1) + (high == null ? 1 : 0);
    byte[] key = Arrays.copyOf(low.asSlice(0, prefix).toArray(JAVA_BYTE), prefix + Long.BYTES);
    MemorySegment made = MemorySegment.ofArray(key);
    made.set(ByteStrings.WORD, prefix, middle);
    int length = key.length;
    while (length > prefix && key[length - 1] == 0) {
      length--;
    }
    made = made.asSlice(0, length);
    boolean isBetween =
        length <= ByteIndex.KEY_BYTES_MAX
            && KeyOrder.compare(made, low) > 0
            && (high == null || KeyOrder.compare(made, high) < 0);
    return isBetween ? made : null;
  }
}
