package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.WaitLimit;
import pando.index.CorruptNodeException;
import pando.index.NotServedHereException;
import pando.index.blob.Blobs;
import pando.index.bugs.PlantedBug;
import pando.index.bytes.Block.DamagedException;
import pando.index.session.Gate;

/** One session's way to blocks, and to single records of them. */
final class BlockReader {
  /** Attempts to load a blob whose word stays the same before it counts as damaged. */
  private static final int LOADS_MAX = 4;

  /** What came of a look for a key: it is there, it is not there, or what was read is too old. */
  private static final int FOUND = 1;

  private static final int ABSENT = 0;
  private static final int AGAIN = -1;

  /** Keys that are touched at once. */
  private static final int TOUCHED_MAX = 32;

  /** In place of a block before any is found. */
  private static final BlockEntry NONE =
      new BlockEntry(ByteIndex.NO_LABEL, BlockState.gone(Outline.whole(MemorySegment.NULL)));

  final Blobs blobs;
  final Gate.Pass pass;
  private final ByteIndex index;
  private final BlockDirectory directory;
  private final ByteRecordCache records;
  private final ByteRecordCache.Found cached = new ByteRecordCache.Found();
  private final Outline.Search search = new Outline.Search();

  /** The hashes of keys that are touched, and where the first records of their chains are. */
  private final long[] hashes = new long[TOUCHED_MAX];

  private final int[] firsts = new int[TOUCHED_MAX];

  /** What was read by {@link #touch}, so that the reads are not left out. */
  @SuppressWarnings("unused")
  private long touched;

  /** The block that was found last, and the state that it had. */
  BlockEntry entry = NONE;

  BlockState state = BlockState.gone(Outline.whole(MemorySegment.NULL));

  /** Whether this session holds the latch of the block. */
  private boolean latched;

  /** The block whose latch this session holds, if it has been read. */
  private @Nullable Block latchedBlock;

  /** The memory that has what is stored for the key that was found, and where. */
  private MemorySegment storedIn = MemorySegment.NULL;

  private long storedAt;
  private long storedBytes;

  /** The word of the blob that has the value, 0 if it is in none. */
  private long storedWord;

  /** The memory that has the value that was found, and where. */
  private MemorySegment valueIn = MemorySegment.NULL;

  private long valueAt;
  private long valueBytes;

  BlockReader(ByteIndex index) {
    this.index = index;
    this.directory = index.directory;
    this.records = index.records;
    this.blobs = new Blobs(index.space);
    this.pass = index.gate.pass(blobs.worker());
  }

  /**
   * Begins an operation on a key. Until {@link Gate.Pass#exit} the index is not closed, and no key
   * that is served goes elsewhere.
   *
   * @throws NotServedHereException if another process serves the key
   */
  void enter(MemorySegment wanted) {
    pass.enter();
    long start = 0;
    for (int attempt = 0; !directory.served().has(wanted); attempt++) {
      start = enterLater(wanted, false, attempt, start);
    }
  }

  /**
   * Begins an operation on the keys just below another one, as {@link #enter} does.
   *
   * @param wanted {@code null} for the end of all keys
   */
  void enterBelow(@Nullable MemorySegment wanted) {
    pass.enter();
    long start = 0;
    for (int attempt = 0; !directory.served().hasBelow(wanted); attempt++) {
      start = enterLater(wanted, true, attempt, start);
    }
  }

  /** Enters again once this process serves a key; returns when the waiting began. */
  private long enterLater(
      @Nullable MemorySegment wanted, boolean isBelow, int attempt, long start) {
    pass.exit();
    index.ranges.await(wanted, isBelow, attempt);
    long began = pause(attempt, start, "the range of a key changes again and again");
    pass.enter();
    return began;
  }

  /**
   * Returns bytes that a caller gives, or a copy of them where this session has returned them, and
   * is going to overwrite them.
   */
  MemorySegment kept(MemorySegment given) {
    MemorySegment own = given.isNative() ? blobs.worker().memory() : cached.bytes();
    return given.asOverlappingSlice(own).isPresent()
        ? MemorySegment.ofArray(given.toArray(JAVA_BYTE))
        : given;
  }

  /** Returns the value that was found. */
  MemorySegment value() {
    return valueIn.asSlice(valueAt, valueBytes).asReadOnly();
  }

  private void setValue(MemorySegment in, long at, long bytes) {
    valueIn = in;
    valueAt = at;
    valueBytes = bytes;
  }

  private void setStored(MemorySegment in, long at, long bytes, boolean blob) {
    storedIn = in;
    storedAt = at;
    storedBytes = bytes;
    storedWord = blob ? in.get(Block.LONG, at) : 0;
  }

  private void setStored(MemorySegment in, long record) {
    setStored(
        in,
        BlockSegment.stored(in, record),
        BlockSegment.storedBytes(in, record),
        BlockSegment.hasBlob(in, record));
  }

  private int found(MemorySegment in, long record) {
    setStored(in, record);
    return FOUND;
  }

  /** Returns the length of what is stored for the key that was found. */
  long storedBytes() {
    return storedBytes;
  }

  /** Returns the word of the blob that has the value that was found, 0 if it is in none. */
  long blobWord() {
    return storedWord;
  }

  /** Returns whether the value that was found is in a blob. */
  boolean hasBlob() {
    return storedWord != 0;
  }

  /**
   * Reads a little of what the cache of records has of keys, each step for many of them before the
   * next: so the processor, which does not wait for what is not needed yet, fetches it for all at a
   * time.
   */
  void touch(List<MemorySegment> keys) {
    long sum = 0;
    for (int from = 0; from < keys.size(); from += TOUCHED_MAX) {
      sum += touch(keys, from, Math.min(from + TOUCHED_MAX, keys.size()));
    }
    touched = sum;
  }

  private long touch(List<MemorySegment> keys, int from, int to) {
    for (int i = from; i < to; i++) {
      long hash = ByteKeyHash.of(keys.get(i));
      hashes[i - from] = hash;
      firsts[i - from] = records.part(hash).first(hash);
    }
    long sum = 0;
    for (int i = 0; i < to - from; i++) {
      sum += records.part(hashes[i]).touch(firsts[i]);
    }
    return sum;
  }

  /** Finds the value of a key. */
  boolean find(MemorySegment wanted) {
    long hash = ByteKeyHash.of(wanted);
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      if (records.part(hash).find(hash, wanted, cached)) {
        setStored(cached.bytes(), 0, cached.length(), cached.isBlob());
        if (takeValue(hash)) {
          return true;
        }
        // The record has changed since, or its value is damaged, which the block shows.
      }
      if (seek(wanted)) {
        int looked = look(wanted, hash);
        if (looked == ABSENT) {
          return false;
        }
        if (looked == FOUND && takeValue(hash)) {
          cache(wanted, hash);
          return true;
        }
        failIfDamaged(attempt, state.word(), "is not the block of its range, or has a bad value");
      }
      start = pause(attempt, start, "a block changes again and again");
    }
  }

  /** Finds the block whose range has a key; returns whether it is known. */
  boolean seek(MemorySegment wanted) {
    long changes = directory.changes();
    set(directory.find(wanted));
    return !state.isGone() && directory.changes() == changes;
  }

  /** Says which block has been found. */
  void set(BlockEntry found) {
    latched = false;
    latchedBlock = null;
    entry = found;
    state = found.state();
  }

  /** Latches the block whose range has a key. */
  BlockEntry latch(MemorySegment wanted) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      long changes = directory.changes();
      BlockEntry found = directory.find(wanted);
      if (found.tryLatch()) {
        if (!found.state().isGone() && directory.changes() == changes) {
          setLatched(found);
          return found;
        }
        found.unlatch();
      }
      start = pause(attempt, start, "a block stays latched");
    }
  }

  /** Latches a block. */
  void latch(BlockEntry wanted) {
    long start = 0;
    for (int attempt = 0; !wanted.tryLatch(); attempt++) {
      start = pause(attempt, start, "a block stays latched");
    }
    setLatched(wanted);
  }

  /** Says which block has been found, whose latch this session holds. */
  void setLatched(BlockEntry found) {
    set(found);
    latched = true;
  }

  /** Looks for the record of a key in the block that has been found. */
  private int look(MemorySegment wanted, long hash) {
    int waiting = state.delta().find(wanted, hash);
    return waiting >= 0 ? lookInDelta(waiting) : lookInBlock(wanted);
  }

  private int lookInDelta(int waiting) {
    MemorySegment in = state.delta().memory();
    int record = state.delta().record(waiting);
    return BlockDelta.isRemoved(in, record) ? ABSENT : found(in, record);
  }

  private int lookInBlock(MemorySegment wanted) {
    Block copy = entry.copy(state);
    return copy != null ? lookInCopy(copy, wanted) : lookInPool(wanted);
  }

  private int lookInCopy(Block copy, MemorySegment wanted) {
    entry.use();
    int i = copy.find(wanted);
    return i < 0 ? ABSENT : found(copy.memory(i), copy.record(i));
  }

  /** READs the segment that has a key, if it is there, or the whole block. */
  private int lookInPool(MemorySegment wanted) {
    boolean inOnePlace = search.find(state.outline(), wanted);
    int bytes = search.end - search.begin;
    if (!inOnePlace || !blobs.loadPart(state.word(), search.begin, bytes)) {
      Block block = load();
      return block == null ? AGAIN : lookInCopy(block, wanted);
    }
    MemorySegment read = blobs.bytes();
    long at = blobs.offset();
    if (!PlantedBug.SUM_IGNORED && !BlockSegment.isOf(read, at, at + bytes, state.version())) {
      return AGAIN;
    }
    try {
      long record = BlockSegment.find(read, at, at + bytes, wanted, search.prefixBytes);
      return record < 0 ? ABSENT : found(read, record);
    } catch (DamagedException e) {
      throw damaged(state.word(), "has a segment that is none: " + e.getMessage());
    }
  }

  /**
   * Finds what is stored for a key in the block whose latch this session holds.
   *
   * @param waiting what {@link BlockDelta#find} returns for the key
   */
  boolean findStored(int waiting, MemorySegment wanted, long hash) {
    if (waiting >= 0) {
      return lookInDelta(waiting) == FOUND;
    }
    if (records.part(hash).find(hash, wanted, cached) && isStored(cached)) {
      setStored(cached.bytes(), 0, cached.length(), cached.isBlob());
      return true;
    }
    if (!index.deltas.mayWait()) {
      return lookInCopy(latchedBlock(), wanted) == FOUND;
    }
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      int looked = lookInBlock(wanted);
      if (looked != AGAIN) {
        return looked == FOUND;
      }
      failIfDamaged(attempt, state.word(), "is not the block of its range");
      start = pause(attempt, start, "a block cannot be read");
    }
  }

  /** Returns whether this is what a block stores: a long value may be cached without its word. */
  private boolean isStored(ByteRecordCache.Found record) {
    return record.isBlob() || record.length() <= index.options.inlineMax();
  }

  /**
   * Returns the value of what {@link #findStored} has found, in memory that no verb overwrites.
   *
   * @throws CorruptNodeException if it is damaged
   */
  MemorySegment keptValue(long hash) {
    if (!takeValue(hash)) {
      throw damaged(storedWord, "is not the value of its key");
    }
    return valueIn.isNative()
        ? MemorySegment.ofArray(value().toArray(JAVA_BYTE)).asReadOnly()
        : value();
  }

  /** Takes the value of what is stored; returns {@code false} if its blob is not there any more. */
  private boolean takeValue(long hash) {
    if (hasBlob()) {
      return loadBlob(hash, storedWord);
    }
    setValue(storedIn, storedAt, storedBytes);
    return true;
  }

  /** Puts the record that was found into the cache if there is room, and it has not changed. */
  private void cache(MemorySegment wanted, long hash) {
    RecordPart part = records.part(hash);
    boolean takes = part.takes(wanted.byteSize(), valueBytes);
    boolean takesWord = hasBlob() && part.takes(wanted.byteSize(), Long.BYTES);
    if ((takes || takesWord) && part.tryLatch()) {
      try {
        if (isUnchanged(wanted, hash) || PlantedBug.RECORD_OLD) {
          if (takes) {
            part.put(hash, wanted, valueIn, valueAt, (int) valueBytes);
          } else {
            part.putWord(hash, wanted, storedWord);
          }
        }
      } finally {
        part.unlatch();
      }
    }
  }

  /** Returns whether the record of a key is the one that was found in {@link #state}. */
  private boolean isUnchanged(MemorySegment wanted, long hash) {
    BlockState last = entry.state();
    return last.isSameAs(state)
        || (last.version() == state.version() && last.delta().find(wanted, hash) < 0);
  }

  private boolean loadBlob(long hash, long word) {
    if (!blobs.load(hash, word)) {
      return false;
    }
    setValue(blobs.bytes(), blobs.offset(), blobs.length());
    return true;
  }

  private CorruptNodeException damaged(long word, String reason) {
    return new CorruptNodeException(Blobs.address(word), reason);
  }

  /** Fails if what cannot be read stays as it is. */
  private void failIfDamaged(int attempt, long word, String reason) {
    if (attempt >= LOADS_MAX && isSettled()) {
      throw damaged(word, reason);
    }
  }

  /** Returns whether the block is still the one that was found, and nobody else is changing it. */
  private boolean isSettled() {
    boolean changing = !latched && entry.isLatched();
    return !changing && entry.state().isSameAs(state);
  }

  /**
   * Loads the value of a record; returns {@code false} if the block is another one meanwhile.
   *
   * @throws CorruptNodeException if the value is damaged
   */
  boolean loadValue(BlockView view, int i, MemorySegment itsKey, int attempt) {
    if (takeValue(view, i, itsKey)) {
      return true;
    }
    failIfDamaged(attempt, view.word(i), "is not the value of its key: record=" + i);
    return false;
  }

  /** Takes the value of a record; returns {@code false} if its blob is not there any more. */
  boolean takeValue(BlockView view, int i, MemorySegment itsKey) {
    setStored(view.memory(i), view.record(i));
    return takeValue(hasBlob() ? ByteKeyHash.of(itsKey) : 0);
  }

  /** Returns the block that has a key, with its changes. */
  BlockView view(MemorySegment wanted) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      set(directory.find(wanted));
      BlockView view = viewOrGone(attempt);
      if (view != null && view.block().covers(wanted)) {
        return view;
      }
      start = pause(attempt, start, "a range has no block");
    }
  }

  /** Returns the block that has been found with its changes, {@code null} if it is gone. */
  @Nullable BlockView viewOrGone(int attempt) {
    Block block = loadOrCopy(attempt);
    return block == null ? null : new BlockView(block, state.delta());
  }

  /**
   * Returns the block that has been found, and whose latch this session holds; not to be used once
   * it is another one, or the latch is not held.
   */
  Block latchedBlock() {
    Block block = latchedBlock;
    long start = 0;
    for (int attempt = 0; block == null; attempt++) {
      block = loadOrCopy(attempt);
      if (block == null) {
        start = pause(attempt, start, "a block cannot be read");
      }
    }
    latchedBlock = block;
    return block;
  }

  /** Waits; returns when the waiting began. */
  long pause(int attempt, long start, String reason) {
    return WaitLimit.SHORT.pause(blobs.worker().backoff(), attempt, start, reason);
  }

  /** Returns the block of the entry and state, {@code null} if it is gone meanwhile. */
  private @Nullable Block loadOrCopy(int attempt) {
    Block copy = entry.copy(state);
    if (copy != null) {
      entry.use();
      return copy;
    }
    if (state.isGone()) {
      return null;
    }
    Block block = load();
    if (block == null) {
      failIfDamaged(attempt, state.word(), "is not the block of its range");
    }
    return block;
  }

  /**
   * READs the whole block of the state, {@code null} if it is there no more. A session that holds
   * the latch needs no copy of what is mapped, as the block stays where it is until then.
   */
  private @Nullable Block load() {
    boolean isViewed = latched && blobs.view(BlockSession.BLOCKS, state.word());
    if (!isViewed && !blobs.load(BlockSession.BLOCKS, state.word())) {
      return null;
    }
    MemorySegment bytes = blobs.bytes().asSlice(blobs.offset(), blobs.length());
    Block block = isViewed ? viewed(bytes) : checked(bytes);
    if (block.version() != state.version()) {
      return null;
    }
    if (!isViewed && entry.state().version() == state.version()) {
      index.cache.set(entry, block);
    }
    return block;
  }

  private Block viewed(MemorySegment bytes) {
    try {
      return Block.in(bytes);
    } catch (DamagedException e) {
      throw notABlock(e);
    }
  }

  private Block checked(MemorySegment bytes) {
    try {
      return Block.checked(MemorySegment.ofArray(bytes.toArray(JAVA_BYTE)));
    } catch (DamagedException e) {
      throw notABlock(e);
    }
  }

  private CorruptNodeException notABlock(DamagedException e) {
    return damaged(state.word(), "is not a block: " + e.getMessage());
  }

  void close() {
    index.gate.forget(pass);
    blobs.close();
  }
}
