package pando.index.orca;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.Backoff;
import pando.fabric.PoolView;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.bugs.PlantedBug;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafView;
import pando.index.orca.images.ImageCache;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.leaf.Segment;
import pando.index.orca.records.Probe;
import pando.index.orca.records.RecordCache;

/**
 * The entries of some segments in a row of one leaf, in key order: what images have, what was READ,
 * or what is in mapped memory, with the delta merged in, and with the newer values that are cached.
 */
final class LeafRange {
  /*
   * Complete: what is new and not in the leaf is in its delta. Current: a value that was cleaned
   * and evicted between the READ and the look into the cache has moved the leaf's version. So a
   * range whose version stands afterwards has each entry as it was at some moment meanwhile, and
   * all keys as they were at one moment.
   *
   * In mapped memory each look is a READ. The bytes may be another leaf's by then: the count of
   * merges has moved before.
   *
   * Where the version moves again and again, the leaf is held (HeldLeaves): then only cached values
   * change.
   */

  /** Needless segments that one READ brings in the time in which a card begins another READ. */
  private static final int GAP_MAX = 2;

  private static final int LINE_BYTES = 64;

  /** Kinds of records that are newer than leaf and delta, one bit each. */
  private static final int NEWER =
      1 << RecordCache.DIRTY | 1 << RecordCache.CLEANING | 1 << RecordCache.DELTA_NEWER;

  private final LeafEntries entries;
  private final Deltas deltas;
  private final ImageCache images;
  private final Worker worker;
  private final Backoff backoff;
  private final RecordCache records;
  private final Probe probe;
  private final MemorySegment memory;
  private final long buffer;
  private final PoolView pool = new PoolView();

  final LeafView view;

  private int first;
  private int last;

  /** Segments that are READ, a bit for each; the others were copied from images. */
  private int read;

  /** Whether the segments are looked at in the pool, and were not copied. */
  private boolean viewed;

  private long low;
  private long high;

  /** The keys of the entries. */
  final long[] keys = new long[LeafLayout.RECORDS_MAX + Deltas.RECORDS_MAX];

  /** The values of the entries. */
  final long[] values = new long[LeafLayout.RECORDS_MAX + Deltas.RECORDS_MAX];

  private int count;

  /** What was read ahead, so that the reads are not left out. */
  @SuppressWarnings("unused")
  private long touched;

  /**
   * Creates a range.
   *
   * @param buffer local offset of the bytes of a leaf's segments
   */
  LeafRange(OrcaContext context, long buffer) {
    this.entries = context.directory.entries();
    this.deltas = context.deltas;
    this.images = context.images;
    this.worker = context.worker;
    this.backoff = worker.backoff();
    this.records = context.records;
    this.probe = new Probe(context.worker.backoff());
    this.memory = context.memory;
    this.buffer = buffer;
    this.view = new LeafView(context.directory, backoff);
  }

  /** Chooses some segments, and reads ahead from the images that there are of them. */
  void choose(int from, int to) {
    // The heads of a leaf that is published meanwhile may have led anywhere.
    int end = view.segments() - 1;
    first = Math.clamp(from, 0, end);
    last = Math.clamp(to, first, end);
    view.seekTo(first);
    low = first == 0 ? view.low : view.low + (view.from << view.shift);
    view.seekTo(last);
    high = last == view.segments() - 1 ? view.high : greatest(view.last);
    touched = images.touch(view.entry, first, last);
  }

  /**
   * Copies the segments that are chosen from images, and adds READs of others to a list; or looks
   * at them in the pool, where that can be and there are no images.
   */
  void read(VerbList list) {
    read = (2 << last) - (1 << first);
    viewed =
        !images.isOn()
            && worker.view(
                view.address() + LeafLayout.segment(first),
                segments() * LeafLayout.SEGMENT_BYTES,
                pool);
    if (viewed) {
      touchPool();
      return;
    }
    read &= ~images.copy(view.entry, read, memory, atSegment(0), backoff);
    closeGaps();
    addReads(list);
  }

  /** Reads a word of each line, so that the processor waits for all of them at once. */
  private void touchPool() {
    MemorySegment from = pool.memory();
    long end = pool.at() + (long) segments() * LeafLayout.SEGMENT_BYTES;
    long sum = 0;
    for (long at = pool.at(); at < end; at += LINE_BYTES) {
      sum += Words.getUnaligned(from, at);
    }
    touched = sum;
  }

  /** READs cached segments, too, where a READ of its own for what is behind them costs as much. */
  private void closeGaps() {
    int end = 0;
    for (int left = read; left != 0; left &= -1 << end) {
      int start = Integer.numberOfTrailingZeros(left);
      if (end > 0 && start - end <= GAP_MAX) {
        read |= (1 << start) - (1 << end);
      }
      end = start + Integer.numberOfTrailingZeros(~(left >>> start));
    }
  }

  /** Adds a READ for each row of segments that are READ. */
  private void addReads(VerbList list) {
    int left = read;
    while (left != 0) {
      int start = Integer.numberOfTrailingZeros(left);
      int segments = Integer.numberOfTrailingZeros(~(left >>> start));
      list.read(
          view.address() + LeafLayout.segment(start),
          atSegment(start),
          segments * LeafLayout.SEGMENT_BYTES);
      left &= -1 << (start + segments);
    }
  }

  /** Returns whether the segments are looked at in the pool, so that no READ is on the list. */
  boolean isViewed() {
    return viewed;
  }

  /** Returns where a segment is, or would be. */
  private long atSegment(int segment) {
    return buffer + (long) (segment - first) * LeafLayout.SEGMENT_BYTES;
  }

  /** Returns the number of segments. */
  int segments() {
    return last - first + 1;
  }

  /** Returns the number of segments that are READ. */
  int segmentsRead() {
    return Integer.bitCount(read);
  }

  private long greatest(long q) {
    return view.low + ((q + 1) << view.shift) - 1;
  }

  /**
   * Collects the entries of the segments.
   *
   * @param held whether the leaf is held
   * @return {@code false} if something has moved meanwhile
   * @throws CorruptNodeException if a segment is damaged
   */
  boolean collect(boolean held) {
    count = 0;
    view.seekTo(first);
    while (true) {
      int records = copySegment();
      if (records < 0) {
        if (held || view.hasSameExtent()) {
          throw new CorruptNodeException(
              view.segmentAddress(), "is not the segment of its leaf: segment=" + view.segment);
        }
        return false;
      }
      count += records;
      if (view.segment == last) {
        break;
      }
      view.goOn();
    }
    if (view.delta() != 0) {
      mergeDelta(view.delta());
    }
    if (!held && !isCurrent()) {
      return false;
    }
    takeNewer();
    return held || isCurrent();
  }

  /** Checks and copies the segment that the view is at; returns as {@link Segment#copy}. */
  private int copySegment() {
    return Segment.copy(
        viewed ? pool.memory() : memory,
        viewed
            ? pool.at() + (long) (view.segment - first) * LeafLayout.SEGMENT_BYTES
            : atSegment(view.segment),
        view.segmentAddress(),
        view.segment == 0,
        view.from,
        view.last,
        view.shift,
        view.low,
        view.high,
        view.stamp,
        keys,
        values,
        count);
  }

  /** Applies the changes of a delta, of which few have a key here. */
  private void mergeDelta(int delta) {
    int changes = deltas.count(delta);
    for (int change = position(delta, low); change < changes; change++) {
      long key = deltas.key(delta, change);
      if (key > high) {
        return;
      }
      apply(delta, change, key);
    }
  }

  private void apply(int delta, int change, long key) {
    int index = Arrays.binarySearch(keys, 0, count, key);
    int at = index >= 0 ? index : -index - 1;
    if (deltas.kind(delta, change) == Deltas.TOMBSTONE) {
      if (index >= 0) {
        count--;
        move(at + 1, at, count - at);
      }
      return;
    }
    if (index < 0) {
      if (count == keys.length) {
        return; // The delta is not that of the leaf any more: the version has moved.
      }
      move(at, at + 1, count - at);
      count++;
    }
    keys[at] = key;
    values[at] = deltas.value(delta, change);
  }

  private void move(int from, int to, int entries) {
    System.arraycopy(keys, from, keys, to, entries);
    System.arraycopy(values, from, values, to, entries);
  }

  /**
   * Puts what was READ and collected into images, unless the leaf has moved. What was looked at in
   * the pool was not copied, and may be something else by now.
   *
   * @param evicts whether other images may go for it
   */
  void admit(boolean evicts) {
    if (!viewed) {
      images.admit(view, read, evicts, memory, atSegment(0), backoff);
    }
  }

  private boolean isCurrent() {
    return PlantedBug.SCAN_WITHOUT_VERSION || view.isCurrent();
  }

  private int position(int delta, long key) {
    int index = deltas.find(delta, key);
    return index >= 0 ? index : -index - 1;
  }

  /** Takes the values of cached records, if any can be newer than leaf and delta. */
  private void takeNewer() {
    if (PlantedBug.SCAN_OF_LEAF || LeafEntries.dirty(entries.control(view.entry)) == 0) {
      return;
    }
    touched = records.touch(keys, 0, count);
    for (int i = 0; i < count; i++) {
      // A look that raises no count, and locks nothing: the version is compared afterwards.
      if (records.peek(keys[i], probe) && (NEWER >>> probe.kind & 1) != 0) {
        values[i] = probe.value;
      }
    }
  }

  /** Returns the greatest key that the range covers. */
  long high() {
    return high;
  }

  /** Returns the least key that the range covers. */
  long low() {
    return low;
  }

  /** Returns the number of entries. */
  int count() {
    return count;
  }
}
