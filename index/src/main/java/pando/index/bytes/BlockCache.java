package pando.index.bytes;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Which blocks have a copy in local memory: those used last, as far as a number of bytes goes, of
 * which changes that wait have theirs first. A queue goes round; a block that was used since its
 * last turn stays. Thread-safe.
 */
final class BlockCache {
  private final long bytesMax;
  private final BlockDeltas deltas;
  private final AtomicLong bytes = new AtomicLong();
  private final ConcurrentLinkedQueue<BlockEntry> queue = new ConcurrentLinkedQueue<>();

  /**
   * Creates an empty cache.
   *
   * @param bytesMax of all copies and of the changes that wait
   */
  BlockCache(long bytesMax, BlockDeltas deltas) {
    this.bytesMax = bytesMax;
    this.deltas = deltas;
  }

  /** Returns the bytes of all copies. */
  long bytes() {
    return bytes.get();
  }

  /**
   * Gives a block a copy, or takes it away. Where blocks change meanwhile, the copy may be an older
   * one; then nobody uses it.
   */
  void set(BlockEntry entry, @Nullable Block copy) {
    if (copy != null && copy.localBytes() > bytesMax) {
      set(entry, null);
      return;
    }
    Block before = entry.copy();
    while (!entry.replaceCopy(before, copy)) {
      before = entry.copy();
    }
    bytes.addAndGet(bytes(copy) - bytes(before));
    if (before == null && copy != null) {
      queue.add(entry);
    } else if (before != null && copy == null) {
      tidy();
    }
    evict();
  }

  /**
   * Looks at two places of the queue for each one that has lost its copy. So blocks without a copy,
   * of which many are gone for good, are never more than about as many as those with one.
   */
  private void tidy() {
    for (int i = 0; i < 2; i++) {
      BlockEntry entry = queue.poll();
      if (entry != null && entry.copy() != null) {
        queue.add(entry);
      }
    }
  }

  /** Returns the number of places in the queue, which are counted. */
  int places() {
    return queue.size();
  }

  private static long bytes(@Nullable Block block) {
    return block == null ? 0 : block.localBytes();
  }

  /** Drops copies while they and the changes that wait take more memory than they may. */
  void evict() {
    while (bytes.get() + deltas.bytes() > bytesMax) {
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

  /** Drops all copies. */
  void clear() {
    for (int left = queue.size(); left > 0; left--) {
      BlockEntry entry = queue.poll();
      if (entry != null) {
        drop(entry);
      }
    }
  }

  private void drop(BlockEntry entry) {
    for (Block copy = entry.copy(); copy != null; copy = entry.copy()) {
      if (entry.replaceCopy(copy, null)) {
        bytes.addAndGet(-bytes(copy));
        return;
      }
    }
  }
}
