package pando.index.bytes;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import pando.index.bytes.BlockEntry.State;

/**
 * Which blocks have a copy in local memory: those used last, as far as a number of bytes goes. A
 * queue goes round; a block that was used since its last turn stays. Thread-safe.
 */
final class BlockCache {
  private final long bytesMax;
  private final AtomicLong bytes = new AtomicLong();
  private final ConcurrentLinkedQueue<BlockEntry> queue = new ConcurrentLinkedQueue<>();

  BlockCache(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** Returns the bytes of all copies. */
  long bytes() {
    return bytes.get();
  }

  /** Puts another block in the place of one whose latch is held. */
  void set(BlockEntry entry, long word, Block block) {
    change(entry, word, block);
  }

  /** Notes that a block whose latch is held went into its neighbour. */
  void setGone(BlockEntry entry) {
    change(entry, 0, null);
  }

  private void change(BlockEntry entry, long word, @Nullable Block block) {
    State before = entry.state();
    while (!entry.replace(before, new State(word, block, before.change() + 1))) {
      before = entry.state();
    }
    count(entry, before.block(), block);
  }

  /** Adds a copy to a block, unless its state is not the one that the copy was made of. */
  void admit(BlockEntry entry, State expected, Block block) {
    if (entry.replace(expected, new State(expected.word(), block, expected.change()))) {
      count(entry, null, block);
    }
  }

  private void count(BlockEntry entry, @Nullable Block before, @Nullable Block after) {
    bytes.addAndGet(bytes(after) - bytes(before));
    if (before == null && after != null) {
      queue.add(entry);
    }
    evict();
  }

  private static long bytes(@Nullable Block block) {
    return block == null ? 0 : block.bytes().byteSize();
  }

  private void evict() {
    while (bytes.get() > bytesMax) {
      BlockEntry entry = queue.poll();
      if (entry == null) {
        return;
      }
      if (entry.wasUsed()) {
        queue.add(entry);
      } else {
        drop(entry);
      }
    }
  }

  private void drop(BlockEntry entry) {
    State state = entry.state();
    Block block = state.block();
    while (block != null) {
      if (entry.replace(state, new State(state.word(), null, state.change()))) {
        bytes.addAndGet(-bytes(block));
        return;
      }
      state = entry.state();
      block = state.block();
    }
  }
}
