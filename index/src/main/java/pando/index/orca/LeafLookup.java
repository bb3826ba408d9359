package pando.index.orca;

import java.lang.foreign.MemorySegment;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.host.DescentCounters;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.LeafView;
import pando.index.orca.images.ImageCache;
import pando.index.orca.images.LeafFilter;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.leaf.Segment;

/** Looks for a key that is not cached: in the delta of its leaf, else in one segment of it. */
final class LeafLookup {
  /** Result: the key is in neither. */
  static final int ABSENT = 0;

  /** Result: the leaf has the key. */
  static final int IN_LEAF = 1;

  /** Result: the delta has the key. */
  static final int IN_DELTA = 2;

  /** Result: the segment must be READ, then {@link #end} tells. */
  static final int UNREAD = 3;

  /** Result: the leaf has another extent meanwhile. */
  static final int MOVED = 4;

  private final OrcaContext context;
  private final Directory directory;
  private final Deltas deltas;
  private final ImageCache images;
  private final Worker worker;
  private final MemorySegment memory;
  private final DescentCounters counters;
  private final long buffer;

  /** The key's leaf. */
  final LeafView view;

  /** The value that was found. */
  long value;

  /** The record's slot in its segment, 0 if it has none. */
  int slot;

  /** Records of the segment that was READ, 0 if none was. */
  int records;

  /** What the filter says of the segment. */
  private long filter;

  /**
   * Creates a lookup.
   *
   * @param buffer local offset of the bytes of a segment
   */
  LeafLookup(OrcaContext context, long buffer) {
    this.context = context;
    this.directory = context.server.directory;
    this.deltas = context.server.deltas;
    this.images = context.server.images;
    this.worker = context.worker;
    this.memory = context.memory;
    this.counters = context.counters;
    this.buffer = buffer;
    this.view = new LeafView(directory, worker.backoff());
  }

  /**
   * Looks for a key that the session has claimed.
   *
   * @return {@link #ABSENT}, {@link #IN_LEAF} or {@link #IN_DELTA}
   * @throws CorruptNodeException if the segment is damaged
   * @throws pando.fabric.StalledException if the leaf stays latched
   */
  int find(long key) {
    while (true) {
      int found = begin(key);
      if (found == UNREAD) {
        if (!copyImage()) {
          worker.read(view.segmentAddress(), buffer, LeafLayout.SEGMENT_BYTES);
        }
        found = end(key);
      }
      if (found != MOVED) {
        return found;
      }
      counters.restarts++;
    }
  }

  /**
   * Looks for a key that the session has claimed, in the delta and in the leaf's filter, without a
   * verb.
   *
   * @return {@link #ABSENT}, {@link #IN_DELTA} or {@link #UNREAD}
   */
  int begin(long key) {
    records = 0;
    slot = 0;
    value = 0;
    while (true) {
      directory.find(key, view);
      int index = view.delta() == 0 ? -1 : deltas.find(view.delta(), key);
      if (index >= 0) {
        int kind = deltas.kind(view.delta(), index);
        long found = deltas.value(view.delta(), index);
        if (view.isCurrent()) {
          value = kind == Deltas.TOMBSTONE ? 0 : found;
          return kind == Deltas.TOMBSTONE ? ABSENT : IN_DELTA;
        }
      } else if (view.delta() == 0 || view.isCurrent()) {
        view.seek(key);
        filter = images.filter(view.entry, view.segment);
        if (view.hasSameExtent()) {
          return lookIntoFilter(key);
        }
      }
      counters.restarts++;
    }
  }

  private int lookIntoFilter(long key) {
    if (LeafFilter.mayHave(filter, key)) {
      return UNREAD;
    }
    counters.leafHits++;
    context.filtered++;
    return ABSENT;
  }

  /** Adds the READ of the segment to a list, if no image has it. */
  void addRead(VerbList list) {
    if (!copyImage()) {
      list.read(view.segmentAddress(), buffer, LeafLayout.SEGMENT_BYTES);
    }
  }

  /** Copies the segment from an image; returns whether one has it. */
  private boolean copyImage() {
    int pair = view.segment / ImageCache.SEGMENTS;
    int inPair = view.segment % ImageCache.SEGMENTS;
    long at = buffer - (long) inPair * LeafLayout.SEGMENT_BYTES;
    boolean copied = images.copy(view.entry, pair, 1 << inPair, memory, at, worker.backoff()) != 0;
    counters.leafHits += copied ? 1 : 0;
    counters.leafMisses += copied ? 0 : 1;
    return copied;
  }

  /**
   * Looks into the segment that was READ, or copied.
   *
   * @return {@link #ABSENT}, {@link #IN_LEAF} or {@link #MOVED}
   * @throws CorruptNodeException if the segment is damaged
   */
  int end(long key) {
    int read =
        Segment.records(
            memory,
            buffer,
            view.segmentAddress(),
            view.segment == 0,
            view.from,
            view.last,
            view.shift,
            view.low,
            view.high,
            view.stamp);
    if (!view.hasSameExtent()) {
      return MOVED;
    }
    if (read < 0) {
      throw new CorruptNodeException(
          view.segmentAddress(),
          "is not the segment of its leaf: key=" + key + ", segment=" + view.segment);
    }
    records = read;
    int found = slotOf(key);
    slot = Math.max(found, 0);
    value = found < 0 ? 0 : Segment.value(memory, buffer, found);
    context.unfiltered += found < 0 && filter == LeafFilter.UNKNOWN ? 1 : 0;
    return found < 0 ? ABSENT : IN_LEAF;
  }

  private int slotOf(long key) {
    for (int i = 0; i < records; i++) {
      if (Segment.key(memory, buffer, i) == key) {
        return i;
      }
    }
    return -1;
  }

  /** Returns the key of a record of the segment that was READ. */
  long key(int record) {
    return Segment.key(memory, buffer, record);
  }

  /** Returns the value of a record of the segment that was READ. */
  long value(int record) {
    return Segment.value(memory, buffer, record);
  }
}
