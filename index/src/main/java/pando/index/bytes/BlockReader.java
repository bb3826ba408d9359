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
import pando.index.bytes.BlockEntry.State;
import pando.index.session.Gate;

/** One session's way to blocks, and what it finds in them. */
final class BlockReader {
  private static final long WAIT_NANOS_MAX = 10_000_000_000L;

  /** Attempts to load a blob whose word stays the same before it counts as damaged. */
  private static final int LOADS_MAX = 4;

  final Blobs blobs;
  final Gate.Pass pass;
  private final ByteIndex index;
  private final BlockDirectory directory;

  /** The key that was found. */
  MemorySegment key = MemorySegment.NULL;

  /** The value that was found. */
  MemorySegment value = MemorySegment.NULL;

  /** The block of {@link #block}, and its state. */
  BlockEntry entry;

  private State state = new State(0, null, 0);

  BlockReader(ByteIndex index) {
    this.index = index;
    this.directory = index.directory;
    this.blobs = new Blobs(index.space);
    this.pass = index.gate.pass(blobs.worker());
    this.entry = directory.find(MemorySegment.ofArray(new byte[0]));
  }

  /**
   * Returns bytes that a caller gives, or a copy of them where this session has returned them, and
   * is going to overwrite them.
   */
  MemorySegment kept(MemorySegment given) {
    boolean own = given.isNative() && given.asOverlappingSlice(blobs.worker().memory()).isPresent();
    return own ? MemorySegment.ofArray(given.toArray(JAVA_BYTE)) : given;
  }

  /** Finds the value of a key. */
  boolean find(MemorySegment wanted) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      Block block = block(wanted);
      int i = block.find(wanted);
      if (i < 0) {
        return false;
      }
      if (loadValue(block, i, wanted, attempt)) {
        return true;
      }
      start = pause(attempt, start, "a value changes again and again");
    }
  }

  /**
   * Loads the value of a record; returns {@code false} if the block is another one meanwhile.
   *
   * @throws CorruptNodeException if the value is damaged
   */
  private boolean loadValue(Block block, int i, MemorySegment itsKey, int attempt) {
    if (!block.hasBlob(i)) {
      value = block.stored(i).asReadOnly();
      return true;
    }
    if (blobs.load(KeyHash.of(itsKey), block.word(i))) {
      value = blobs.bytes().asSlice(blobs.offset(), blobs.length()).asReadOnly();
      return true;
    }
    if (attempt >= LOADS_MAX && isSettled()) {
      throw new CorruptNodeException(
          Blobs.address(block.word(i)), "is not the value of its key: record=" + i);
    }
    return false;
  }

  /** Returns whether the block is still the one that was found, and nobody is changing it. */
  private boolean isSettled() {
    boolean latched = entry.isLatched();
    return !latched && entry.state().change() == state.change();
  }

  /** Returns the block that has a key. */
  Block block(MemorySegment wanted) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      entry = directory.find(wanted);
      state = entry.state();
      Block block = load(attempt);
      if (block != null && block.covers(wanted)) {
        return block;
      }
      start = pause(attempt, start, "a range has no block");
    }
  }

  /** Returns how often the block that was found last had changed by then. */
  long change() {
    return state.change();
  }

  /** Returns the last block. */
  private Block lastBlock() {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      entry = directory.last();
      state = entry.state();
      Block block = load(attempt);
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
  private @Nullable Block load(int attempt) {
    if (state.block() != null) {
      entry.use();
      return state.block();
    }
    if (state.isGone()) {
      return null;
    }
    if (!blobs.load(ByteSession.BLOCKS, state.word())) {
      if (attempt >= LOADS_MAX && isSettled()) {
        throw new CorruptNodeException(
            Blobs.address(state.word()), "is not the block of its range");
      }
      return null;
    }
    byte[] copy = blobs.bytes().asSlice(blobs.offset(), blobs.length()).toArray(JAVA_BYTE);
    try {
      Block block = Block.checked(MemorySegment.ofArray(copy));
      index.cache.admit(entry, state, block);
      return block;
    } catch (DamagedException e) {
      throw new CorruptNodeException(
          Blobs.address(state.word()), "is not a block: " + e.getMessage());
    }
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
      List<State> seen = new ArrayList<>(1);
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
  private static boolean areUnchanged(List<BlockEntry> passed, List<State> seen) {
    for (int i = 0; i < passed.size(); i++) {
      if (passed.get(i).state().change() != seen.get(i).change()) {
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
        Block loaded = load(attempt);
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
          if (!visitor.visit(each.asReadOnly(), value) || visited == limit) {
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
          if (!visitor.visit(each.asReadOnly(), value) || visited == limit) {
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
      value = block.stored(i).asReadOnly();
      return true;
    }
    pass.enter();
    try {
      if (blobs.load(KeyHash.of(itsKey), block.word(i))) {
        value = blobs.bytes().asSlice(blobs.offset(), blobs.length()).asReadOnly();
        return true;
      }
      return find(itsKey);
    } finally {
      pass.exit();
    }
  }

  void close() {
    index.gate.forget(pass);
    blobs.close();
  }
}
