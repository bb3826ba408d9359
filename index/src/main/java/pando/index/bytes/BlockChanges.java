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
import pando.index.cache.PlantedBug;
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

  /**
   * The key that is changed, its hash, and what is stored for it, {@code null} if it is removed.
   */
  private MemorySegment key = wordBytes;

  private long hash;
  private @Nullable MemorySegment stored;

  /**
   * The word of the blob that {@link #stored} is in, 0 if it is in none, or is not ours to free.
   */
  private long storedWord;

  /** The block that was latched last, and has the key. */
  private Block old;

  private MemorySegment before = wordBytes;
  private boolean matches;

  BlockChanges(ByteIndex index, BlockReader reader) {
    this.index = index;
    this.reader = reader;
    this.blobs = reader.blobs;
    this.labels = index.labels.session();
    this.old = Blocks.empty(wordBytes, null);
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
      Operation operation, MemorySegment itsKey, MemorySegment value, MemorySegment expected) {
    index.unsettled.settle(labels, blobs);
    index.spare.ensure(blobs);
    key = itsKey;
    hash = KeyHash.of(itsKey);
    BlockEntry entry = latched();
    try {
      return change(operation, value, expected, entry);
    } finally {
      entry.unlatch();
    }
  }

  /** Latches the block that has the key. */
  private BlockEntry latched() {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      Block seen = reader.block(key);
      BlockEntry entry = reader.entry;
      long version = reader.version();
      if (entry.tryLatch()) {
        if (entry.state().version() == version) {
          old = seen;
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
      Operation operation, MemorySegment value, MemorySegment expected, BlockEntry entry) {
    int i = old.find(key);
    boolean found = i >= 0;
    matches = false;
    if (found && (operation.answers() || operation.compares())) {
      before = valueOf(i);
      matches = operation.compares() && before.mismatch(expected) < 0;
    }
    if (operation.stores(found, matches)) {
      put(entry, i, value);
      freeValue(i);
    } else if (operation.removes(found, matches)) {
      remove(entry, i);
      freeValue(i);
    }
    return found;
  }

  /** Returns a value in memory that no later verb overwrites. */
  private MemorySegment valueOf(int i) {
    if (!old.hasBlob(i)) {
      return old.stored(i).asReadOnly();
    }
    if (!blobs.load(hash, old.word(i))) {
      throw new CorruptNodeException(
          Blobs.address(old.word(i)), "is not the value of its key: record=" + i);
    }
    byte[] copy = blobs.bytes().asSlice(blobs.offset(), blobs.length()).toArray(JAVA_BYTE);
    return MemorySegment.ofArray(copy).asReadOnly();
  }

  private void freeValue(int i) {
    if (i >= 0 && old.hasBlob(i)) {
      blobs.free(hash, old.word(i));
    }
  }

  private void put(BlockEntry entry, int i, MemorySegment value) {
    stored = value;
    storedWord = 0;
    if (value.byteSize() <= index.options.inlineMax()) {
      put(entry, i, value, false);
      return;
    }
    storedWord = blobs.store(hash, value, 0, (int) value.byteSize());
    try {
      wordBytes.set(Block.LONG, 0, storedWord);
      put(entry, i, wordBytes, true);
    } catch (RuntimeException e) {
      blobs.free(hash, storedWord);
      throw e;
    }
  }

  /** Puts a value, or the word of its blob, into the block. */
  private void put(BlockEntry entry, int i, MemorySegment inBlock, boolean blob) {
    Block next = Blocks.with(old, i, key, inBlock, blob);
    if (Blocks.isPatched(old, i, inBlock, blob)) {
      replace(entry, next, entry.state().outline());
    } else if (next.usedBytes() <= index.options.blockBytes() || next.count() < 2) {
      replace(entry, next, Outline.of(next));
    } else {
      // What ascends leaves full blocks behind.
      boolean ascends = !next.hasHigh() && i == -1 - old.count();
      split(entry, next, ascends ? next.count() - 1 : Blocks.cut(next));
    }
  }

  private void remove(BlockEntry entry, int i) {
    stored = null;
    storedWord = 0;
    Block next = Blocks.without(old, i);
    boolean small = next.usedBytes() < index.options.blockBytes() / SMALL_PART;
    if (!small || !joins(entry, next)) {
      try {
        replace(entry, next, Outline.of(next));
      } catch (PoolFullException e) {
        if (!index.spare.replace(this, reader, entry, next)) {
          throw e;
        }
      }
    }
  }

  private void replace(BlockEntry entry, Block next, byte[] outline) {
    long oldWord = entry.state().word();
    make(entry, stored(next, outline));
    blobs.free(ByteSession.BLOCKS, oldWord);
    index.cache.set(entry, next);
  }

  /** Lets the label, the directory and the cache of records know of another block. */
  void make(BlockEntry entry, BlockState state) {
    label(entry, state);
    publish(() -> entry.setState(state));
  }

  /** Stores a new block; returns its state, which nobody knows yet. */
  private BlockState stored(Block next, byte[] outline) {
    long word = blobs.store(ByteSession.BLOCKS, sealed(next), 0, size(next));
    return new BlockState(word, next.version(), outline);
  }

  /** Stores a new block in the place of another blob, which nobody knows; returns its state. */
  BlockState storedIn(long place, Block next) {
    byte[] outline = Outline.of(next);
    long word = blobs.storeIn(place, ByteSession.BLOCKS, sealed(next), 0, size(next));
    return new BlockState(word, next.version(), outline);
  }

  private MemorySegment sealed(Block next) {
    return next.withVersion(index.nextVersion.getAndIncrement()).bytes();
  }

  private static int size(Block block) {
    return (int) block.bytes().byteSize();
  }

  /** Gives the label of a block the word of another one, which is freed if that fails for sure. */
  private void label(BlockEntry entry, BlockState state) {
    boolean known = false;
    try {
      labels.store(entry.label, state.word());
      known = true;
    } catch (UnknownOutcomeException e) {
      throw e;
    } catch (PandoException e) {
      known = true;
      blobs.free(ByteSession.BLOCKS, state.word());
      throw e;
    } finally {
      if (!known) {
        index.unsettled.add(entry, state.word(), hash, storedWord);
        storedWord = 0;
      }
    }
  }

  /**
   * Makes blocks known, and with them the change of the key: in the same moment for readers that
   * ask the directory and readers that ask the cache of records.
   */
  private void publish(Runnable states) {
    RecordPart part = index.records.latched(hash, blobs.worker().backoff());
    try {
      states.run();
      if (stored == null) {
        part.remove(hash, key);
      } else if (!PlantedBug.RECORD_KEPT) {
        part.put(hash, key, stored, storedWord);
      }
    } finally {
      part.unlatch();
    }
  }

  private void split(BlockEntry entry, Block whole, int cut) {
    long oldWord = entry.state().word();
    MemorySegment separator = Blocks.separator(whole, cut);
    Block right = Blocks.right(whole, cut, separator);
    Block left = Blocks.left(whole, cut, separator);
    byte[] leftOutline = Outline.of(left);
    long newLabel = index.nextLabel.getAndIncrement();
    BlockState rightState = stored(right, Outline.of(right));
    BlockEntry added = new BlockEntry(newLabel, BlockState.gone(rightState.outline()));
    boolean done = false;
    try {
      labels.store(newLabel, rightState.word());
      BlockState leftState = stored(left, leftOutline);
      label(entry, leftState);
      addKnown(entry, leftState, added, rightState);
      done = true;
    } finally {
      if (!done) {
        index.unsettled.addStray(newLabel, rightState.word());
      }
    }
    blobs.free(ByteSession.BLOCKS, oldWord);
    index.cache.set(entry, left);
    index.cache.set(added, right);
  }

  /**
   * Makes the two parts of a block known. Sessions that find the right one before the left one is
   * shorter wait, so that no two change the same records.
   */
  private void addKnown(BlockEntry entry, BlockState left, BlockEntry added, BlockState right) {
    boolean isKnown = false;
    try {
      index.directory.add(
          added,
          () ->
              publish(() -> {
                entry.setState(left);
                added.setState(right);
              }));
      isKnown = true;
    } finally {
      if (!isKnown) {
        index.unsettled.add(entry, left.word());
      }
    }
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
  private @Nullable Block neighbourOf(MemorySegment itsKey) {
    try {
      return reader.block(itsKey);
    } catch (PandoException e) {
      // The removal needs no neighbour; an operation that needs that block fails.
      return null;
    }
  }

  private long joinedMax() {
    return index.options.blockBytes() * (SMALL_PART - 1L) / SMALL_PART;
  }

  private void join(BlockEntry left, BlockEntry right, Block joined) {
    long leftWord = left.state().word();
    long rightWord = right.state().word();
    BlockState state = stored(joined, Outline.of(joined));
    BlockState gone = BlockState.gone(right.state().outline());
    label(left, state);
    boolean isKnown = false;
    try {
      index.directory.remove(
          right,
          () ->
              publish(() -> {
                right.setState(gone);
                left.setState(state);
              }));
      isKnown = true;
    } finally {
      if (!isKnown) {
        index.unsettled.add(left, state.word());
      }
    }
    blobs.free(ByteSession.BLOCKS, leftWord);
    index.unsettled.addStray(right.label, rightWord);
    index.cache.set(right, null);
    index.cache.set(left, joined);
  }

  void close() {
    labels.close();
  }
}
