package pando.index.orca;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.DirectoryNode;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafView;
import pando.index.orca.images.ImageCache;
import pando.index.orca.images.LeafFilter;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.leaf.LeafReader;
import pando.index.orca.records.RecordCache;

/**
 * Checks at rest that directory, leaves, deltas, images and cached records of a compute server
 * agree, and that nothing is latched, pinned or claimed.
 */
final class OrcaAudit {
  private static final int SEGMENT_BYTES = LeafLayout.SEGMENT_BYTES;

  private final OrcaContext context;
  private final Directory directory;
  private final LeafEntries entries;
  private final Deltas deltas;
  private final RecordCache records;
  private final ImageCache images;
  private final LeafFilter filter = new LeafFilter();
  private final LeafReader reader = new LeafReader();
  private final LeafView view;
  private final Backoff backoff;

  private final long[] keys = new long[LeafLayout.RECORDS_MAX];
  private final long[] values = new long[LeafLayout.RECORDS_MAX];

  private final Map<Long, InLeaf> inLeaves = new HashMap<>();
  private final Map<Long, InDelta> inDeltas = new HashMap<>();

  /** Cached records that are newer than leaf or delta, by the entry of their leaf. */
  private final Map<Integer, Integer> dirty = new HashMap<>();

  private final Set<Long> cached = new HashSet<>();
  private long imagesFound;
  private final List<String> problems = new ArrayList<>();

  private record InLeaf(int slot, int generation, long value) {
    /** Returns whether a cached record's slot is wrong, unless it is of an older generation. */
    boolean isOtherThan(int slotCached) {
      int generationCached = slotCached / LeafLayout.SLOTS;
      return generationCached > generation
          || (generationCached == generation && slotCached % LeafLayout.SLOTS != slot);
    }
  }

  private record InDelta(int kind, long value) {
    boolean isPut() {
      return kind != Deltas.TOMBSTONE;
    }
  }

  OrcaAudit(OrcaContext context) {
    this.context = context;
    this.directory = context.directory;
    this.entries = directory.entries();
    this.deltas = context.deltas;
    this.records = context.records;
    this.images = context.images;
    this.backoff = context.worker.backoff();
    this.view = new LeafView(directory, backoff);
  }

  /** Returns what is wrong. No session is in an operation. */
  List<String> problems() {
    if (directory.tryExclude()) {
      directory.unlatch();
    } else {
      problems.add("the directory is left latched");
    }
    node(directory.root());
    records.forEachBucket(this::bucket);
    if (images.images() != imagesFound) {
      problems.add(
          "images of leaves that there are not, or twice: images=%s, found=%s, computeServer=%s"
              .formatted(images.images(), imagesFound, context.number));
    }
    dirty.forEach(this::checkDirty);
    return problems;
  }

  private void node(DirectoryNode node) {
    if (node.tryLatch()) {
      node.unlatch();
    } else {
      problems.add("a page is left latched: low=" + node.low());
    }
    for (int child = 0; child < node.size(); child++) {
      if (node.level() > 0) {
        node(node.node(child));
      } else {
        leaf(node.low(child));
      }
    }
  }

  private void leaf(long low) {
    directory.seek(low, view);
    view.copyHeld();
    boolean latched = LeafEntries.isLatched(view.version);
    boolean flagged = LeafEntries.has(view.control, LeafEntries.MERGING | LeafEntries.PUBLISHING);
    int pins = LeafEntries.pins(view.control);
    if (latched || flagged || pins > 0) {
      problems.add(
          "a leaf is left latched, merging or pinned: low=%s, version=0x%x, control=0x%x"
              .formatted(low, view.version, view.control));
    }
    delta();
    int found = read();
    checkImages();
    if (found < 0) {
      problems.add(String.valueOf(reader.problem()));
    } else if (found != LeafEntries.records(view.control)) {
      problems.add(
          "a leaf has another number of records than its entry: low=%s, records=%s, entry=%s"
              .formatted(low, found, LeafEntries.records(view.control)));
    }
    filter.clear();
    int segment = -1;
    int slot = 0;
    for (int i = 0; i < found; i++) {
      view.seek(keys[i]);
      slot = view.segment == segment ? slot + 1 : 0;
      segment = view.segment;
      filter.add(keys[i], segment * LeafLayout.SLOTS + slot);
      inLeaves.put(keys[i], new InLeaf(slot, LeafEntries.generation(view.control), values[i]));
      InDelta change = inDeltas.get(keys[i]);
      if (change != null && change.kind == Deltas.PUT) {
        problem("the delta says that the leaf does not have a key that it has", keys[i]);
      }
    }
    checkFilter();
  }

  private void delta() {
    int delta = view.delta();
    int changes = delta == 0 ? 0 : deltas.count(delta);
    for (int i = 0; i < changes; i++) {
      long key = deltas.key(delta, i);
      if (key < view.low || key > view.high) {
        problem("a delta has a key of another leaf", key);
      }
      inDeltas.put(key, new InDelta(deltas.kind(delta, i), deltas.value(delta, i)));
    }
  }

  private int read() {
    context.worker.read(view.address(), context.leaf, LeafLayout.bytes(view.segments()));
    return reader.read(
        context.memory,
        context.leaf,
        view.address(),
        view.segments(),
        view.low,
        view.high,
        view.stamp,
        keys,
        values);
  }

  /** Compares the images of a leaf with the leaf that was READ. */
  private void checkImages() {
    long copy = context.scanned(0);
    int together = images.segments();
    for (int first = 0; first < view.segments(); first += together) {
      int wanted = ((1 << together) - 1) << first;
      int has = images.copy(view.entry, wanted, context.memory, copy, backoff);
      imagesFound += has == 0 ? 0 : 1;
      for (int segment = first; segment < first + together; segment++) {
        long at = copy + (long) segment * SEGMENT_BYTES;
        if ((has >>> segment & 1) != 0 && !isAsRead(at, segment)) {
          problem("an image is not as the leaf: segment=" + segment, view.low);
        }
      }
    }
  }

  /** Compares the filter of a leaf, if there is one, with the keys of the leaf. */
  private void checkFilter() {
    boolean cachedFilter = false;
    boolean same = true;
    for (int segment = 0; segment < view.segments(); segment++) {
      long word = images.filter(view.entry, segment);
      cachedFilter |= word != LeafFilter.UNKNOWN;
      same &= word == filter.word(segment);
    }
    if (cachedFilter) {
      imagesFound++;
      if (!same) {
        problem("a filter is not as the leaf", view.low);
      }
    }
  }

  private boolean isAsRead(long copy, int segment) {
    long read = context.leaf + LeafLayout.segment(segment);
    return MemorySegment.mismatch(
            context.memory, copy, copy + SEGMENT_BYTES, context.memory, read, read + SEGMENT_BYTES)
        < 0;
  }

  private void bucket(long bucket) {
    if (!records.tryLock(bucket)) {
      problems.add("a bucket is left locked: bucket=" + bucket);
      return;
    }
    try {
      for (int way = 0; way < RecordCache.WAYS; way++) {
        if (records.kind(bucket, way) != RecordCache.FREE) {
          check(bucket, way);
        }
      }
    } finally {
      records.unlock(bucket);
    }
  }

  private void check(long bucket, int way) {
    long key = records.key(bucket, way);
    int kind = records.kind(bucket, way);
    if (!cached.add(key)) {
      problem("a key is cached twice", key);
    }
    if (!context.range.owns(key)) {
      problem("a key is cached that another compute server owns", key);
      return;
    }
    InLeaf leaf = inLeaves.get(key);
    InDelta delta = inDeltas.get(key);
    String problem =
        switch (kind) {
          case RecordCache.CLEAN, RecordCache.DIRTY ->
              ofLeaf(kind, records.slot(bucket, way), records.value(bucket, way), leaf, delta);
          case RecordCache.DELTA ->
              delta == null || !delta.isPut() || delta.value != records.value(bucket, way)
                  ? "is not as in the delta"
                  : null;
          case RecordCache.DELTA_NEWER ->
              delta == null || !delta.isPut() ? "is not in the delta" : null;
          case RecordCache.ABSENT ->
              (delta == null ? leaf != null : delta.isPut()) ? "is not absent" : null;
          default -> "is left BUSY or CLEANING";
        };
    if (problem != null) {
      problem(
          "a cached record %s: kind=%s, slot=%s, value=%s, leaf=%s, delta=%s"
              .formatted(
                  problem,
                  kind,
                  records.slot(bucket, way),
                  records.value(bucket, way),
                  leaf,
                  delta),
          key);
    }
    if (kind == RecordCache.DIRTY
        || kind == RecordCache.CLEANING
        || kind == RecordCache.DELTA_NEWER) {
      dirty.merge(directory.entryOf(key), 1, Integer::sum);
    }
  }

  private static @Nullable String ofLeaf(
      int kind, int slot, long value, @Nullable InLeaf leaf, @Nullable InDelta delta) {
    if (leaf == null) {
      return "is not in the leaf";
    }
    if (delta != null) {
      return "is in the delta as well";
    }
    if (leaf.isOtherThan(slot)) {
      return "has another slot in the leaf";
    }
    return kind == RecordCache.CLEAN && leaf.value != value ? "is not as in the leaf" : null;
  }

  private void checkDirty(int entry, int number) {
    int counted = LeafEntries.dirty(entries.control(entry));
    if (counted < Math.min(number, LeafEntries.DIRTY_MAX)) {
      problems.add(
          "a leaf's count of dirty records is too low: entry=%s, count=%s, records=%s"
              .formatted(entry, counted, number));
    }
  }

  private void problem(String text, long key) {
    problems.add(text + ": key=" + key + ", computeServer=" + context.number);
  }
}
