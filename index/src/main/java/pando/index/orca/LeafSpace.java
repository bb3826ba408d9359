package pando.index.orca;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.Worker;
import pando.index.PoolPart;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.space.ExtentAllocator;

/**
 * A compute server's space in the pool for leaves and directory pages, and their stamps. Leaves
 * that another compute server will get lie apart from the others.
 */
final class LeafSpace {
  private static final int PAGE_UNITS = DirectoryPage.BYTES / LeafLayout.UNIT_BYTES;

  private static final int SERVER_SHIFT = 32;
  private static final int INCARNATION_SHIFT = 44;
  private static final int INCARNATION_BITS = 20;

  private final int number;
  private final int memoryServers;
  private final int regionBytes;
  private final OrcaSettings<?> options;
  private final Directory directory;
  private final Deltas deltas;
  private final ExtentAllocator extents;
  private final long incarnation;
  private final AtomicInteger stamps = new AtomicInteger();
  private final AtomicInteger turn = new AtomicInteger();

  /**
   * The keys that are to leave, {@code null} if none are. It changes while no merge is under way.
   */
  private volatile @Nullable Leaving leaving;

  /** Whether gifts are taken on that are a lost compute server's. */
  private boolean inherits;

  /** Bytes of the pool that it has given away, less those that it was given. */
  private final AtomicLong bytesGiven = new AtomicLong();

  /** Keys that are to leave, and the space in which their leaves are. */
  private record Leaving(long low, long high, ExtentAllocator space) {
    boolean has(long key) {
      return low <= key && key <= high;
    }
  }

  /**
   * Creates a space that holds nothing.
   *
   * @param number of the compute server
   * @param random draws what is different in stamps of a later compute server with this number
   */
  LeafSpace(
      int number,
      int memoryServers,
      int regionBytes,
      OrcaSettings<?> options,
      Directory directory,
      Deltas deltas,
      RandomGenerator random) {
    this.number = number;
    this.memoryServers = memoryServers;
    this.regionBytes = regionBytes;
    this.options = options;
    this.directory = directory;
    this.deltas = deltas;
    this.extents = newSpace();
    this.incarnation =
        (long) random.nextInt(1 << INCARNATION_BITS) << INCARNATION_SHIFT
            | (long) number << SERVER_SHIFT;
  }

  /** Returns the space of what stays. */
  ExtentAllocator extents() {
    return extents;
  }

  /** Returns a space that holds nothing yet. */
  ExtentAllocator newSpace() {
    return new ExtentAllocator(memoryServers, regionBytes);
  }

  /** Returns a stamp that no leaf or page has had before. */
  long nextStamp() {
    return incarnation | Integer.toUnsignedLong(stamps.incrementAndGet());
  }

  /** Returns the memory server for the next leaf, in turn. */
  int nextMemoryServer() {
    return Integer.remainderUnsigned(turn.getAndIncrement(), memoryServers);
  }

  /** Returns the bytes of the pool that it has taken. */
  long bytes() {
    Leaving some = leaving;
    long leaves = some == null ? 0 : some.space.bytesInUse();
    return extents.bytesInUse() + leaves + bytesGiven.get();
  }

  /** Returns what it keeps of the pool for later. */
  List<PoolPart> kept() {
    return extents.kept();
  }

  // Keys that leave, or come.

  /** Begins to put leaves of some keys where no others are. No merge is under way. */
  ExtentAllocator startLeaving(long fromKey, long toKey) {
    endLeaving();
    ExtentAllocator space = newSpace();
    leaving = new Leaving(fromKey, toKey, space);
    return space;
  }

  /** Keeps leaves that were to leave. No merge is under way. */
  void endLeaving() {
    Leaving kept = leaving;
    if (kept != null) {
      extents.absorb(kept.space);
      leaving = null;
    }
  }

  /** Forgets leaves that were given away: their space is another compute server's. */
  void giveAway() {
    Leaving gone = leaving;
    leaving = null;
    if (gone == null) {
      bytesGiven.addAndGet(extents.bytesInUse());
      extents.forgetAll();
    } else {
      bytesGiven.addAndGet(gone.space.bytesInUse());
    }
  }

  /** Makes a space its own in which gifts are. */
  void take(ExtentAllocator space, long bytesOfGifts) {
    bytesGiven.addAndGet(inherits ? 0 : -bytesOfGifts);
    extents.absorb(space);
  }

  /** Sets whether gifts that are taken on are a lost compute server's. */
  void setInherits(boolean inherits) {
    this.inherits = inherits;
  }

  // Extents.

  /** Returns the space for the leaf of a key. */
  ExtentAllocator of(long key) {
    Leaving some = leaving;
    return some != null && some.has(key) ? some.space : extents;
  }

  /** Returns whether a leaf is to leave, and lies where others stay. */
  boolean isToLeave(long key, long address) {
    Leaving some = leaving;
    return some != null && some.has(key) && !some.space.holds(address);
  }

  /** Frees an extent, wherever it lies. */
  void free(Worker worker, long message, long address, int units) {
    Leaving some = leaving;
    ExtentAllocator space = some != null && some.space.holds(address) ? some.space : extents;
    space.free(worker, message, address, units);
  }

  /** Allocates the place of a directory page. */
  long allocatePage(Worker worker, long message) {
    return allocatePage(extents, worker, message);
  }

  /** Allocates the place of a directory page in a space. */
  long allocatePage(ExtentAllocator space, Worker worker, long message) {
    return space.allocate(worker, message, nextMemoryServer(), PAGE_UNITS, PAGE_UNITS);
  }

  /** Frees the place of a directory page. */
  void freePage(Worker worker, long message, long address) {
    assert address != GlobalAddress.NULL;
    free(worker, message, address, PAGE_UNITS);
  }

  // Room.

  /**
   * Makes sure that the pool has room for the merges of all that the deltas hold.
   *
   * @throws pando.fabric.PoolFullException if it has not, so that nothing may be added
   */
  void ensureRoom(Worker worker, long message) {
    extents.ensureRoom(worker, message, number % memoryServers, unitsToMerge(), leastGap());
  }

  /** Returns whether its own regions have room for these merges. */
  boolean hasRoom() {
    return extents.hasRoom(unitsToMerge(), leastGap());
  }

  private int unitsToMerge() {
    double growth = bytesOfRecordMax() * deltas.roomUsed();
    return (int) Math.min(unitsOfMerge() + growth / LeafLayout.UNIT_BYTES, Integer.MAX_VALUE);
  }

  /**
   * Returns how many units a split takes before the old leaf and pages are given back: two leaves,
   * two pages of each level, and a root above.
   */
  private int unitsOfMerge() {
    int pages = 2 * (directory.root().level() + 1) + 1;
    return 2 * LeafLayout.units(options.segmentsMax()) + pages * PAGE_UNITS;
  }

  /**
   * Returns about how many bytes a record takes after splits: in half a leaf, below half a page.
   */
  private double bytesOfRecordMax() {
    int records = options.recordsMax() / 2;
    int segments = Math.max(LeafLayout.SEGMENTS_MIN, records / (LeafLayout.SLOTS - 1) + 1);
    double leaf = (double) LeafLayout.units(segments) * LeafLayout.UNIT_BYTES;
    double page = 2.0 * DirectoryPage.BYTES / options.pageChildren();
    return (leaf + page) / records;
  }

  /** Pages are aligned. */
  private int leastGap() {
    return Math.max(LeafLayout.units(options.segmentsMax()), 2 * PAGE_UNITS - 1);
  }
}
