package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.index.CorruptNodeException;
import pando.index.Session;
import pando.index.blob.Blobs;
import pando.index.bytes.Block.DamagedException;
import pando.index.session.KeyOrder;

/**
 * The blocks that a process finds when it opens an index.
 *
 * @param labelMax the greatest label
 * @param versionMax the greatest version
 * @param strays labels of blocks that do not count, as another one has their range
 */
record OpenedBlocks(BlockDirectory directory, long labelMax, long versionMax, List<Long> strays) {
  private static final int TOGETHER = 256;

  /** A block by its label, and the end of its range, {@code null} where it has none. */
  private record Found(long label, BlockState state, @Nullable MemorySegment high) {
    MemorySegment low() {
      return Outline.low(state.outline());
    }

    long version() {
      return state.version();
    }
  }

  /** Makes the first block, which has all keys. */
  static OpenedBlocks first(Session labels, Blobs blobs) {
    MemorySegment nothing = MemorySegment.ofArray(new byte[0]);
    Block block = Blocks.empty(nothing, null).withVersion(0);
    long word = blobs.store(BlockSession.BLOCKS, block.bytes(), 0, (int) block.bytes().byteSize());
    labels.put(0, word);
    BlockState state = BlockState.of(word, block, Outline.of(block));
    return new OpenedBlocks(new BlockDirectory(List.of(new BlockEntry(0, state))), 0, 0, List.of());
  }

  /** Reads all blocks. */
  static OpenedBlocks of(Session labels, Blobs blobs) {
    List<Found> all = new ArrayList<>();
    List<Long> strays = new ArrayList<>();
    long next = ByteIndex.KIND_LABEL + 1;
    while (true) {
      long[] read = new long[TOGETHER];
      long[] words = new long[TOGETHER];
      int[] count = {0};
      labels.scan(
          next,
          TOGETHER,
          (label, word) -> {
            read[count[0]] = label;
            words[count[0]++] = word;
            return true;
          });
      if (count[0] == 0) {
        return inOrder(all, strays);
      }
      load(read, words, count[0], blobs, all, strays);
      next = read[count[0] - 1] + 1;
    }
  }

  private static void load(
      long[] labels, long[] words, int count, Blobs blobs, List<Found> all, List<Long> strays) {
    long[] seeds = new long[count];
    Arrays.fill(seeds, BlockSession.BLOCKS);
    blobs.loadAll(
        seeds,
        words,
        count,
        (number, bytes, offset, length) -> {
          if (length >= 0) {
            byte[] copy = bytes.asSlice(offset, length).toArray(JAVA_BYTE);
            all.add(found(labels[number], words[number], MemorySegment.ofArray(copy)));
          } else {
            strays.add(labels[number]);
          }
        });
  }

  private static Found found(long label, long word, MemorySegment bytes) {
    try {
      Block block = Block.checked(bytes);
      BlockState state = BlockState.of(word, block, Outline.of(block));
      MemorySegment high =
          block.hasHigh() ? MemorySegment.ofArray(block.high().toArray(JAVA_BYTE)) : null;
      return new Found(label, state, high);
    } catch (DamagedException e) {
      throw new CorruptNodeException(
          Blobs.address(word), "is not a block: label=" + label + ", " + e.getMessage());
    }
  }

  /** Of blocks that overlap, the one that begins first counts, or that with the later version. */
  private static OpenedBlocks inOrder(List<Found> all, List<Long> strays) {
    all.sort(
        Comparator.comparing(Found::low, KeyOrder::compare)
            .thenComparing(Comparator.comparingLong(Found::version).reversed()));
    long labelMax = strays.stream().mapToLong(Long::longValue).max().orElse(0);
    long versionMax = 0;
    List<BlockEntry> counting = new ArrayList<>();
    @Nullable MemorySegment reached = MemorySegment.ofArray(new byte[0]);
    for (Found found : all) {
      labelMax = Math.max(labelMax, found.label);
      versionMax = Math.max(versionMax, found.version());
      if (reached == null || KeyOrder.compare(found.low(), reached) < 0) {
        strays.add(found.label);
      } else if (KeyOrder.compare(found.low(), reached) > 0) {
        throw new CorruptNodeException(
            Blobs.address(found.state.word()),
            "blocks are missing before this one: label=" + found.label);
      } else {
        counting.add(new BlockEntry(found.label, found.state));
        reached = found.high;
      }
    }
    if (reached != null) {
      String last =
          counting.isEmpty()
              ? "there is none"
              : "the last one has label " + counting.getLast().label;
      throw new CorruptNodeException(
          counting.isEmpty() ? 0 : Blobs.address(counting.getLast().state().word()),
          "blocks are missing at the end: " + last);
    }
    return new OpenedBlocks(new BlockDirectory(counting), labelMax, versionMax, strays);
  }
}
