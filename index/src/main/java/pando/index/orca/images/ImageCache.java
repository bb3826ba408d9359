package pando.index.orca.images;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import pando.fabric.Backoff;
import pando.fabric.StalledException;
import pando.fabric.memory.Words;
import pando.index.bugs.PlantedBug;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafView;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.parts.KeyHash;

/**
 * Images of pairs of segments: the bytes of segments 2p and 2p + 1 of a leaf, as they were READ
 * from its extent; or of single segments. An image that is here is as the pool has it, but for
 * values whose WRITE is under way. A cache of pairs has filters of leaves, too; each takes as much
 * room as an image.
 *
 * <p>The images are in slabs of equal size of one memory, which may be added and removed while
 * sessions use the cache.
 *
 * <p>Thread-safe.
 */
public final class ImageCache extends ImageSets {
  /*
   * Why no image is stale for good. A value is written to a leaf while an image of the slot may be
   * here, or on its way here:
   *
   *   a cleaner:  WRITE                 | lock; put the value into the image; move the leaf's
   *                                     |   version; unlock | the record is CLEAN
   *   a reader:   view of the leaf; READ | lock; compare the leaf's version with that of the view;
   *                                     |   put the image in; unlock
   *
   * If the reader locks first, the cleaner finds the image and puts the value into it. If the cleaner
   * does, the reader finds the version moved, unless its view, and so its READ, came later than the
   * WRITE. A scan that copies the image before the value is put in finds the record CLEANING, or the
   * version moved.
   *
   * A merge drops the images of its leaf after the leaf's count of merges has moved, and before the
   * leaf has another extent. So a READ that ran beside it finds that count moved, or its image is
   * dropped. The filter is dropped then, too, and comes back, by the merge alone, when the leaf has
   * the other extent. The keys of an extent never change. So what a filter says is true of the
   * extent that the leaf had before and after the look.
   */

  private static final long[] NO_SLABS = {};
  private static final int RANGES_SHIFT = 10;
  private static final int RANGES = 1 << RANGES_SHIFT;
  private static final int LINE_BYTES = 64;

  /** Stands for the filter of a leaf among its pieces. */
  private static final int FILTER = 31;

  private static final int COUNT_MAX = 15;

  private final LeafEntries entries;
  private final int setsOfSlab;
  private final LongAdder tailHits = new LongAdder();

  /** Where the slab of each range starts; empty if there is no slab. Replaced as a whole. */
  private volatile long[] slabOfRange = NO_SLABS;

  /** Where the slabs start. */
  private long[] slabs = NO_SLABS;

  /**
   * Creates a cache without slabs.
   *
   * @param entries of the leaves that the images are of
   * @param memory has the slabs
   * @param slabBytes bytes of a slab, at least {@link #SET_BYTES}; what is left over by sets is not
   *     used
   * @param pairs whether images are of pairs of segments, not of single ones
   */
  public ImageCache(LeafEntries entries, MemorySegment memory, long slabBytes, boolean pairs) {
    if (slabBytes < SET_BYTES || slabBytes / SET_BYTES > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "bytes of a slab of images out of range: bytes=" + slabBytes + ", minimum=" + SET_BYTES);
    }
    super(memory, pairs);
    this.entries = entries;
    this.setsOfSlab = (int) (slabBytes / setBytes);
  }

  // Slabs

  /**
   * Adds a slab, whatever its bytes are, which takes its share of the images of the others.
   *
   * @param at where it starts in the memory, a multiple of 8
   */
  public synchronized void addSlab(long at, Backoff backoff) {
    empty(at);
    addSlabs(new long[] {at}, backoff);
  }

  /**
   * Adds slabs whose bytes are zero, which take their share of the images of the others.
   *
   * @param starts where each starts in the memory, a multiple of 8
   */
  public synchronized void addSlabs(long[] starts, Backoff backoff) {
    long[] more = Arrays.copyOf(slabs, slabs.length + starts.length);
    System.arraycopy(starts, 0, more, slabs.length, starts.length);
    replace(more, backoff);
  }

  /**
   * Removes a slab, and all its images. Afterwards no session reads or writes it any more.
   *
   * @param at where it starts
   */
  public synchronized void removeSlab(long at, Backoff backoff) {
    long[] fewer = Arrays.stream(slabs).filter(slab -> slab != at).toArray();
    if (fewer.length == slabs.length) {
      throw new IllegalArgumentException("no such slab: at=" + at);
    }
    replace(fewer, backoff);
  }

  private void replace(long[] after, Backoff backoff) {
    long[] before = slabs;
    slabOfRange = ranges(after);
    slabs = after;
    // Sessions that have locked a set of a range that moves have unlocked it afterwards.
    for (long slab : before) {
      for (int set = 0; set < setsOfSlab; set++) {
        dropStrangers(slab, slab + (long) set * setBytes, backoff);
      }
    }
  }

  /** Gives each slab as many ranges, of which as many as can be stay where they are. */
  private long[] ranges(long[] after) {
    if (after.length == 0) {
      return NO_SLABS;
    }
    int[] left = new int[after.length];
    for (int i = 0; i < after.length; i++) {
      left[i] = RANGES / after.length + (i < RANGES % after.length ? 1 : 0);
    }
    long[] ranges = new long[RANGES];
    boolean[] stays = new boolean[RANGES];
    for (int range = 0; range < slabOfRange.length; range++) {
      int slab = indexOf(after, slabOfRange[range]);
      if (slab != NONE && left[slab] > 0) {
        left[slab]--;
        ranges[range] = after[slab];
        stays[range] = true;
      }
    }
    int slab = 0;
    for (int range = 0; range < RANGES; range++) {
      if (!stays[range]) {
        while (left[slab] == 0) {
          slab++;
        }
        left[slab]--;
        ranges[range] = after[slab];
      }
    }
    return ranges;
  }

  private static int indexOf(long[] slabs, long at) {
    for (int i = 0; i < slabs.length; i++) {
      if (slabs[i] == at) {
        return i;
      }
    }
    return NONE;
  }

  /** Drops the images of a set whose ranges are in other slabs now. */
  private void dropStrangers(long slab, long set, Backoff backoff) {
    long start = 0;
    for (int attempt = 0; !tryLock(set); attempt++) {
      start = await(attempt, start, backoff);
    }
    for (int way = 0; way < WAYS; way++) {
      long tag = tag(set, way);
      if (valid(tag) != 0 && slabOfRangeOf(tag) != slab) {
        setValid(set, way, 0);
      }
    }
    unlock(set);
  }

  private long slabOfRangeOf(long tag) {
    long[] ranges = slabOfRange;
    return ranges.length == 0 ? NONE : ranges[range(KeyHash.of(tag & KEY_MASK))];
  }

  /** Returns where the slabs start. */
  public synchronized long[] slabs() {
    return slabs.clone();
  }

  /** Returns whether a slab is here. */
  public synchronized boolean hasSlab(long at) {
    return indexOf(slabs, at) != NONE;
  }

  /** Returns the counter of hits of images that had count 0. */
  public LongAdder tailHits() {
    return tailHits;
  }

  /** Drops all images and filters. No session may use the cache. */
  public synchronized void clear() {
    for (long slab : slabs) {
      empty(slab);
    }
  }

  /**
   * Empties a slab, whatever its bytes are. What is zero is left alone, as the operating system
   * need not provide memory that was never written.
   */
  private void empty(long slab) {
    for (int set = 0; set < setsOfSlab; set++) {
      for (int way = 0; way < WAYS; way++) {
        long at = tagAt(slab + (long) set * setBytes, way);
        if (Words.get(memory, at) != 0) {
          Words.set(memory, at, 0);
        }
      }
    }
  }

  /**
   * Returns the number of images and filters, by looking at all. No slab comes or goes meanwhile.
   */
  public synchronized long images() {
    long images = 0;
    for (long slab : slabs) {
      for (int set = 0; set < setsOfSlab; set++) {
        for (int way = 0; way < WAYS; way++) {
          images += valid(tag(slab + (long) set * setBytes, way)) == 0 ? 0 : 1;
        }
      }
    }
    return images;
  }

  /** Returns the bytes of all images, filters and their tags, by looking at all. */
  public long bytesUsed() {
    return images() * (imageBytes + TAG_BYTES);
  }

  /** Returns the number of segments of an image. */
  public int segments() {
    return segments;
  }

  /** Returns how many images or filters a slab has room for. */
  public long imagesOfSlab() {
    return (long) setsOfSlab * WAYS;
  }

  /** Returns whether it has a slab. */
  public boolean isOn() {
    return slabOfRange.length > 0;
  }

  // Where an image is

  private static int range(long hash) {
    return (int) (hash >>> (Long.SIZE - RANGES_SHIFT));
  }

  private long set(long[] ranges, long hash) {
    long number = Math.unsignedMultiplyHigh(hash << RANGES_SHIFT, setsOfSlab);
    return ranges[range(hash)] + number * setBytes;
  }

  @SuppressWarnings("ReferenceEquality") // Each change makes an array that was never there before.
  private boolean hasMoved(long[] ranges) {
    return slabOfRange != ranges;
  }

  // Reading without a lock

  /**
   * Reads from the images of some segments of a leaf, as far as they are cached. So the processor
   * waits for the memory of all of them at once, before they are copied one after the other.
   *
   * @param first of the segments
   * @param last of them, inclusive
   * @return what was read, which means nothing
   */
  public long touch(int leaf, int first, int last) {
    long[] ranges = slabOfRange;
    int from = first >>> segmentsShift;
    int to = last >>> segmentsShift;
    long sum = 0;
    for (int piece = from; piece <= to && ranges.length > 0; piece++) {
      sum += tag(set(ranges, KeyHash.of(key(leaf, piece))), 0);
    }
    for (int piece = from; piece <= to && ranges.length > 0; piece++) {
      long key = key(leaf, piece);
      long set = set(ranges, KeyHash.of(key));
      int way = wayOf(set, key);
      for (int at = 0; at < imageBytes && way != NONE; at += LINE_BYTES) {
        sum += Words.get(memory, image(set, way) + at);
      }
    }
    return sum;
  }

  /**
   * Copies segments of a leaf, if they are cached. A session that uses them looks afterwards
   * whether the leaf has still the extent that it had before, as for a segment that it has READ.
   *
   * @param leaf number of the leaf's entry
   * @param wanted a bit for each segment of the leaf
   * @param to receives the segments
   * @param at where the leaf's first segment goes, or would go; the others go behind it
   * @return a bit for each segment that was copied
   */
  public int copy(int leaf, int wanted, MemorySegment to, long at, Backoff backoff) {
    int copied = 0;
    int left = wanted;
    while (left != 0) {
      int piece = Integer.numberOfTrailingZeros(left) >>> segmentsShift;
      int ofPiece = ofPiece(left, piece);
      copied |= copy(leaf, piece, ofPiece, to, at(at, piece), backoff) << (piece << segmentsShift);
      left ^= ofPiece << (piece << segmentsShift);
    }
    return copied;
  }

  /** Returns the bits of a piece's segments among those of a leaf. */
  private int ofPiece(int bits, int piece) {
    return bits >>> (piece << segmentsShift) & ((1 << segments) - 1);
  }

  private long at(long leafAt, int piece) {
    return leafAt + (long) piece * imageBytes;
  }

  private int copy(int leaf, int piece, int wanted, MemorySegment to, long at, Backoff backoff) {
    long[] ranges = slabOfRange;
    if (ranges.length == 0) {
      return 0;
    }
    long key = key(leaf, piece);
    long set = set(ranges, KeyHash.of(key));
    long version = versions.getAcquire(lockOf(set));
    int way = isLocked(version) ? NONE : wayOf(set, key);
    int found = way == NONE ? 0 : valid(tag(set, way)) & wanted;
    if (found == 0) {
      return 0;
    }
    for (int segment = 0; segment < segments; segment++) {
      if ((found >>> segment & 1) != 0) {
        long offset = (long) segment * SEGMENT_BYTES;
        MemorySegment.copy(memory, image(set, way) + offset, to, at + offset, SEGMENT_BYTES);
        backoff.transition();
      }
    }
    int count = count(set, way);
    if (hasChanged(ranges, set, version)) {
      return 0;
    }
    if (count == 0) {
      tailHits.increment();
    }
    raiseCount(ranges, set, way, version, count);
    return found;
  }

  /**
   * Returns what the filter of a leaf says of a segment, {@link LeafFilter#UNKNOWN} if it is not
   * cached. A session that uses it looks afterwards whether the leaf has still the extent that it
   * had before.
   */
  public long filter(int leaf, int segment) {
    long[] ranges = slabOfRange;
    if (ranges.length == 0) {
      return LeafFilter.UNKNOWN;
    }
    long key = key(leaf, FILTER);
    long set = set(ranges, KeyHash.of(key));
    long version = versions.getAcquire(lockOf(set));
    int way = isLocked(version) ? NONE : wayOf(set, key);
    if (way == NONE) {
      return LeafFilter.UNKNOWN;
    }
    long word = Words.get(memory, image(set, way) + (long) segment * Long.BYTES);
    int count = count(set, way);
    if (hasChanged(ranges, set, version)) {
      return LeafFilter.UNKNOWN;
    }
    raiseCount(ranges, set, way, version, count);
    return word;
  }

  private boolean hasChanged(long[] ranges, long set, long version) {
    VarHandle.loadLoadFence();
    return versions.getPlain(lockOf(set)) != version || hasMoved(ranges);
  }

  /** Raises the count of a way, unless something of its set has changed. */
  private void raiseCount(long[] ranges, long set, int way, long version, int count) {
    if (count < COUNT_MAX && versions.compareAndSet(lockOf(set), version, version + 1)) {
      VarHandle.storeStoreFence();
      if (!hasMoved(ranges)) {
        setCount(set, way, count + 1);
      }
      unlock(set);
    }
  }

  // Changes, under the lock of the set

  /**
   * Puts segments of a leaf into the cache that were READ since the view was filled, unless
   * something of the leaf has moved since: then they may be older than what is written by now.
   *
   * @param read a bit for each segment of the leaf
   * @param evicts whether other images may go for them
   * @param from has the segments
   * @param at where the leaf's first segment is, or would be; the others are behind it
   * @throws StalledException if a set stays locked
   */
  public void admit(
      LeafView view, int read, boolean evicts, MemorySegment from, long at, Backoff backoff) {
    int left = read;
    while (left != 0) {
      int piece = Integer.numberOfTrailingZeros(left) >>> segmentsShift;
      int ofPiece = ofPiece(left, piece);
      admit(view, piece, ofPiece, evicts, from, at(at, piece), backoff);
      left ^= ofPiece << (piece << segmentsShift);
    }
  }

  private void admit(
      LeafView view,
      int piece,
      int read,
      boolean evicts,
      MemorySegment from,
      long at,
      Backoff backoff) {
    long key = key(view.entry, piece);
    long set = lock(key, backoff);
    if (set == NONE) {
      return;
    }
    try {
      if (!view.isMerging() && view.isCurrent()) {
        put(set, key, read, evicts, from, at);
      }
    } finally {
      unlock(set);
    }
  }

  private void put(long set, long key, int read, boolean evicts, MemorySegment from, long at) {
    int way = wayFor(set, key, evicts);
    if (way == NONE) {
      return;
    }
    for (int segment = 0; segment < segments; segment++) {
      if ((read >>> segment & 1) != 0) {
        long offset = (long) segment * SEGMENT_BYTES;
        MemorySegment.copy(from, at + offset, memory, image(set, way) + offset, SEGMENT_BYTES);
      }
    }
    setValid(set, way, valid(tag(set, way)) | read);
  }

  /** Returns the way that a key has, or is given now; {@link #NONE} if another would have to go. */
  private int wayFor(long set, long key, boolean evicts) {
    int way = wayOf(set, key);
    if (way == NONE) {
      way = free(set);
      if (way == NONE && evicts) {
        way = victim(set);
      }
      if (way != NONE) {
        Words.set(memory, tagAt(set, way), key | (tag(set, way) & HAND_MASK));
      }
    }
    return way;
  }

  /**
   * Puts the filter of a leaf into the cache, which may evict another filter or an image for it; or
   * does not, if its set is locked. The leaf is latched, and has the extent that the filter is of.
   * Only a cache of pairs has filters.
   */
  public void putFilter(int leaf, LeafFilter filter) {
    long[] ranges = slabOfRange;
    if (ranges.length == 0) {
      return;
    }
    long key = key(leaf, FILTER);
    long set = set(ranges, KeyHash.of(key));
    if (!tryLock(set)) {
      return;
    }
    if (!hasMoved(ranges)) {
      int way = wayFor(set, key, true);
      for (int segment = 0; segment < LeafLayout.SEGMENTS_MAX; segment++) {
        Words.set(memory, image(set, way) + (long) segment * Long.BYTES, filter.word(segment));
      }
      setValid(set, way, 1);
    }
    unlock(set);
  }

  /**
   * Moves the version of a leaf to which a value was written, and puts the value into the image.
   *
   * @param place of the slot: segment * {@link LeafLayout#SLOTS} + slot
   * @param done whether the leaf has the value; else it may have this one or the one before
   * @throws StalledException if the set stays locked
   */
  public void noteWritten(int leaf, int place, long value, boolean done, Backoff backoff) {
    int segment = place / LeafLayout.SLOTS;
    long key = key(leaf, segment >>> segmentsShift);
    long set;
    do {
      set = lock(key, backoff);
      try {
        int way = set == NONE ? NONE : wayOf(set, key);
        if (way != NONE && !PlantedBug.IMAGE_UNPATCHED) {
          patch(set, way, segment & (segments - 1), place % LeafLayout.SLOTS, value, done);
        }
        if (!PlantedBug.VERSION_KEPT) {
          entries.moveVersion(leaf);
        }
      } finally {
        if (set != NONE) {
          unlock(set);
        }
      }
      // A session may have put the image into a first slab that was added meanwhile.
    } while (set == NONE && slabOfRange.length > 0);
  }

  private void patch(long set, int way, int segment, int slot, long value, boolean done) {
    if (done) {
      long at = image(set, way) + (long) segment * SEGMENT_BYTES;
      Words.set(memory, at + (long) slot * LeafLayout.SLOT_BYTES + Long.BYTES, value);
    } else {
      setValid(set, way, valid(tag(set, way)) & ~(1 << segment));
    }
  }

  /**
   * Drops all images of a leaf, and its filter. The leaf merges: its count of merges has moved, and
   * it has not got another extent yet.
   *
   * @throws StalledException if a set stays locked
   */
  public void drop(int leaf, int segmentsOfLeaf, Backoff backoff) {
    int pieces = PlantedBug.IMAGE_KEPT ? 0 : (segmentsOfLeaf + segments - 1) >>> segmentsShift;
    for (int piece = 0; piece < pieces; piece++) {
      drop(key(leaf, piece), backoff);
    }
    drop(key(leaf, FILTER), backoff);
  }

  private void drop(long key, Backoff backoff) {
    long set = lock(key, backoff);
    if (set != NONE) {
      int way = wayOf(set, key);
      if (way != NONE) {
        setValid(set, way, 0);
      }
      unlock(set);
    }
  }

  /** Locks the set of a key; returns {@link #NONE} if there is no slab. */
  private long lock(long key, Backoff backoff) {
    long hash = KeyHash.of(key);
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      long[] ranges = slabOfRange;
      if (ranges.length == 0) {
        return NONE;
      }
      long set = set(ranges, hash);
      if (tryLock(set)) {
        if (!hasMoved(ranges)) {
          return set;
        }
        unlock(set);
      }
      start = await(attempt, start, backoff);
    }
  }
}
