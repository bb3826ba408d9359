package pando.index.orca;

import java.lang.foreign.MemorySegment;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.host.DescentCounters;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.LeafView;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.leaf.Segment;

/** Looks for a key that is not cached: in the delta of its leaf, else in one segment, by a READ. */
final class LeafLookup {
  /** Result: the key is in neither. */
  static final int ABSENT = 0;

  /** Result: the leaf has the key. */
  static final int IN_LEAF = 1;

  /** Result: the delta has the key. */
  static final int IN_DELTA = 2;

  private final Directory directory;
  private final Deltas deltas;
  private final Worker worker;
  private final MemorySegment memory;
  private final DescentCounters counters;
  private final long buffer;

  /** The key's leaf. */
  final LeafView view;

  /** The value that was found. */
  long value;

  /**
   * The record's slot in its segment; 0 if the delta decided, -1 if the segment has no such key.
   */
  int slot;

  /** Records of the segment that was READ, 0 if none was. */
  int records;

  LeafLookup(OrcaContext context) {
    this.directory = context.server.directory;
    this.deltas = context.server.deltas;
    this.worker = context.worker;
    this.memory = context.memory;
    this.counters = context.counters;
    this.buffer = context.segment;
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
    records = 0;
    slot = 0;
    value = 0;
    while (true) {
      directory.find(key, view);
      int index = indexInDelta(key);
      if (index >= 0) {
        int kind = deltas.kind(view.delta(), index);
        long found = deltas.value(view.delta(), index);
        if (view.isCurrent()) {
          value = kind == Deltas.TOMBSTONE ? 0 : found;
          return kind == Deltas.TOMBSTONE ? ABSENT : IN_DELTA;
        }
      } else if (view.delta() == 0 || view.isCurrent()) {
        view.seek(key);
        if (view.hasSameExtent() && read(key)) {
          return slot >= 0 ? IN_LEAF : ABSENT;
        }
      }
      counters.restarts++;
    }
  }

  private int indexInDelta(long key) {
    return view.delta() == 0 ? -1 : deltas.find(view.delta(), key);
  }

  /** READs the segment; returns {@code false} if the leaf has another extent meanwhile. */
  private boolean read(long key) {
    long address = view.segmentAddress();
    worker.read(address, buffer, LeafLayout.SEGMENT_BYTES);
    counters.leafMisses++;
    records =
        Segment.records(
            memory,
            buffer,
            address,
            view.segment == 0,
            view.from,
            view.last,
            view.shift,
            view.low,
            view.high,
            view.stamp);
    if (!view.hasSameExtent()) {
      return false;
    }
    if (records < 0) {
      throw new CorruptNodeException(
          address, "is not the segment of its leaf: key=" + key + ", segment=" + view.segment);
    }
    slot = slotOf(key);
    value = slot >= 0 ? Segment.value(memory, buffer, slot) : 0;
    return true;
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
