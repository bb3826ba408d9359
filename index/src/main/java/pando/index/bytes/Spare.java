package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.UnknownOutcomeException;
import pando.index.blob.Blobs;

/**
 * A blob that nothing is in, so that blocks can change in a full pool. A changed block is put
 * there, and then, if it fits, into the place that it had before. Thread-safe.
 */
final class Spare {
  private static final long NONE = 0;
  private static final long TAKEN = -1;

  /** The greatest block is longer than its limit by its fences, of which this is a guess. */
  private static final int FENCES_PART = 8;

  private final int bytes;
  private final AtomicLong word = new AtomicLong(NONE);

  Spare(ByteIndex index) {
    int blockBytes = index.options.blockBytes();
    this.bytes = Math.min(blockBytes + blockBytes / FENCES_PART, index.space.lengthInOnePlace());
  }

  /** Allocates the blob if there is none, and the pool has room. */
  void ensure(Blobs blobs) {
    if (word.get() != NONE || !word.compareAndSet(NONE, TAKEN)) {
      return;
    }
    long stored = NONE;
    try {
      stored = blobs.store(BlockSession.BLOCKS, MemorySegment.ofArray(new byte[bytes]), 0, bytes);
    } catch (PoolFullException _) {
      // A later change asks again.
    } finally {
      word.set(stored);
    }
  }

  /**
   * Puts a block in the place of another one, whose latch is held, where the pool has no room.
   *
   * @param mayStay whether the block may stay in the spare if it does not fit the other one's
   *     place: then the next change in a full pool has no spare
   * @return whether that was done; not if there is no spare, or the block is too large
   */
  boolean replace(
      BlockChanges changes, BlockReader reader, BlockEntry entry, Block next, boolean mayStay) {
    Blobs blobs = reader.blobs;
    int length = (int) next.bytes().byteSize();
    if (!mayStay && !blobs.hasInOnePlace(entry.state().word(), 0, length)) {
      return false;
    }
    long spare = taken(reader);
    if (spare == NONE) {
      return false;
    }
    long left = NONE;
    try {
      if (!blobs.hasInOnePlace(spare, 0, length)) {
        left = spare;
        return false;
      }
      long old = entry.state().word();
      BlockState state;
      try {
        state = changes.storedIn(spare, next);
      } catch (UnknownOutcomeException e) {
        throw e;
      } catch (PandoException e) {
        left = spare;
        throw e;
      }
      changes.make(entry, state);
      left = moved(changes, blobs, entry, next, old);
      return true;
    } finally {
      word.set(left);
    }
  }

  /** Returns whether a block of a size can be put there. */
  boolean takes(int size) {
    return size <= bytes && word.get() != NONE;
  }

  /** Takes the blob, for which others wait then; returns its word. */
  private long taken(BlockReader reader) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      long seen = word.get();
      if (seen != TAKEN && (seen == NONE || word.compareAndSet(seen, TAKEN))) {
        return seen;
      }
      start = reader.pause(attempt, start, "another change in a full pool does not end");
    }
  }

  /**
   * Moves a block out of the spare into its old place; returns the word of the spare. The change
   * has taken effect: where a step fails, the block stays where it is. A place is written only
   * where no label in the pool leads to it.
   */
  private static long moved(
      BlockChanges changes, Blobs blobs, BlockEntry entry, Block next, long old) {
    long spare = entry.state().word();
    if (!blobs.hasInOnePlace(old, 0, (int) next.bytes().byteSize())
        || !isLabelWritten(changes, entry)) {
      changes.supersede(entry, old);
      return NONE;
    }
    BlockState state;
    try {
      state = changes.storedIn(old, next);
    } catch (UnknownOutcomeException _) {
      return NONE;
    } catch (PandoException _) {
      blobs.free(BlockSession.BLOCKS, old);
      return NONE;
    }
    try {
      changes.make(entry, state);
    } catch (PandoException _) {
      return NONE;
    }
    if (isLabelWritten(changes, entry)) {
      return spare;
    }
    changes.supersede(entry, spare);
    return NONE;
  }

  private static boolean isLabelWritten(BlockChanges changes, BlockEntry entry) {
    try {
      changes.settleSuperseded(entry);
      return true;
    } catch (PandoException _) {
      return false;
    }
  }

  /** Returns the word of the blob while no change runs, 0 if there is none. */
  long word() {
    return word.get();
  }

  /** Frees the blob. */
  void close(Blobs blobs) {
    long stored = word.getAndSet(NONE);
    if (stored != NONE) {
      blobs.free(BlockSession.BLOCKS, stored);
    }
  }
}
