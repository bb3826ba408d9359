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

  /** Result: the segment must be READ, then {@link #end} has the answer. */
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
  private final CacheUnit cacheUnit;
  private final long buffer;

  /** The key's leaf. */
  final LeafView view;

  /** The value that was found. */
  long value;

  /** The record's slot in its segment, with its generation; 0 if it has none. */
  int slot;

  /** Records of the segment that was READ, 0 if none was. */
  int records;

  /** The first of the segments that are READ together. */
  private int first;

  /** How many are; 0 if the key's was copied from an image. */
  private int read;

  /** Where the key's segment is. */
  private long at;

  /** What was read early, so that the reads are not left out. */
  @SuppressWarnings("unused")
  private long touched;

  /** What the filter says of the segment. */
  private long filter;

  /**
   * Creates a lookup.
   *
   * @param buffer local offset of the bytes of a segment, or of a leaf's segments
   */
  LeafLookup(OrcaContext context, long buffer) {
    this.context = context;
    this.directory = context.directory;
    this.deltas = context.deltas;
    this.images = context.images;
    this.worker = context.worker;
    this.memory = context.memory;
    this.counters = context.counters;
    this.cacheUnit = context.options.cacheUnit();
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
          worker.read(readAddress(), buffer, readBytes());
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
      view.seek(key);
      if (view.delta() != 0) {
        fetch();
      }
      int index = view.delta() == 0 ? -1 : deltas.find(view.delta(), key);
      if (index >= 0) {
        int kind = deltas.kind(view.delta(), index);
        long found = deltas.value(view.delta(), index);
        if (view.isCurrent()) {
          value = kind == Deltas.TOMBSTONE ? 0 : found;
          return kind == Deltas.TOMBSTONE ? ABSENT : IN_DELTA;
        }
      } else if (view.delta() == 0 || view.isCurrent()) {
        filter = images.filter(view.entry, view.segment);
        if (view.hasSameExtent()) {
          return lookIntoFilter(key);
        }
      }
      counters.restarts++;
    }
  }

  /** Reads from the delta and from the segment, so that the processor waits for both at once. */
  private void fetch() {
    touched =
        deltas.touch(view.delta()) + worker.touch(view.segmentAddress(), LeafLayout.SEGMENT_BYTES);
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
      list.read(readAddress(), buffer, readBytes());
    }
  }

  /** Copies the segment from an image; returns whether one has it. Else it is to be READ. */
  private boolean copyImage() {
    boolean readsLeaf = cacheUnit == CacheUnit.LEAVES;
    first = readsLeaf ? 0 : view.segment;
    at = at(view.segment);
    int wanted = 1 << view.segment;
    boolean copied = images.copy(view.entry, wanted, memory, at(0), worker.backoff()) != 0;
    read = copied ? 0 : readsLeaf ? view.segments() : 1;
    counters.leafHits += copied ? 1 : 0;
    counters.leafMisses += copied ? 0 : 1;
    return copied;
  }

  /** Returns where a segment is, or would be. */
  private long at(int segment) {
    return buffer + (long) (segment - first) * LeafLayout.SEGMENT_BYTES;
  }

  private long readAddress() {
    return view.address() + LeafLayout.segment(first);
  }

  private int readBytes() {
    return read * LeafLayout.SEGMENT_BYTES;
  }

  /**
   * Looks into the segment that was READ, or copied; what was READ is cached, unless only its
   * record is to be.
   *
   * @return {@link #ABSENT}, {@link #IN_LEAF} or {@link #MOVED}
   * @throws CorruptNodeException if the segment is damaged
   */
  int end(long key) {
    int sound =
        Segment.records(
            memory,
            at,
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
    if (sound < 0) {
      throw new CorruptNodeException(
          view.segmentAddress(),
          "is not the segment of its leaf: key=" + key + ", segment=" + view.segment);
    }
    if (read > 0 && cacheUnit != CacheUnit.RECORDS) {
      admit();
    }
    records = sound;
    int found = slotOf(key);
    slot = found < 0 ? 0 : view.ofGeneration(found);
    value = found < 0 ? 0 : Segment.value(memory, at, found);
    context.unfiltered += found < 0 && filter == LeafFilter.UNKNOWN ? 1 : 0;
    return found < 0 ? ABSENT : IN_LEAF;
  }

  private void admit() {
    int segments = ((1 << read) - 1) << first;
    images.admit(view, segments, true, memory, at(0), worker.backoff());
    context.use.notePairs(1);
  }

  private int slotOf(long key) {
    for (int i = 0; i < records; i++) {
      if (key(i) == key) {
        return i;
      }
    }
    return -1;
  }

  /** Returns the key of a record of the segment that was READ. */
  long key(int record) {
    return Segment.key(memory, at, record);
  }

  /** Returns the value of a record of the segment that was READ. */
  long value(int record) {
    return Segment.value(memory, at, record);
  }
}
