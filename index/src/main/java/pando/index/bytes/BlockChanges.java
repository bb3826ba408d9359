package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.memory.KeyOrder;
import pando.index.CorruptNodeException;
import pando.index.Session;
import pando.index.blob.Blobs;
import pando.index.bugs.PlantedBug;
import pando.index.session.Failures;
import pando.index.session.Operation;

/** One session's changes of blocks. */
final class BlockChanges {
  /** A block with fewer bytes than one of so many parts of the greatest takes its neighbour in. */
  private static final int SMALL_PART = 4;

  /**
   * Where records move, segments end elsewhere, and zeros behind them may be more: of 3,000 blocks,
   * 6 took more than estimated, by 13 bytes at the most.
   */
  private static final int PADDING = 64;

  private final ByteIndex index;
  private final BlockReader reader;
  private final Blobs blobs;
  final Session labels;
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

  /** Whether a block is made for a change of the key, and not for changes that waited alone. */
  private boolean changesKey;

  private MemorySegment before = wordBytes;
  private boolean matches;

  /** Two blocks that are to be joined: this session holds both latches. */
  private List<BlockEntry> joining = List.of();

  BlockChanges(ByteIndex index, BlockReader reader) {
    this.index = index;
    this.reader = reader;
    this.blobs = reader.blobs;
    this.labels = index.labels.session();
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
    // A change that waits stores no blob, and so frees none.
    blobs.freeWaiting();
    index.unsettled.settle(labels, blobs);
    index.spare.ensure(blobs);
    if (index.superseded.isMuch()) {
      freeSuperseded();
    }
    if (index.deltas.isNearlyShort()) {
      index.wakeMerging();
      if (index.deltas.isShort()) {
        mergeFullest();
      }
    }
    key = itsKey;
    hash = ByteKeyHash.of(itsKey);
    BlockEntry entry = reader.latch(key);
    try {
      return change(operation, value, expected, entry);
    } finally {
      entry.unlatch();
      blobs.endReplacement();
    }
  }

  private boolean change(
      Operation operation, MemorySegment value, MemorySegment expected, BlockEntry entry) {
    int waiting = entry.state().delta().find(key, hash);
    boolean found = reader.findStored(waiting, key, hash);
    matches = false;
    if (found && (operation.answers() || operation.compares())) {
      before = reader.keptValue(hash);
      matches = operation.compares() && before.mismatch(expected) < 0;
    }
    if (operation.stores(found, matches)) {
      put(entry, waiting, found, value);
    } else if (operation.removes(found, matches)) {
      remove(entry, waiting);
    }
    return found;
  }

  private void put(BlockEntry entry, int waiting, boolean found, MemorySegment value) {
    stored = value;
    storedWord = 0;
    if (value.byteSize() <= index.options.inlineMax()) {
      put(entry, waiting, found, value, false);
      return;
    }
    long word = found ? reader.blobWord() : 0;
    storedWord =
        withRoom(entry, () -> blobs.storeInPlaceOf(word, hash, value, 0, (int) value.byteSize()));
    try {
      wordBytes.set(Block.LONG, 0, storedWord);
      put(entry, waiting, found, wordBytes, true);
    } catch (Throwable e) {
      blobs.free(hash, storedWord);
      throw e;
    }
  }

  /** Puts a value, or the word of its blob. */
  private void put(
      BlockEntry entry, int waiting, boolean found, MemorySegment inBlock, boolean blob) {
    BlockDelta delta = entry.state().delta();
    int before = found ? (int) reader.storedBytes() : BlockDelta.ABSENT;
    change(entry, waiting, found, delta.with(waiting, key, hash, inBlock, blob, before));
  }

  private void remove(BlockEntry entry, int waiting) {
    stored = null;
    storedWord = 0;
    int before = (int) reader.storedBytes();
    change(entry, waiting, true, entry.state().delta().without(waiting, key, hash, before));
  }

  /**
   * Lets a change wait with others of its block, or makes a block with all of them.
   *
   * @param waiting number of the change of the key that waits already, -1 if there is none
   * @param next changes of the block, with this one
   */
  private void change(BlockEntry entry, int waiting, boolean found, BlockDelta next) {
    BlockDelta delta = entry.state().delta();
    boolean hadBlob = found && reader.hasBlob();
    boolean replacesBlobOfBlock = hadBlob && waiting < 0;
    changesKey = true;
    if (!replacesBlobOfBlock && mayWait(entry.state(), next)) {
      publish(() -> set(entry, entry.state().with(next)));
      index.cache.evict();
    } else {
      merge(entry, next);
    }
    if (hadBlob && waiting >= 0) {
      freeWaited(entry, delta.word(waiting));
    }
  }

  /** Frees a value that waited, and no block has, unless one that was never made known has it. */
  private void freeWaited(BlockEntry entry, long word) {
    if (index.unsettled.mayHaveWaiting()) {
      index.superseded.free(entry, hash, word);
    } else {
      blobs.free(hash, word);
    }
  }

  /**
   * Returns whether changes may wait. What they become must fit the place that their block has, so
   * that it finds room in a full pool, too. A block that becomes small has to look for a neighbour.
   */
  private boolean mayWait(BlockState state, BlockDelta next) {
    boolean moves = next.growth() > 0 || next.removedBytes() > 0;
    int bytes = state.bytes() + next.growth() + (moves ? PADDING : 0);
    return index.deltas.takes(state.delta(), next)
        && state.usedBytes() + next.growth() <= index.options.blockBytes()
        && (next.removedBytes() == 0 || !isSmall(state.usedBytes() - next.removedBytes()))
        && blobs.hasInOnePlace(state.word(), 0, bytes)
        && index.spare.takes(bytes);
  }

  /** Merges the block with the most changes of some that are drawn, for lack of memory. */
  private void mergeFullest() {
    BlockEntry entry = index.deltas.fullest(blobs.worker().random());
    if (entry != null && entry.tryLatch()) {
      try {
        reader.setLatched(entry);
        mergeWaiting(entry);
      } catch (PandoException _) {
        // The change that is to come is another block's; an operation that needs this one fails.
      } finally {
        entry.unlatch();
      }
    }
  }

  private void freeSuperseded() {
    try {
      settleSuperseded();
    } catch (PandoException _) {
      // What is left is freed later.
    }
  }

  /**
   * Writes labels, and frees what they do not lead to any more.
   *
   * @return whether no label waits that waited before
   * @throws PandoException if a step fails; what is left is done later
   */
  boolean settleSuperseded() {
    return index.superseded.settle(labels, blobs, List.of());
  }

  /** As {@link #settleSuperseded()}, for a session that holds a block's latch. */
  boolean settleSuperseded(BlockEntry latched) {
    return index.superseded.settle(labels, blobs, List.of(latched));
  }

  /** Frees what a block was, once no label in the pool leads to it. */
  void supersede(BlockEntry entry, long word) {
    index.superseded.free(entry, BlockSession.BLOCKS, word);
  }

  /**
   * Stores something, if need be in room that superseded blocks and values have taken. Other
   * sessions may be faster.
   */
  private long withRoom(BlockEntry latched, LongSupplier store) {
    List<BlockEntry> all = joining.isEmpty() ? List.of(latched) : joining;
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      long rounds = index.superseded.rounds();
      try {
        return store.getAsLong();
      } catch (PoolFullException e) {
        boolean mayHaveRoom = index.superseded.makeRoom(rounds, labels, blobs, all);
        if (!mayHaveRoom) {
          throw e;
        }
      }
      start = reader.pause(attempt, start, "others take all room in the pool");
    }
  }

  /**
   * Settles what is unsettled, and merges all blocks with their changes, while no session works.
   *
   * @throws CorruptNodeException if a block is damaged; changes of the others are written
   * @throws PoolFullException if there is no room for a block; changes of the others are written
   */
  void settleAll() {
    index.unsettled.settleAll(labels, blobs);
    Failures failures = new Failures();
    for (BlockEntry entry : index.directory.all()) {
      if (entry.state().delta().count() > 0) {
        reader.latch(entry);
        try {
          mergeWaiting(entry);
        } catch (CorruptNodeException | PoolFullException e) {
          failures.add(e);
        } finally {
          entry.unlatch();
        }
      }
    }
    // The round frees what was in doubt until now.
    failures.collect(() -> index.unsettled.settleAll(labels, blobs));
    failures.collect(this::settleSuperseded);
    failures.rethrow();
  }

  /** Merges the block that is latched with its changes, if there are any. */
  private void mergeWaiting(BlockEntry entry) {
    BlockDelta delta = entry.state().delta();
    if (delta.count() > 0) {
      changesKey = false;
      storedWord = 0;
      merge(entry, delta);
    }
  }

  /** Makes a block with changes in place of the one that is latched. */
  private void merge(BlockEntry entry, BlockDelta delta) {
    BlockMerge merge = new BlockMerge(reader.latchedBlock(), delta);
    Block patched = merge.patched();
    if (patched != null) {
      replace(entry, patched, entry.state().outline());
    } else {
      Block next = merge.merged();
      if (next.usedBytes() > index.options.blockBytes() && next.count() > 1) {
        splitIfRoom(entry, next, cut(merge, next));
      } else if (isSmall(next.usedBytes())
          && delta.removedBytes() > 0
          && joins(entry, next, merge)) {
        return;
      } else {
        replace(entry, next, Outline.of(next));
      }
    }
    merge.freeReplaced(entry, index.superseded);
  }

  private static int cut(BlockMerge merge, Block next) {
    // What ascends leaves full blocks behind.
    return merge.ascends() ? next.count() - 1 : Blocks.cut(next);
  }

  /** Splits a block; one that has to be made stays whole in a full pool. */
  private void splitIfRoom(BlockEntry entry, Block whole, int cut) {
    try {
      split(entry, whole, cut);
    } catch (PoolFullException e) {
      if (!mustBeMade()) {
        throw e;
      }
      replace(entry, whole, Outline.of(whole));
    }
  }

  /**
   * Returns whether a block is made for changes that were acknowledged, or for a removal, without
   * which a full pool stays full. What another change could take away from these is refused.
   */
  private boolean mustBeMade() {
    return !changesKey || stored == null;
  }

  private boolean isSmall(long bytes) {
    return bytes < index.options.blockBytes() / SMALL_PART;
  }

  private void replace(BlockEntry entry, Block next, byte[] outline) {
    long oldWord = entry.state().word();
    BlockState state;
    try {
      state = stored(entry, next, outline);
    } catch (PoolFullException e) {
      if (!index.spare.replace(this, reader, entry, next, mustBeMade())) {
        throw e;
      }
      return;
    }
    make(entry, state);
    supersede(entry, oldWord);
    index.cache.set(entry, next);
  }

  /** Lets the label, the directory and the cache of records know of another block. */
  void make(BlockEntry entry, BlockState state) {
    label(entry, state);
    publish(() -> set(entry, state));
  }

  private void set(BlockEntry entry, BlockState next) {
    BlockDelta changes = entry.state().delta();
    boolean waited = changes.count() > 0;
    boolean waits = next.delta().count() > 0;
    if (waits && !waited) {
      index.unwritten.add(entry);
    }
    entry.setState(next);
    index.deltas.count(changes, next.delta());
    if (waited && !waits) {
      index.unwritten.remove(entry);
    }
    index.writeBack.note();
  }

  /**
   * Merges a block with its changes, if no other session changes it; returns whether all that
   * waited before the call is in a block.
   */
  boolean tryMerge(BlockEntry entry) {
    if (entry.state().delta().count() == 0) {
      return true;
    }
    if (!entry.tryLatch()) {
      return false;
    }
    try {
      blobs.freeWaiting();
      reader.setLatched(entry);
      mergeWaiting(entry);
      return true;
    } finally {
      entry.unlatch();
    }
  }

  /**
   * Stores a new block; returns its state, which nobody knows yet.
   *
   * @param latched a block whose latch this session holds
   */
  private BlockState stored(BlockEntry latched, Block next, byte[] outline) {
    long word =
        withRoom(latched, () -> blobs.store(BlockSession.BLOCKS, sealed(next), 0, size(next)));
    return BlockState.of(word, next, outline);
  }

  /** Stores a new block in the place of another blob, which nobody knows; returns its state. */
  BlockState storedIn(long place, Block next) {
    byte[] outline = Outline.of(next);
    long word = blobs.storeIn(place, BlockSession.BLOCKS, sealed(next), 0, size(next));
    return BlockState.of(word, next, outline);
  }

  private MemorySegment sealed(Block next) {
    return next.withVersion(index.versions.next()).bytes();
  }

  private static int size(Block block) {
    return (int) block.bytes().byteSize();
  }

  /**
   * Gives the label of a block the word of another one, which is freed if that fails for sure. Does
   * nothing if the label waits for others.
   */
  private void label(BlockEntry entry, BlockState state) {
    if (index.superseded.isWaiting(entry)) {
      return;
    }
    boolean known = false;
    try {
      labels.store(entry.label(), state.word());
      known = true;
    } catch (UnknownOutcomeException e) {
      throw e;
    } catch (PandoException e) {
      known = true;
      blobs.free(BlockSession.BLOCKS, state.word());
      throw e;
    } finally {
      if (!known) {
        addUnsettled(entry, state);
      }
    }
  }

  /**
   * Notes that a label may have the word of a block that was not made known, and the value there.
   */
  private void addUnsettled(BlockEntry entry, BlockState state) {
    index.unsettled.add(entry, state.word(), hash, storedWord);
    storedWord = 0;
  }

  /**
   * Makes states of blocks known, and with them the change of the key: in the same moment for
   * readers that ask the directory and readers that ask the cache of records.
   */
  private void publish(Runnable states) {
    if (!changesKey) {
      states.run();
      return;
    }
    RecordPart part = index.records.latched(hash, blobs.worker().backoff());
    try {
      states.run();
      long word = storedWord;
      // The block has the value from now on: whatever fails later must not free it.
      storedWord = 0;
      if (stored == null) {
        part.remove(hash, key);
      } else if (!PlantedBug.RECORD_KEPT) {
        part.put(hash, key, stored, word);
      }
    } finally {
      part.unlatch();
    }
  }

  private void split(BlockEntry entry, Block whole, int cut) {
    split(entry, whole, cut, Blocks.separator(whole, cut));
  }

  /**
   * Makes a key that is served the first one of a block, while no session works and nothing waits.
   */
  void cutAt(MemorySegment at) {
    BlockEntry entry = reader.latch(at);
    try {
      if (entry.compareLow(at) != 0) {
        Block whole = reader.latchedBlock();
        changesKey = false;
        storedWord = 0;
        split(entry, whole, OrderedRecords.below(whole.find(at)), at);
      }
    } finally {
      entry.unlatch();
    }
  }

  /** Reads a block that has no changes, while no session works. */
  Block read(BlockEntry entry) {
    reader.latch(entry);
    try {
      return reader.latchedBlock().copy();
    } finally {
      entry.unlatch();
    }
  }

  /** Splits a block in front of a record, at a key. */
  private void split(BlockEntry entry, Block whole, int cut, MemorySegment separator) {
    long oldWord = entry.state().word();
    int usedMax = index.options.blockBytes();
    Block right = Blocks.right(whole, cut, separator, usedMax);
    Block left = Blocks.left(whole, cut, separator, usedMax);
    byte[] leftOutline = Outline.of(left);
    long newLabel = index.freshLabels.take();
    BlockState rightState = stored(entry, right, Outline.of(right));
    BlockEntry added = new BlockEntry(newLabel, BlockState.gone(rightState.outline()));
    boolean done = false;
    try {
      labels.store(newLabel, rightState.word());
      BlockState leftState = stored(entry, left, leftOutline);
      index.superseded.await(entry);
      addKnown(entry, leftState, added, rightState);
      done = true;
    } finally {
      if (!done) {
        index.unsettled.addStray(newLabel, rightState.word());
      }
    }
    supersede(entry, oldWord);
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
                set(entry, left);
                set(added, right);
              }));
      isKnown = true;
    } finally {
      if (!isKnown) {
        addUnsettled(entry, left);
      }
    }
  }

  /**
   * Makes one block of a small one and a neighbour; returns whether there was one for it.
   *
   * @param merge of which the small one is the result
   */
  private boolean joins(BlockEntry entry, Block small, BlockMerge merge) {
    boolean joined =
        small.hasHigh()
            && index.directory.served().has(small.high())
            && joins(entry, small, merge, index.directory.find(small.high()), false);
    BlockEntry left = joined ? null : index.directory.before(small.low());
    return joined || (left != null && joins(entry, small, merge, left, true));
  }

  private boolean joins(
      BlockEntry entry, Block small, BlockMerge merge, BlockEntry neighbour, boolean isLeft) {
    if (!neighbour.tryLatch()) {
      return false;
    }
    try {
      joining = List.of(entry, neighbour);
      return joinsLatched(entry, small, merge, neighbour, isLeft);
    } catch (PoolFullException _) {
      return false;
    } finally {
      joining = List.of();
      reader.setLatched(entry);
      neighbour.unlatch();
    }
  }

  private boolean joinsLatched(
      BlockEntry entry, Block small, BlockMerge merge, BlockEntry neighbour, boolean isLeft) {
    if (index.unsettled.isDoubtful(entry) || index.unsettled.isDoubtful(neighbour)) {
      return false;
    }
    Block read = neighbourBlock(neighbour);
    if (read == null) {
      return false;
    }
    BlockMerge its = new BlockMerge(read, neighbour.state().delta());
    Block other = its.merged();
    Block left = isLeft ? other : small;
    Block right = isLeft ? small : other;
    if (!left.hasHigh()
        || KeyOrder.compare(left.high(), right.low()) != 0
        || Blocks.joinedBytes(left, right) > joinedMax()) {
      return false;
    }
    BlockEntry absorbing = isLeft ? neighbour : entry;
    join(absorbing, isLeft ? entry : neighbour, Blocks.joined(left, right));
    its.freeReplaced(absorbing, index.superseded);
    merge.freeReplaced(absorbing, index.superseded);
    return true;
  }

  /** Returns a block whose latch is held, {@code null} if it is gone or cannot be read. */
  private @Nullable Block neighbourBlock(BlockEntry neighbour) {
    if (neighbour.state().isGone()) {
      return null;
    }
    try {
      reader.setLatched(neighbour);
      return reader.latchedBlock();
    } catch (PandoException _) {
      // The change needs no neighbour; an operation that needs that block fails.
      return null;
    }
  }

  private long joinedMax() {
    return index.options.blockBytes() * (SMALL_PART - 1L) / SMALL_PART;
  }

  private void join(BlockEntry left, BlockEntry right, Block joined) {
    long leftWord = left.state().word();
    long rightWord = right.state().word();
    BlockState state = stored(left, joined, Outline.of(joined));
    if (index.superseded.isWaiting(right)) {
      // What the label of the right one waits for is behind the range of both.
      index.superseded.await(left);
    }
    BlockState gone = BlockState.gone(right.state().outline());
    label(left, state);
    boolean isKnown = false;
    try {
      index.directory.remove(
          right,
          () ->
              publish(() -> {
                set(right, gone);
                set(left, state);
              }));
      isKnown = true;
    } finally {
      if (!isKnown) {
        addUnsettled(left, state);
      }
    }
    supersede(left, leftWord);
    index.superseded.absorb(left, right, rightWord);
    index.cache.set(right, null);
    index.cache.set(left, joined);
  }

  void close() {
    labels.close();
  }
}
