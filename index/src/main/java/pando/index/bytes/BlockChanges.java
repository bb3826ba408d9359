package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.UnknownOutcomeException;
import pando.index.CorruptNodeException;
import pando.index.Session;
import pando.index.blob.Blobs;
import pando.index.bytes.BlockEntry.State;
import pando.index.session.Operation;

/** One session's changes of blocks. */
final class BlockChanges {
  /** A block with fewer bytes than one of so many parts of the greatest takes its neighbour in. */
  private static final int SMALL_PART = 4;

  private final ByteIndex index;
  private final BlockReader reader;
  private final Blobs blobs;
  private final Session labels;
  private final MemorySegment wordBytes = MemorySegment.ofArray(new byte[Long.BYTES]);

  /** The block that was latched last. */
  private Block block;

  private MemorySegment before = wordBytes;
  private boolean matches;

  BlockChanges(ByteIndex index, BlockReader reader) {
    this.index = index;
    this.reader = reader;
    this.blobs = reader.blobs;
    this.labels = index.labels.session();
    this.block = Blocks.empty(wordBytes, null);
  }

  /** Returns the value that the last operation found, if it says what it found. */
  MemorySegment before() {
    return before;
  }

  /** Returns whether the value that the last operation found is the one that it expected. */
  boolean matches() {
    return matches;
  }

  /**
   * Changes the entry of a key.
   *
   * @return whether the key was there before
   */
  boolean change(
      Operation operation, MemorySegment key, MemorySegment stored, MemorySegment expected) {
    index.unsettled.settle(labels);
    BlockEntry entry = latched(key);
    try {
      return change(operation, key, stored, expected, entry);
    } finally {
      entry.unlatch();
    }
  }

  /** Latches the block that has a key. */
  private BlockEntry latched(MemorySegment key) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      Block seen = reader.block(key);
      BlockEntry entry = reader.entry;
      long change = reader.change();
      if (entry.tryLatch()) {
        if (entry.state().change() == change) {
          block = seen;
          return entry;
        }
        entry.unlatch();
      }
      start = reader.pause(attempt, start, "a block stays latched");
    }
  }

  @SuppressWarnings("ReferenceEquality") // Each block has one entry.
  private static boolean isSame(BlockEntry one, BlockEntry other) {
    return one == other;
  }

  private boolean change(
      Operation operation,
      MemorySegment key,
      MemorySegment stored,
      MemorySegment expected,
      BlockEntry entry) {
    int i = block.find(key);
    boolean found = i >= 0;
    matches = false;
    if (found && (operation.answers() || operation.compares())) {
      before = valueOf(block, i, key);
      matches = operation.compares() && before.mismatch(expected) < 0;
    }
    if (operation.stores(found, matches)) {
      store(entry, block, i, key, stored);
    } else if (operation.removes(found, matches)) {
      remove(entry, block, i, key);
    }
    return found;
  }

  /** Returns a value in memory that no later verb overwrites. */
  private MemorySegment valueOf(Block block, int i, MemorySegment key) {
    if (!block.hasBlob(i)) {
      return block.stored(i).asReadOnly();
    }
    if (!blobs.load(KeyHash.of(key), block.word(i))) {
      throw new CorruptNodeException(
          Blobs.address(block.word(i)), "is not the value of its key: record=" + i);
    }
    byte[] copy = blobs.bytes().asSlice(blobs.offset(), blobs.length()).toArray(JAVA_BYTE);
    return MemorySegment.ofArray(copy).asReadOnly();
  }

  private void store(
      BlockEntry entry, Block block, int i, MemorySegment key, MemorySegment stored) {
    boolean blob = stored.byteSize() > index.options.inlineMax();
    if (!blob) {
      publish(entry, block, i, Blocks.with(block, i, key, stored, false));
    } else {
      long hash = KeyHash.of(key);
      long word = blobs.store(hash, stored, 0, (int) stored.byteSize());
      try {
        wordBytes.set(Block.LONG, 0, word);
        publish(entry, block, i, Blocks.with(block, i, key, wordBytes, true));
      } catch (UnknownOutcomeException e) {
        throw e;
      } catch (PandoException e) {
        blobs.free(hash, word);
        throw e;
      }
    }
    freeValue(block, i, key);
  }

  private void remove(BlockEntry entry, Block block, int i, MemorySegment key) {
    Block next = Blocks.without(block, i);
    boolean small = next.usedBytes() < index.options.blockBytes() / SMALL_PART;
    if (!small || !joins(entry, next)) {
      try {
        replace(entry, next);
      } catch (PoolFullException e) {
        if (!blobs.canOverwrite(entry.state().word(), (int) next.bytes().byteSize())) {
          throw e;
        }
        replaceInPlace(entry, next);
      }
    }
    freeValue(block, i, key);
  }

  private void freeValue(Block block, int i, MemorySegment key) {
    if (i >= 0 && block.hasBlob(i)) {
      blobs.free(KeyHash.of(key), block.word(i));
    }
  }

  /** Puts a block in the place of another one, in two parts if it is too large. */
  private void publish(BlockEntry entry, Block old, int i, Block next) {
    if (next.usedBytes() <= index.options.blockBytes() || next.count() < 2) {
      replace(entry, next);
      return;
    }
    // What ascends leaves full blocks behind.
    boolean ascends = !next.hasHigh() && i == -1 - old.count();
    int cut = ascends ? next.count() - 1 : Blocks.cut(next);
    split(entry, next, cut);
  }

  private void replace(BlockEntry entry, Block next) {
    long old = entry.state().word();
    long word = store(next.withVersion(nextVersion()));
    label(entry, entry.label, word);
    index.cache.set(entry, word, next);
    blobs.free(ByteSession.BLOCKS, old);
  }

  /** Puts a block that is not longer into the place of its predecessor, where there is no room. */
  private void replaceInPlace(BlockEntry entry, Block next) {
    MemorySegment bytes = next.withVersion(nextVersion()).bytes();
    long word =
        blobs.overwrite(ByteSession.BLOCKS, entry.state().word(), bytes, 0, (int) bytes.byteSize());
    index.cache.set(entry, word, next);
    index.unsettled.add(entry);
    labels.store(entry.label, word);
    index.unsettled.remove(entry);
  }

  private long store(Block block) {
    return blobs.store(ByteSession.BLOCKS, block.bytes(), 0, (int) block.bytes().byteSize());
  }

  /**
   * Gives a label the word of a new block, which is freed if that fails for sure.
   *
   * @param entry the block that has the label, {@code null} if it is a new label
   */
  private void label(@Nullable BlockEntry entry, long label, long word) {
    boolean known = false;
    try {
      labels.store(label, word);
      known = true;
    } catch (UnknownOutcomeException e) {
      throw e;
    } catch (PandoException e) {
      known = true;
      blobs.free(ByteSession.BLOCKS, word);
      throw e;
    } finally {
      if (!known && entry != null) {
        index.unsettled.add(entry);
      } else if (!known) {
        index.unsettled.addStray(label);
      }
    }
  }

  private void split(BlockEntry entry, Block whole, int cut) {
    long old = entry.state().word();
    MemorySegment separator = Blocks.separator(whole, cut);
    Block right = Blocks.right(whole, cut, separator).withVersion(nextVersion());
    Block left = Blocks.left(whole, cut, separator).withVersion(nextVersion());
    long newLabel = index.nextLabel.getAndIncrement();
    long rightWord = store(right);
    BlockEntry added = new BlockEntry(separator, newLabel, new State(rightWord, null, 0));
    label(null, newLabel, rightWord);
    boolean done = false;
    long leftWord;
    try {
      leftWord = store(left);
      label(entry, entry.label, leftWord);
      done = true;
    } catch (UnknownOutcomeException e) {
      throw e;
    } catch (PandoException e) {
      blobs.free(ByteSession.BLOCKS, rightWord);
      throw e;
    } finally {
      if (!done) {
        index.unsettled.addStray(newLabel);
      }
    }
    index.cache.set(entry, leftWord, left);
    index.cache.set(added, rightWord, right);
    index.directory.add(added);
    blobs.free(ByteSession.BLOCKS, old);
  }

  private long nextVersion() {
    return index.nextVersion.getAndIncrement();
  }

  /** Makes one block of a small one and a neighbour; returns whether there was one for it. */
  private boolean joins(BlockEntry entry, Block small) {
    boolean joined =
        small.hasHigh() && joins(entry, small, index.directory.find(small.high()), false);
    BlockEntry left = joined ? null : index.directory.before(small.low());
    return joined || (left != null && joins(entry, small, left, true));
  }

  private boolean joins(BlockEntry entry, Block small, BlockEntry neighbour, boolean isLeft) {
    if (!neighbour.tryLatch()) {
      return false;
    }
    try {
      Block other = neighbourOf(isLeft ? neighbour.low() : small.high());
      if (other == null || !isSame(neighbour, reader.entry)) {
        return false;
      }
      Block left = isLeft ? other : small;
      Block right = isLeft ? small : other;
      if (!left.hasHigh()
          || Block.compare(left.high(), right.low()) != 0
          || Blocks.joinedBytes(left, right) > joinedMax()) {
        return false;
      }
      join(isLeft ? neighbour : entry, isLeft ? entry : neighbour, Blocks.joined(left, right));
      return true;
    } catch (PoolFullException e) {
      return false;
    } finally {
      neighbour.unlatch();
    }
  }

  /** Returns the block that has a key, {@code null} if it cannot be read now. */
  private @Nullable Block neighbourOf(MemorySegment key) {
    try {
      return reader.block(key);
    } catch (PandoException e) {
      // The removal needs no neighbour; whoever needs that block is told.
      return null;
    }
  }

  private long joinedMax() {
    return index.options.blockBytes() * (SMALL_PART - 1L) / SMALL_PART;
  }

  private void join(BlockEntry left, BlockEntry right, Block joined) {
    long leftWord = left.state().word();
    long rightWord = right.state().word();
    long word = store(joined.withVersion(nextVersion()));
    label(left, left.label, word);
    index.cache.setGone(right);
    index.cache.set(left, word, joined);
    index.directory.remove(right);
    blobs.free(ByteSession.BLOCKS, leftWord);
    blobs.free(ByteSession.BLOCKS, rightWord);
    index.unsettled.addStray(right.label);
  }

  void close() {
    labels.close();
  }
}
