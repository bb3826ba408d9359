package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.KeyOrder;
import pando.index.CorruptNodeException;
import pando.index.Session;
import pando.index.blob.Blobs;
import pando.index.bugs.PlantedBug;
import pando.index.bytes.Block.DamagedException;

/**
 * The blocks of a range that a process finds when it opens an index, or takes the range on.
 *
 * @param entries in the order of their ranges
 * @param versionMax the greatest version
 * @param strays labels of blocks that do not count: they are gone or given away, or another block
 *     has their range
 */
record OpenedBlocks(List<BlockEntry> entries, long versionMax, List<Long> strays) {
  /** Most blocks that are looked for and READ together. */
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

  /** Returns the labels of all blocks, also of those that do not count, ascending. */
  long[] labels() {
    return LongStream.concat(
            entries.stream().mapToLong(BlockEntry::label),
            strays.stream().mapToLong(Long::longValue))
        .sorted()
        .toArray();
  }

  /** Makes the first block, which has all keys. */
  static OpenedBlocks first(Session labels, Blobs blobs) {
    MemorySegment nothing = MemorySegment.ofArray(new byte[0]);
    Block block = Blocks.empty(nothing, null).withVersion(0);
    long word = blobs.store(BlockSession.BLOCKS, block.bytes(), 0, (int) block.bytes().byteSize());
    labels.put(0, word);
    BlockState state = BlockState.of(word, block, Outline.of(block));
    return new OpenedBlocks(List.of(new BlockEntry(0, state)), 0, List.of());
  }

  /**
   * Reads the blocks of some keys.
   *
   * @param keys with their labels, of which at least one is in use
   */
  static OpenedBlocks of(ServedKeys keys, Session labels, Blobs blobs) {
    List<Found> all = new ArrayList<>();
    List<Long> strays = new ArrayList<>();
    long next = keys.lowLabel();
    while (true) {
      long[] read = new long[TOGETHER];
      long[] words = new long[TOGETHER];
      int[] count = {0};
      labels.scan(
          next,
          keys.highLabel(),
          TOGETHER,
          (label, word) -> {
            read[count[0]] = label;
            words[count[0]++] = word;
            return true;
          });
      load(read, words, count[0], blobs, all, strays);
      if (count[0] < TOGETHER || read[count[0] - 1] == keys.highLabel()) {
        return inOrder(keys, all, strays);
      }
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

  /**
   * Of blocks that overlap, the one that begins first counts; of those that begin with the same
   * key, the one with the latest version. A block outside the keys was given away, and does not
   * count.
   */
  private static OpenedBlocks inOrder(ServedKeys keys, List<Found> all, List<Long> strays) {
    all.sort(
        Comparator.comparing(Found::low, KeyOrder::compare)
            .thenComparing(Comparator.comparingLong(Found::version).reversed()));
    long versionMax = 0;
    List<BlockEntry> counting = new ArrayList<>();
    @Nullable MemorySegment reached = keys.low();
    for (Found found : all) {
      versionMax = Math.max(versionMax, found.version());
      if (isOutside(keys, found) || reached == null || KeyOrder.compare(found.low(), reached) < 0) {
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
    checkEnd(keys, reached, counting);
    return new OpenedBlocks(counting, versionMax, strays);
  }

  private static boolean isOutside(ServedKeys keys, Found found) {
    return !PlantedBug.FENCES_IGNORED && !keys.has(found.low());
  }

  private static void checkEnd(
      ServedKeys keys, @Nullable MemorySegment reached, List<BlockEntry> counting) {
    if (!ServedKeys.isSameEnd(reached, keys.high())) {
      String last =
          counting.isEmpty()
              ? "there is none"
              : "the last one has label " + counting.getLast().label();
      throw new CorruptNodeException(
          counting.isEmpty() ? 0 : Blobs.address(counting.getLast().state().word()),
          "blocks are missing at the end: " + last);
    }
  }
}
