package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.StalledException;
import pando.index.CorruptNodeException;
import pando.index.blob.Blobs;
import pando.index.bytes.Block.DamagedException;
import pando.index.cache.PlantedBug;
import pando.index.session.Gate;

/** One session's way to blocks, and what it finds in them. */
final class BlockReader {
  private static final long WAIT_NANOS_MAX = 10_000_000_000L;

  /** Attempts to load a blob whose word stays the same before it counts as damaged. */
  private static final int LOADS_MAX = 4;

  /** What came of a look for a key: it is there, it is not there, or what was read is too old. */
  private static final int FOUND = 1;

  private static final int ABSENT = 0;
  private static final int AGAIN = -1;

  final Blobs blobs;
  final Gate.Pass pass;
  private final ByteIndex index;
  private final BlockDirectory directory;

  /** The key that was found. */
  MemorySegment key = MemorySegment.NULL;

  /** The memory that has the value that was found, and where. */
  private MemorySegment valueIn = MemorySegment.NULL;

  private long valueAt;
  private long valueBytes;

  /** The block of {@link #block}, and its state. */
  BlockEntry entry;

  private BlockState state = BlockState.gone(Outline.whole(MemorySegment.NULL));
  private final RecordCache records;
  private final RecordCache.Found cached = new RecordCache.Found();
  private final Outline.Search search = new Outline.Search();

  BlockReader(ByteIndex index) {
    this.index = index;
    this.directory = index.directory;
    this.records = index.records;
    this.blobs = new Blobs(index.space);
    this.pass = index.gate.pass(blobs.worker());
    this.entry = directory.find(MemorySegment.ofArray(new byte[0]));
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

  /** Finds the value of a key. */
  boolean find(MemorySegment wanted) {
    long hash = KeyHash.of(wanted);
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      if (records.part(hash).find(hash, wanted, cached)) {
        if (!cached.isBlob()) {
          setValue(cached.bytes(), 0, cached.length());
          return true;
        }
        if (loadBlob(hash, cached.word())) {
          return true;
        }
        // The record has changed since, or its value is damaged, which the block tells.
      }
      long changes = directory.changes();
      entry = directory.find(wanted);
      state = entry.state();
      if (!state.isGone() && directory.changes() == changes) {
        Block copy = entry.copy(state);
        int looked = copy != null ? findInCopy(copy, wanted, hash) : findInPool(wanted, hash);
        if (looked != AGAIN) {
          return looked == FOUND;
        }
        failIfDamaged(attempt, state.word(), "is not the block of its range, or has a bad value");
      }
      start = pause(attempt, start, "a block changes again and again");
    }
  }

  private int findInCopy(Block copy, MemorySegment wanted, long hash) {
    entry.use();
    int i = copy.find(wanted);
    if (i < 0) {
      return ABSENT;
    }
    return findValue(copy.bytes(), copy.record(i), wanted, hash);
  }

  /** READs the segment that has a key, if it is there, or the whole block. */
  private int findInPool(MemorySegment wanted, long hash) {
    boolean inOnePlace = search.find(state.outline(), wanted);
    int bytes = search.end - search.begin;
    if (!inOnePlace || !blobs.loadPart(state.word(), search.begin, bytes)) {
      Block block = load();
      return block == null ? AGAIN : findInCopy(block, wanted, hash);
    }
    MemorySegment read = blobs.bytes();
    long at = blobs.offset();
    if (!PlantedBug.SUM_IGNORED && !Segment.isOf(read, at, at + bytes, state.version())) {
      return AGAIN;
    }
    try {
      long record = Segment.find(read, at, at + bytes, wanted, search.prefixBytes);
      return record < 0 ? ABSENT : findValue(read, record, wanted, hash);
    } catch (DamagedException e) {
      throw damaged(state.word(), "has a segment that is none: " + e.getMessage());
    }
  }

  /** Takes the value of a record, of which the block is in {@link #state}. */
  private int findValue(MemorySegment in, long record, MemorySegment wanted, long hash) {
    long at = Segment.stored(in, record);
    boolean blob = Segment.hasBlob(in, record);
    long word = blob ? in.get(Block.LONG, at) : 0;
    if (blob && !loadBlob(hash, word)) {
      return AGAIN;
    }
    if (!blob) {
      setValue(in, at, Segment.storedBytes(in, record));
    }
    RecordPart part = records.part(hash);
    boolean takes = part.takes(wanted.byteSize(), valueBytes);
    if ((takes || (blob && part.takes(wanted.byteSize(), Long.BYTES))) && part.tryLatch()) {
      try {
        cache(part, hash, wanted, takes, word);
      } finally {
        part.unlatch();
      }
    }
    return FOUND;
  }

  /** Puts a record into the cache, unless its block has changed since {@link #state}. */
  private void cache(RecordPart part, long hash, MemorySegment wanted, boolean takes, long word) {
    if (entry.state().version() != state.version() && !PlantedBug.RECORD_OLD) {
      return;
    }
    if (takes) {
      part.put(hash, wanted, valueIn, valueAt, (int) valueBytes);
    } else {
      part.putWord(hash, wanted, word);
    }
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

  /**
   * Loads the value of a record; returns {@code false} if the block is another one meanwhile.
   *
   * @throws CorruptNodeException if the value is damaged
   */
  private boolean loadValue(Block block, int i, MemorySegment itsKey, int attempt) {
    if (!block.hasBlob(i)) {
      MemorySegment stored = block.stored(i);
      setValue(stored, 0, stored.byteSize());
      return true;
    }
    if (loadBlob(KeyHash.of(itsKey), block.word(i))) {
      return true;
    }
    failIfDamaged(attempt, block.word(i), "is not the value of its key: record=" + i);
    return false;
  }

  /** Returns whether the block is still the one that was found, and nobody is changing it. */
  private boolean isSettled() {
    boolean latched = entry.isLatched();
    return !latched && entry.state().version() == state.version();
  }

  /** Returns the block that has a key. */
  Block block(MemorySegment wanted) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      entry = directory.find(wanted);
      state = entry.state();
      Block block = loadOrCopy(attempt);
      if (block != null && block.covers(wanted)) {
        return block;
      }
      start = pause(attempt, start, "a range has no block");
    }
  }

  /** Returns the version that the block had that was found last. */
  long version() {
    return state.version();
  }

  /** Returns the last block. */
  private Block lastBlock() {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      entry = directory.last();
      state = entry.state();
      Block block = loadOrCopy(attempt);
      if (block != null && !block.hasHigh()) {
        return block;
      }
      start = pause(attempt, start, "there is no last block");
    }
  }

  /** Waits; returns when the waiting began. */
  long pause(int attempt, long start, String reason) {
    long now = blobs.worker().nanoTime();
    if (attempt > 0 && now - start > WAIT_NANOS_MAX) {
      throw new StalledException(reason + ": waitedNanos=" + (now - start));
    }
    blobs.worker().backoff().pause(attempt);
    return attempt == 0 ? now : start;
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

  /** READs the whole block of the state, {@code null} if it is there no more. */
  private @Nullable Block load() {
    if (!blobs.load(ByteSession.BLOCKS, state.word())) {
      return null;
    }
    byte[] copy = blobs.bytes().asSlice(blobs.offset(), blobs.length()).toArray(JAVA_BYTE);
    Block block;
    try {
      block = Block.checked(MemorySegment.ofArray(copy));
    } catch (DamagedException e) {
      throw damaged(state.word(), "is not a block: " + e.getMessage());
    }
    if (block.version() != state.version()) {
      return null;
    }
    if (entry.state().version() == state.version()) {
      index.cache.set(entry, block);
    }
    return block;
  }

  /**
   * Finds the entry next to a key.
   *
   * @param wanted the key, {@code null} for the end of all keys
   * @param inclusive whether the key itself counts
   */
  boolean findNeighbour(@Nullable MemorySegment wanted, boolean down, boolean inclusive) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      List<BlockEntry> passed = new ArrayList<>(1);
      List<BlockState> seen = new ArrayList<>(1);
      Block block = wanted == null ? lastBlock() : block(wanted);
      int i = wanted == null ? block.count() - 1 : place(block, wanted, down, inclusive);
      while (i < 0 || i >= block.count()) {
        passed.add(entry);
        seen.add(state);
        Block next = down ? blockBefore(block) : blockBehind(block);
        if (next == null) {
          break;
        }
        block = next;
        i = down ? block.count() - 1 : 0;
      }
      boolean found = i >= 0 && i < block.count();
      if (found) {
        key = block.key(i).asReadOnly();
      }
      if ((!found || loadValue(block, i, key, attempt)) && areUnchanged(passed, seen)) {
        return found;
      }
      start = pause(attempt, start, "what is beside a key changes again and again");
    }
  }

  /** Returns whether blocks without the entry that is looked for have none still. */
  private static boolean areUnchanged(List<BlockEntry> passed, List<BlockState> seen) {
    for (int i = 0; i < passed.size(); i++) {
      if (passed.get(i).state().version() != seen.get(i).version()) {
        return false;
      }
    }
    return true;
  }

  /** Returns the number of the record next to a key, which may be -1 or the number of records. */
  private static int place(Block block, MemorySegment wanted, boolean down, boolean inclusive) {
    int found = block.find(wanted);
    if (found >= 0) {
      return inclusive ? found : down ? found - 1 : found + 1;
    }
    return down ? -2 - found : -1 - found;
  }

  private @Nullable Block blockBehind(Block block) {
    return block.hasHigh() ? block(block.high()) : null;
  }

  private @Nullable Block blockBefore(Block block) {
    MemorySegment low = block.low();
    long start = 0;
    for (int attempt = 0; low.byteSize() > 0; attempt++) {
      BlockEntry before = directory.before(low);
      if (before != null) {
        entry = before;
        state = before.state();
        Block loaded = loadOrCopy(attempt);
        if (loaded != null && loaded.hasHigh() && Block.compare(loaded.high(), low) == 0) {
          return loaded;
        }
        // The range was joined with this one, or that before was cut: its part is found by its end.
        if (loaded != null && loaded.covers(low)) {
          return loaded;
        }
      }
      start = pause(attempt, start, "a range has no block before it");
    }
    return null;
  }

  /** Visits entries upwards; returns their number. */
  long scan(MemorySegment from, @Nullable MemorySegment to, long limit, ByteVisitor visitor) {
    long visited = 0;
    MemorySegment next = from;
    while (true) {
      Block block = entered(next);
      int found = block.find(next);
      for (int i = found < 0 ? -1 - found : found; i < block.count(); i++) {
        MemorySegment each = block.key(i);
        if (to != null && Block.compare(each, to) >= 0) {
          return visited;
        }
        if (isThere(block, i, each)) {
          visited++;
          if (!visitor.visit(each.asReadOnly(), value()) || visited == limit) {
            return visited;
          }
        }
      }
      if (!block.hasHigh() || (to != null && Block.compare(block.high(), to) >= 0)) {
        return visited;
      }
      next = block.high();
    }
  }

  /** Visits entries downwards; returns their number. */
  long scanDown(@Nullable MemorySegment from, MemorySegment to, long limit, ByteVisitor visitor) {
    long visited = 0;
    Block block = enteredBelow(from);
    @Nullable MemorySegment below = from;
    while (true) {
      int i = below == null ? block.count() - 1 : place(block, below, true, false);
      for (; i >= 0; i--) {
        MemorySegment each = block.key(i);
        if (Block.compare(each, to) < 0) {
          return visited;
        }
        if (isThere(block, i, each)) {
          visited++;
          if (!visitor.visit(each.asReadOnly(), value()) || visited == limit) {
            return visited;
          }
        }
      }
      below = block.low();
      if (below.byteSize() == 0 || Block.compare(below, to) <= 0) {
        return visited;
      }
      block = enteredBefore(block);
    }
  }

  private Block entered(MemorySegment wanted) {
    pass.enter();
    try {
      return block(wanted);
    } finally {
      pass.exit();
    }
  }

  private Block enteredBelow(@Nullable MemorySegment wanted) {
    pass.enter();
    try {
      return wanted == null ? lastBlock() : block(wanted);
    } finally {
      pass.exit();
    }
  }

  private Block enteredBefore(Block block) {
    pass.enter();
    try {
      Block before = blockBefore(block);
      if (before == null) {
        throw new AssertionError("no block before that of a low fence");
      }
      return before;
    } finally {
      pass.exit();
    }
  }

  /** Loads the value of an entry to visit; where it has another one meanwhile, that one. */
  private boolean isThere(Block block, int i, MemorySegment itsKey) {
    if (!block.hasBlob(i)) {
      MemorySegment stored = block.stored(i);
      setValue(stored, 0, stored.byteSize());
      return true;
    }
    pass.enter();
    try {
      return loadBlob(KeyHash.of(itsKey), block.word(i)) || find(itsKey);
    } finally {
      pass.exit();
    }
  }

  void close() {
    index.gate.forget(pass);
    blobs.close();
  }
}
