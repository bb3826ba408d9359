package pando.index.orca.directory;

import java.lang.invoke.VarHandle;
import pando.fabric.Backoff;
import pando.fabric.WaitLimit;
import pando.index.bugs.PlantedBug;
import pando.index.orca.leaf.Heads;
import pando.index.orca.leaf.LeafLayout;

/**
 * A leaf as the directory described it at one moment. Filled by {@link Directory#find}, again and
 * again; belongs to one thread.
 */
public final class LeafView {
  private static final long EVEN_BYTES = 0x00FF_00FF_00FF_00FFL;
  private static final long ONES = 0x0001_0001_0001_0001L;
  private static final long CARRIES = 0x0100_0100_0100_0100L;
  private static final int HEAD_WORDS = 4;

  private final LeafEntries entries;
  final Backoff backoff;

  /** Number of the leaf's entry. */
  public int entry;

  /** Least key of the leaf. */
  public long low;

  /** Greatest key of the leaf. */
  public long high;

  /** Node of level 0 above the leaf. */
  public DirectoryNode node;

  /** The leaf's place among the node's children. */
  public int child;

  /** Version, latch and delta. */
  public long version;

  /** Control word. */
  public long control;

  /** Pointer to the extent. */
  public long pointer;

  /** Stamp of the extent. */
  public long stamp;

  /** By how many bits the distance of a key from the low fence is shifted. */
  public int shift;

  /** Segment that {@link #seek} found. */
  public int segment;

  /** Least q of that segment. */
  public long from;

  /** Greatest q of that segment. */
  public long last;

  /** Creates a view of no leaf. */
  public LeafView(Directory directory, Backoff backoff) {
    this.entries = directory.entries();
    this.node = directory.root();
    this.backoff = backoff;
  }

  /** Copies what the entry says; returns {@code false} if it changes meanwhile. */
  boolean copy() {
    control = entries.control(entry);
    if (LeafEntries.has(control, LeafEntries.PUBLISHING)) {
      return false;
    }
    version = entries.version(entry);
    if (LeafEntries.isLatched(version) && !LeafEntries.has(control, LeafEntries.MERGING)) {
      return false;
    }
    pointer = entries.pointer(entry);
    backoff.transition();
    stamp = entries.stamp(entry);
    shift = Heads.shift(low, high, LeafEntries.width(control));
    // Not hasSameExtent: a merge that began and published meanwhile may have set this very stamp.
    return !node.isReplaced() && (PlantedBug.VIEW_MIXED ? hasSameExtent() : hasSameMerges());
  }

  /** Copies what the entry says of a leaf that the caller has pinned, or latched and merges. */
  public void copyHeld() {
    control = entries.control(entry);
    version = entries.version(entry);
    pointer = entries.pointer(entry);
    stamp = entries.stamp(entry);
    shift = Heads.shift(low, high, LeafEntries.width(control));
  }

  /** Returns whether no merge has begun or published since the view was filled. */
  public boolean hasSameMerges() {
    VarHandle.loadLoadFence();
    long now = entries.control(entry);
    return LeafEntries.merges(now) == LeafEntries.merges(control);
  }

  /** Returns whether the leaf has the extent that the view names: no merge has published since. */
  public boolean hasSameExtent() {
    VarHandle.loadLoadFence();
    long now = entries.control(entry);
    return !LeafEntries.has(now, LeafEntries.PUBLISHING) && entries.stamp(entry) == stamp;
  }

  /**
   * Returns whether nothing has moved since the view was filled: no change of the delta, no value
   * written to the leaf, no merge.
   */
  public boolean isCurrent() {
    VarHandle.loadLoadFence();
    return entries.version(entry) == version && hasSameMerges();
  }

  /** Returns a slot as cached records have it: with the generation of the leaf's slots. */
  public int ofGeneration(int slot) {
    return slot + LeafEntries.generation(control) * LeafLayout.SLOTS;
  }

  /** Returns whether a cached record's slot is of the present generation. */
  public boolean hasSlot(int slot) {
    return slot / LeafLayout.SLOTS == LeafEntries.generation(control);
  }

  /** Returns the delta, 0 if there is none. */
  public int delta() {
    return LeafEntries.delta(version);
  }

  /** Returns whether the leaf was merging. */
  public boolean isMerging() {
    return LeafEntries.has(control, LeafEntries.MERGING);
  }

  /** Returns the number of segments. */
  public int segments() {
    return LeafPointer.segments(pointer);
  }

  /** Returns the global address of the extent. */
  public long address() {
    return LeafPointer.address(pointer);
  }

  /** Returns the global address of the segment that was found. */
  public long segmentAddress() {
    return address() + LeafLayout.segment(segment);
  }

  /** Finds the segment of a key of the leaf; to be used if the extent is the same afterwards. */
  public void seek(long key) {
    long q = Heads.q(key, low, shift);
    int width = LeafEntries.width(control);
    seekTo(width == 1 ? segmentOfByte(q) : segmentOfWide(q, width), width);
  }

  /** Goes to a segment by its number; to be used if the extent is the same afterwards. */
  public void seekTo(int number) {
    seekTo(number, LeafEntries.width(control));
  }

  /** Goes to the segment behind the one that was found. */
  public void goOn() {
    segment++;
    from = last + 1;
    last = lastOf(segment, LeafEntries.width(control));
  }

  /** Returns which share of the keys of the segment that was found is not below one of them. */
  public double shareFrom(long key) {
    return keys(key, greatest()) / keys(least(), greatest());
  }

  /** Returns which share of the keys of the segment that was found is not above one of them. */
  public double shareTo(long key) {
    return keys(least(), key) / keys(least(), greatest());
  }

  private long least() {
    return low + (from << shift);
  }

  private long greatest() {
    return last == Heads.q(high, low, shift) ? high : low + ((last + 1) << shift) - 1;
  }

  private static double keys(long least, long greatest) {
    return ((greatest - least) >>> 1) * 2.0 + 1;
  }

  private void seekTo(int number, int width) {
    segment = number;
    from = head(number, width);
    last = lastOf(number, width);
  }

  private long lastOf(int number, int width) {
    return number + 1 < segments() ? head(number + 1, width) - 1 : Heads.q(high, low, shift);
  }

  /** Counts the heads that are not above q, eight at a time. */
  private int segmentOfByte(long q) {
    long lanes = (q * ONES) | CARRIES;
    int notAbove = 0;
    for (int word = 0; word < HEAD_WORDS; word++) {
      long heads = entries.heads(entry, word);
      notAbove += Long.bitCount((lanes - (heads & EVEN_BYTES)) & CARRIES);
      notAbove += Long.bitCount((lanes - (heads >>> Byte.SIZE & EVEN_BYTES)) & CARRIES);
    }
    // Bytes behind the last head are 0, and not above any q. There are fewer of them if the heads
    // are those of a longer extent that is published meanwhile.
    return Math.max(0, notAbove - (HEAD_WORDS * Long.BYTES - segments()) - 1);
  }

  private int segmentOfWide(long q, int width) {
    int found = 0;
    for (int i = 1; i < segments(); i++) {
      found = Long.compareUnsigned(head(i, width), q) <= 0 ? i : found;
    }
    return found;
  }

  private long head(int number, int width) {
    return width == 1
        ? entries.heads(entry, number / Long.BYTES) >>> (number % Long.BYTES * Byte.SIZE) & 0xFF
        : entries.wideHead(entry, number);
  }

  /**
   * Waits for a leaf that is latched for a moment, or that a merge publishes; returns when the wait
   * began.
   */
  long await(int attempt, long start) {
    return WaitLimit.SHORT.pauseBriefly(backoff, attempt, start, "a leaf stays latched: low", low);
  }
}
