package pando.index.orca.directory;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntToLongFunction;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.memory.Words;
import pando.index.bugs.PlantedBug;
import pando.index.session.Marks;

/**
 * What the owner knows about each leaf: one entry of 64 bytes, a cache line, in local memory. An
 * entry keeps its place as long as its leaf exists.
 *
 * <pre>
 *   0  pointer to the extent ({@link LeafPointer})
 *   8  delta 32, 0 if the leaf has none       | version 31 | latch 1
 *  16  stamp
 *  24  records 16 | pins 8 | dirty records 8  | flags 8 | generation 8 | merges 16
 *  32  heads of one byte; longer ones are elsewhere
 *
 *  (the high part of each word stands on the right)
 * </pre>
 *
 * <p><b>Version.</b> It moves with each change of the delta, and each time a value was written to
 * the leaf. Its lowest bit is the latch: a session that changes the delta or merges the leaf holds
 * it. While the leaf {@link #MERGING merges}, its delta does not change, so readers may use both
 * under an odd version, but not while the merge is {@link #PUBLISHING}.
 *
 * <p><b>Merges.</b> The count moves when a merge begins and when it publishes. Pointer, stamp and
 * heads change only while it publishes.
 *
 * <p><b>Generation.</b> A cached record has the slot that it had in its leaf, and the generation of
 * the slots at that time. A merge that gives all cached records of the leaf their new slots begins
 * again with generation 0; one that does not makes slots of other generations wrong.
 *
 * <p><b>Pins.</b> A cleaner pins the leaf while its WRITE to the leaf is under way. A merge waits
 * until no pin is left, and no pin is given while it merges.
 *
 * <p>Thread-safe as far as each method says.
 */
public final class LeafEntries implements AutoCloseable {
  /** Flag: a merge holds the latch for long. The delta does not change; no pins are given. */
  public static final int MERGING = 1;

  /** Flag: a merge changes the entry, which must not be read. */
  public static final int PUBLISHING = 2;

  /** Flag: heads have 2 bytes. */
  public static final int HEADS_OF_2 = 4;

  /** Flag: heads have 8 bytes. */
  public static final int HEADS_OF_8 = 8;

  /** Greatest count of dirty records; it stays there until the next merge. */
  public static final int DIRTY_MAX = 255;

  /** Greatest generation of slots: cached records have 2 bits for it. */
  public static final int GENERATION_MAX = 3;

  private static final int PINS_MAX = 255;

  private static final int ENTRY_BYTES = 64;
  private static final int CHUNK_SHIFT = 13;
  private static final int CHUNK_ENTRIES = 1 << CHUNK_SHIFT;

  private static final int POINTER = 0;
  private static final int VERSION = 8;
  private static final int STAMP = 16;
  private static final int CONTROL = 24;
  private static final int HEADS = 32;
  private static final int HEAD_WORDS = 4;
  private static final long[] NOT_WIDE = {};

  /** The stamp of a free entry; no leaf has it. */
  private static final long NO_STAMP = 0;

  private static final long LATCH = 1L << 32;
  private static final long VERSION_STEP = 2L << 32;
  private static final long DELTA_MASK = 0xFFFF_FFFFL;

  private static final long PIN = 1L << 16;
  private static final int DIRTY_SHIFT = 24;
  private static final long DIRTY = 1L << DIRTY_SHIFT;
  private static final int FLAGS_SHIFT = 32;
  private static final int GENERATION_SHIFT = 40;
  private static final int MERGES_SHIFT = 48;

  private final Fabric fabric;
  private final List<RegisteredMemory> registered = new ArrayList<>();
  private volatile MemorySegment[] chunks = new MemorySegment[0];

  /** Heads of several bytes, by entry; few leaves have them. */
  private volatile long[][][] wide = new long[0][][];

  private final AtomicLong wideBytes = new AtomicLong();
  private final BitSet used = new BitSet();
  private final AtomicInteger size = new AtomicInteger();

  /** The leaves that have deltas, and perhaps others. */
  private final Marks unmerged = new Marks(0);

  /** No entry below this number is free. */
  private int firstFree = 1;

  private volatile int end = 1;

  /** Creates entries for no leaf yet. */
  public LeafEntries(Fabric fabric) {
    this.fabric = fabric;
  }

  /**
   * Returns the bytes of some leaves' entries.
   *
   * @param wideHeads heads of several bytes that they have in all
   */
  public static long bytes(long leaves, long wideHeads) {
    return leaves * ENTRY_BYTES + wideHeads * Long.BYTES;
  }

  /** Takes a free entry. Its version and its count of merges go on from those of its last leaf. */
  public synchronized int take() {
    int entry = freeFrom(firstFree);
    use(entry);
    return entry;
  }

  /**
   * Takes a free entry and latches it. A session that has seen an entry before it was freed may
   * have it latched for a moment; then it is another one.
   */
  public synchronized int takeLatched() {
    int entry = freeFrom(firstFree);
    while (!tryLatch(entry)) {
      entry = freeFrom(entry + 1);
    }
    use(entry);
    return entry;
  }

  private int freeFrom(int least) {
    int entry = used.nextClearBit(least);
    if (entry >= chunks.length << CHUNK_SHIFT) {
      addChunk();
    }
    return entry;
  }

  private void use(int entry) {
    used.set(entry);
    firstFree = used.nextClearBit(firstFree);
    size.incrementAndGet();
    end = Math.max(end, entry + 1);
  }

  private void addChunk() {
    RegisteredMemory memory = fabric.register((long) CHUNK_ENTRIES * ENTRY_BYTES);
    registered.add(memory);
    MemorySegment[] more = Arrays.copyOf(chunks, chunks.length + 1);
    more[chunks.length] = memory.segment();
    long[][][] moreWide = Arrays.copyOf(wide, wide.length + 1);
    moreWide[wide.length] = new long[CHUNK_ENTRIES][];
    Arrays.fill(moreWide[wide.length], NOT_WIDE);
    unmerged.ensure((long) more.length * CHUNK_ENTRIES);
    wide = moreWide;
    chunks = more;
  }

  /** Frees an entry. Sessions that still read it find its version moved, and its stamp. */
  public synchronized void free(int entry) {
    used.clear(entry);
    setStamp(entry, NO_STAMP);
    VarHandle.storeStoreFence();
    setWide(entry, NOT_WIDE);
    firstFree = Math.min(firstFree, entry);
    size.decrementAndGet();
  }

  /** Frees all entries. No session may use one. */
  public synchronized void clear() {
    used.clear();
    firstFree = 1;
    end = 1;
    size.set(0);
    for (MemorySegment chunk : chunks) {
      chunk.fill((byte) 0);
    }
    for (long[][] heads : wide) {
      Arrays.fill(heads, NOT_WIDE);
    }
    wideBytes.set(0);
  }

  /** Returns the bytes of the entries in use. */
  public long bytes() {
    return (long) size.get() * ENTRY_BYTES + wideBytes.get();
  }

  /** Returns one more than the greatest number that an entry has had. */
  public int end() {
    return end;
  }

  private MemorySegment chunk(int entry) {
    return chunks[entry >>> CHUNK_SHIFT];
  }

  private static long at(int entry) {
    return (long) (entry & (CHUNK_ENTRIES - 1)) * ENTRY_BYTES;
  }

  /** Returns the pointer to the extent. */
  public long pointer(int entry) {
    return Words.get(chunk(entry), at(entry) + POINTER);
  }

  /** Sets the pointer to the extent; only while the entry is published, or new. */
  public void setPointer(int entry, long pointer) {
    Words.set(chunk(entry), at(entry) + POINTER, pointer);
  }

  // Version, latch and delta.

  /** Returns version, latch and delta in one word. Later accesses are not reordered before it. */
  public long version(int entry) {
    return Words.getAcquire(chunk(entry), at(entry) + VERSION);
  }

  /** Returns whether a version is latched. */
  public static boolean isLatched(long version) {
    return (version & LATCH) != 0;
  }

  /** Returns the delta that a version names, 0 if there is none. */
  public static int delta(long version) {
    return (int) (version & DELTA_MASK);
  }

  /** Latches an entry, unless it is latched; returns whether it is latched by the caller now. */
  public boolean tryLatch(int entry) {
    long version = version(entry);
    return !isLatched(version)
        && Words.compareAndSet(chunk(entry), at(entry) + VERSION, version, version + LATCH);
  }

  /** Returns marks of the leaves that have deltas, and perhaps of others. */
  public Marks unmerged() {
    return unmerged;
  }

  /** Unlatches an entry. The version moves; the delta becomes {@code delta}. */
  public void unlatch(int entry, int delta) {
    if (delta != 0) {
      unmerged.set(entry);
    }
    MemorySegment chunk = chunk(entry);
    long at = at(entry) + VERSION;
    while (true) {
      // A cleaner may move the version of a latched leaf.
      long version = Words.getAcquire(chunk, at);
      long after = ((version & ~DELTA_MASK) + LATCH) | Integer.toUnsignedLong(delta);
      if (Words.compareAndSet(chunk, at, version, after)) {
        return;
      }
    }
  }

  /** Moves the version, after a value was written to the leaf. */
  public void moveVersion(int entry) {
    Words.getAndAdd(chunk(entry), at(entry) + VERSION, VERSION_STEP);
  }

  // Stamp and heads.

  /** Returns the extent's stamp. */
  public long stamp(int entry) {
    return Words.get(chunk(entry), at(entry) + STAMP);
  }

  /** Sets the extent's stamp; only while the entry is published, or new. */
  public void setStamp(int entry, long stamp) {
    Words.set(chunk(entry), at(entry) + STAMP, stamp);
  }

  /** Returns 8 of the 32 bytes of heads of one byte; those behind the last head are 0. */
  public long heads(int entry, int word) {
    return Words.get(chunk(entry), at(entry) + HEADS + (long) word * Long.BYTES);
  }

  /** Returns a head of 2 or 8 bytes; anything if the leaf has none, or not so many. */
  public long wideHead(int entry, int segment) {
    long[] heads = wide[entry >>> CHUNK_SHIFT][entry & (CHUNK_ENTRIES - 1)];
    return segment < heads.length ? heads[segment] : 0;
  }

  /**
   * Sets the heads; only while the entry is published, or new.
   *
   * @param width bytes of a head
   * @param head returns the head of a segment
   */
  public void setHeads(int entry, int width, int segments, IntToLongFunction head) {
    long[] heads = NOT_WIDE;
    if (width == 1) {
      for (int word = 0; word < HEAD_WORDS; word++) {
        packHeads(entry, word, segments, head);
      }
    } else {
      heads = new long[segments];
      Arrays.setAll(heads, head);
    }
    setWide(entry, heads);
  }

  private void packHeads(int entry, int word, int segments, IntToLongFunction head) {
    long heads = 0;
    int first = word * Long.BYTES;
    for (int i = first; i < Math.min(segments, first + Long.BYTES); i++) {
      heads |= head.applyAsLong(i) << ((i - first) * Byte.SIZE);
    }
    Words.set(chunk(entry), at(entry) + HEADS + (long) word * Long.BYTES, heads);
  }

  /** Replaces the array as a whole: a reader has the old one, or the new one. */
  private void setWide(int entry, long[] heads) {
    long[][] chunk = wide[entry >>> CHUNK_SHIFT];
    int place = entry & (CHUNK_ENTRIES - 1);
    wideBytes.addAndGet((long) (heads.length - chunk[place].length) * Long.BYTES);
    chunk[place] = heads;
  }

  // Control: records, pins, dirty records, flags, generation, merges.

  /** Returns the control word. Later accesses are not reordered before it. */
  public long control(int entry) {
    return Words.getAcquire(chunk(entry), at(entry) + CONTROL);
  }

  /** Returns the number of records in the extent. */
  public static int records(long control) {
    return (int) control & 0xFFFF;
  }

  /** Returns the number of WRITEs to the leaf that are under way. */
  public static int pins(long control) {
    return (int) (control >>> 16) & 0xFF;
  }

  /** Returns a bound of the cached records that are newer than leaf or delta. */
  public static int dirty(long control) {
    return (int) (control >>> DIRTY_SHIFT) & 0xFF;
  }

  /** Returns whether a flag is set. */
  public static boolean has(long control, int flag) {
    return (control >>> FLAGS_SHIFT & flag) != 0;
  }

  /** Returns the generation of the slots, at most {@link #GENERATION_MAX}. */
  public static int generation(long control) {
    return (int) (control >>> GENERATION_SHIFT) & 0xFF;
  }

  /** Returns the count of merges. */
  public static int merges(long control) {
    return (int) (control >>> MERGES_SHIFT);
  }

  /** Counts one more dirty record. */
  public void addDirty(int entry) {
    while (true) {
      long control = control(entry);
      if (dirty(control) == DIRTY_MAX || replaceControl(entry, control, control + DIRTY)) {
        return;
      }
    }
  }

  /** Counts one dirty record less; does nothing at the greatest count. */
  public void removeDirty(int entry) {
    while (true) {
      long control = control(entry);
      int dirty = dirty(control);
      if (dirty == 0 || dirty == DIRTY_MAX || replaceControl(entry, control, control - DIRTY)) {
        return;
      }
    }
  }

  /** Pins a leaf, unless it merges; returns whether it is pinned. */
  public boolean pin(int entry) {
    while (true) {
      long control = control(entry);
      boolean merging = has(control, MERGING | PUBLISHING) && !PlantedBug.PINNED_WHILE_MERGING;
      if (merging || pins(control) == PINS_MAX) {
        return false;
      }
      if (replaceControl(entry, control, control + PIN)) {
        return true;
      }
    }
  }

  /** Gives a pin back. */
  public void unpin(int entry) {
    Words.getAndAdd(chunk(entry), at(entry) + CONTROL, -PIN);
  }

  /**
   * Marks a latched leaf as merging: from now on no pin is given.
   *
   * @param moves whether to move the count of merges, so that no reader admits what it has READ
   */
  public void startMerge(int entry, boolean moves) {
    while (true) {
      long control = control(entry);
      long after = control | (long) MERGING << FLAGS_SHIFT;
      if (replaceControl(entry, control, moves ? after + (1L << MERGES_SHIFT) : after)) {
        return;
      }
    }
  }

  /** Ends merging without a change of the leaf. */
  public void cancelMerge(int entry) {
    Words.getAndBitwiseAnd(chunk(entry), at(entry) + CONTROL, ~((long) MERGING << FLAGS_SHIFT));
  }

  /** Begins to publish: readers wait until {@link #endPublish}. */
  public void startPublish(int entry) {
    while (true) {
      long control = control(entry);
      int flag = PlantedBug.PUBLISHED_UNFLAGGED ? 0 : PUBLISHING;
      long after = (control | (long) flag << FLAGS_SHIFT) + (1L << MERGES_SHIFT);
      if (replaceControl(entry, control, after)) {
        break;
      }
    }
    moveVersion(entry);
  }

  /** Returns the bytes of a head: 1, 2 or 8. */
  public static int width(long control) {
    return has(control, HEADS_OF_8) ? Long.BYTES : has(control, HEADS_OF_2) ? Short.BYTES : 1;
  }

  /**
   * Sets the number of records, the bytes of a head, and the generation of the slots; only while
   * the entry is published, or new. In generation 0 dirty records are counted anew, from none on.
   */
  public void setRecords(int entry, int records, int width, int generation) {
    long flag = width == Long.BYTES ? HEADS_OF_8 : width == Short.BYTES ? HEADS_OF_2 : 0;
    long widths = (long) (HEADS_OF_2 | HEADS_OF_8) << FLAGS_SHIFT;
    long dirty = generation == 0 || PlantedBug.DIRTY_FORGOTTEN ? 0xFFL << DIRTY_SHIFT : 0;
    while (true) {
      long control = control(entry);
      long kept = control & ~(0xFFFFL | dirty | widths | 0xFFL << GENERATION_SHIFT);
      long after = kept | records | flag << FLAGS_SHIFT | (long) generation << GENERATION_SHIFT;
      if (replaceControl(entry, control, after)) {
        return;
      }
    }
  }

  /** Ends publishing and merging. The latch is still held. */
  public void endPublish(int entry) {
    Words.getAndBitwiseAnd(
        chunk(entry), at(entry) + CONTROL, ~((long) (MERGING | PUBLISHING) << FLAGS_SHIFT));
  }

  private boolean replaceControl(int entry, long expected, long control) {
    return Words.compareAndSet(chunk(entry), at(entry) + CONTROL, expected, control);
  }

  @Override
  public synchronized void close() {
    registered.forEach(RegisteredMemory::close);
    registered.clear();
  }
}
