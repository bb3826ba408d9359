package pando.index.bytes;

import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.index.session.Shortage;

/** The changes of all blocks that wait, and the local memory that they take. Thread-safe. */
final class BlockDeltas {
  /** Blocks in a row among which the one with the most changes is merged for lack of memory. */
  private static final int LOOKED_AT = 8;

  private final BlockDirectory directory;
  private final int changesMax;
  private final int sizeMax;
  private final long bytesMax;
  private final AtomicLong bytes = new AtomicLong();

  /**
   * Begins without changes.
   *
   * @param changesMax changes of a block at the most
   * @param sizeMax bytes of the changes of a block at the most
   * @param bytesMax local memory of all changes
   */
  BlockDeltas(BlockDirectory directory, int changesMax, int sizeMax, long bytesMax) {
    this.directory = directory;
    this.changesMax = changesMax;
    this.sizeMax = sizeMax;
    this.bytesMax = bytesMax;
  }

  /** Returns whether any change may wait. */
  boolean mayWait() {
    return changesMax > 0 && bytesMax > 0;
  }

  /** Returns the bytes of local memory that the changes take. */
  long bytes() {
    return bytes.get();
  }

  /** Returns whether blocks are to be merged with their changes for lack of memory. */
  boolean isShort() {
    return Shortage.isShort(bytes.get(), bytesMax);
  }

  /** Returns whether they will be soon. */
  boolean isNearlyShort() {
    return Shortage.isNearlyShort(bytes.get(), bytesMax);
  }

  /** Returns whether memory would not be nearly short again after a few changes. */
  boolean isEased() {
    return Shortage.isEased(bytes.get(), bytesMax);
  }

  /** Returns whether some changes of a block may take the place of others. */
  boolean takes(BlockDelta before, BlockDelta after) {
    return after.count() <= changesMax
        && after.size() <= sizeMax
        && bytes.get() + after.localBytes() - before.localBytes() <= bytesMax;
  }

  /** Counts the changes of a block, in place of others. */
  void count(BlockDelta before, BlockDelta after) {
    bytes.addAndGet(after.localBytes() - before.localBytes());
  }

  /** Returns the block with the most changes of some that are drawn, {@code null} for none. */
  @Nullable BlockEntry fullest(RandomGenerator random) {
    int first = random.nextInt(Math.max(1, directory.nodes()));
    for (int i = 0; i < directory.nodes(); i++) {
      BlockEntry found = fullest(directory.entries(first + i), random);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  private static @Nullable BlockEntry fullest(BlockEntry[] entries, RandomGenerator random) {
    int start = random.nextInt(Math.max(1, entries.length));
    @Nullable BlockEntry fullest = null;
    int most = 0;
    for (int i = 0; i < entries.length && (i < LOOKED_AT || most == 0); i++) {
      BlockEntry entry = entries[(start + i) % entries.length];
      int changes = entry.isLatched() ? 0 : entry.state().delta().count();
      if (changes > most) {
        most = changes;
        fullest = entry;
      }
    }
    return fullest;
  }
}
