package pando.index.orca.images;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLongArray;
import pando.fabric.Backoff;
import pando.fabric.WaitLimit;
import pando.fabric.memory.Words;
import pando.index.orca.leaf.LeafLayout;

/** The sets of an {@link ImageCache}: their bytes, and the versions that lock them. */
abstract sealed class ImageSets permits ImageCache {
  /*
   * A set, 2,112 bytes: a line of tags, and 8 images
   * ================================================
   *
   *     0  tags of ways 0..7, 8 bytes each:
   *          leaf's entry 4 (lowest) | piece 5 bits, valid segments 2 bits, zero 1 bit
   *          | count 1 | hand 1, in way 0 alone | zero 1
   *    64  way 0: segment 2p 128, segment 2p + 1 128
   *    ..
   *  1856  way 7
   *
   * A set of single segments has 1,088. A piece is what an image is of: pair 2p and 2p + 1, or
   * segment p. A way without a valid segment is free. Piece 31 is the leaf's filter: a word for each
   * segment. The hash of leaf and piece says which of 1,024 ranges it is in, and thereby the slab, and which
   * set of the slab. So a slab that comes takes ranges from the others, and what is in other ranges
   * stays.
   *
   * Versions. Readers take no lock: they note the version of the set, copy what they need, and use
   * it if neither the version nor the slabs have changed meanwhile; else it counts as not cached. The
   * versions' lowest bit is the lock. They are not in the slabs, as the memory of a slab that was
   * removed is used otherwise while a session may still be about to lock one of its sets. Sets share
   * versions.
   */

  static final int WAYS = 8;
  static final int TAG_BYTES = Long.BYTES;
  private static final int TAGS_BYTES = WAYS * TAG_BYTES;
  static final int SEGMENT_BYTES = LeafLayout.SEGMENT_BYTES;

  /** Bytes of a set of pairs; one of single segments has fewer. */
  public static final int SET_BYTES = TAGS_BYTES + WAYS * 2 * SEGMENT_BYTES;

  private static final int PIECE_SHIFT = 32;
  private static final int VALID_SHIFT = 37;

  private static final int VALID_MASK = 3;
  static final long KEY_MASK = (1L << VALID_SHIFT) - 1;
  private static final int COUNT = 5;
  private static final int HAND = 6;
  static final long HAND_MASK = 0xffL << (HAND * Byte.SIZE);

  private static final int LOCKS = 1024;
  private static final int BYTES_OF_LOCK_SHIFT = 10;
  static final int NONE = -1;

  final MemorySegment memory;
  final int segmentsShift;
  final int segments;
  final int imageBytes;
  final int setBytes;
  final AtomicLongArray versions = new AtomicLongArray(LOCKS);

  ImageSets(MemorySegment memory, boolean pairs) {
    this.memory = memory;
    this.segmentsShift = pairs ? 1 : 0;
    this.segments = 1 << segmentsShift;
    this.imageBytes = segments * SEGMENT_BYTES;
    this.setBytes = TAGS_BYTES + WAYS * imageBytes;
  }

  static long tagAt(long set, int way) {
    return set + (long) way * TAG_BYTES;
  }

  long tag(long set, int way) {
    return Words.get(memory, tagAt(set, way));
  }

  static int valid(long tag) {
    return (int) (tag >>> VALID_SHIFT) & VALID_MASK;
  }

  void setValid(long set, int way, int valid) {
    long others = tag(set, way) & ~((long) VALID_MASK << VALID_SHIFT);
    Words.set(memory, tagAt(set, way), others | (long) valid << VALID_SHIFT);
  }

  int count(long set, int way) {
    return memory.get(JAVA_BYTE, tagAt(set, way) + COUNT);
  }

  void setCount(long set, int way, int count) {
    memory.set(JAVA_BYTE, tagAt(set, way) + COUNT, (byte) count);
  }

  long image(long set, int way) {
    return set + TAGS_BYTES + (long) way * imageBytes;
  }

  static long key(int leaf, int piece) {
    return Integer.toUnsignedLong(leaf) | (long) piece << PIECE_SHIFT;
  }

  int wayOf(long set, long key) {
    for (int way = 0; way < WAYS; way++) {
      long tag = tag(set, way);
      if ((tag & KEY_MASK) == key && valid(tag) != 0) {
        return way;
      }
    }
    return NONE;
  }

  // Locks

  boolean tryLock(long set) {
    long version = versions.getAcquire(lockOf(set));
    if (isLocked(version) || !versions.compareAndSet(lockOf(set), version, version + 1)) {
      return false;
    }
    VarHandle.storeStoreFence();
    return true;
  }

  void unlock(long set) {
    int lock = lockOf(set);
    versions.setRelease(lock, versions.getPlain(lock) + 1);
  }

  static boolean isLocked(long version) {
    return (version & 1) != 0;
  }

  static int lockOf(long set) {
    return (int) (set >>> BYTES_OF_LOCK_SHIFT) & (LOCKS - 1);
  }

  static long await(int attempt, long start, Backoff backoff) {
    return WaitLimit.SHORT.pause(backoff, attempt, start, "a set of images stays locked");
  }

  int free(long set) {
    for (int way = 0; way < WAYS; way++) {
      if (valid(tag(set, way)) == 0) {
        return way;
      }
    }
    return NONE;
  }

  /**
   * Returns a way whose image goes (GCLOCK). The hand goes on from way to way; an image with count
   * 0 goes, and other counts are lowered by one.
   */
  int victim(long set) {
    int way = memory.get(JAVA_BYTE, set + HAND);
    while (count(set, way) > 0) {
      setCount(set, way, count(set, way) - 1);
      way = (way + 1) % WAYS;
    }
    memory.set(JAVA_BYTE, set + HAND, (byte) ((way + 1) % WAYS));
    return way;
  }
}
