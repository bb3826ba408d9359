package pando.index.orca;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.LeafView;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.leaf.LeafReader;
import pando.index.orca.records.Probe;
import pando.index.orca.records.RecordCache;

/**
 * The records of leaves that merge, by key, as they are to be: with the changes of their deltas and
 * the newer values of cached records. The leaves are held while they are added.
 */
final class MergedRecords {
  /** Three leaves and their deltas. */
  private static final int RECORDS_MAX = 3 * 512;

  final long[] keys = new long[RECORDS_MAX];
  final long[] values = new long[RECORDS_MAX];

  /** Whether the record is to be looked for in the cache, and then whether it was there. */
  final boolean[] cached = new boolean[RECORDS_MAX];

  private final OrcaContext context;
  private final Worker worker;
  private final MemorySegment memory;
  private final Deltas deltas;
  private final RecordCache records;
  private final Probe probe;
  private final LeafReader reader = new LeafReader();
  private final long[] leafKeys = new long[LeafLayout.RECORDS_MAX];
  private final long[] leafValues = new long[LeafLayout.RECORDS_MAX];
  private int count;

  /** What was read ahead, so that the reads are not left out. */
  @SuppressWarnings("unused")
  private long touched;

  /** Records of the first leaf, and the place of the first of them. */
  private int firstCount;

  private int firstFrom;
  private boolean shrink;
  private boolean ascend;

  MergedRecords(OrcaContext context) {
    this.context = context;
    this.worker = context.worker;
    this.memory = context.memory;
    this.deltas = context.deltas;
    this.records = context.records;
    this.probe = new Probe(worker.backoff());
  }

  /** Returns the number of records. */
  int count() {
    return count;
  }

  /** Returns the number of records with a lower key. */
  int countBelow(long key) {
    int at = Arrays.binarySearch(keys, 0, count, key);
    return at < 0 ? -1 - at : at;
  }

  /** Returns whether the first leaf has fewer records than before. */
  boolean shrink() {
    return shrink;
  }

  /** Returns whether all changes of the first leaf are of keys behind its records. */
  boolean ascend() {
    return ascend;
  }

  /**
   * READs the first leaf, and takes its records in place of all others.
   *
   * @throws CorruptNodeException if the leaf is damaged
   */
  void start(LeafView leaf) {
    count = 0;
    int before = append(leaf);
    firstCount = count;
    firstFrom = 0;
    shrink = count < before;
    int delta = leaf.delta();
    ascend = delta != 0 && before > 0 && deltas.key(delta, 0) > leafKeys[before - 1];
  }

  /**
   * READs the leaf above those that are here, and adds its records.
   *
   * @throws CorruptNodeException if the leaf is damaged
   */
  void addAbove(LeafView leaf) {
    append(leaf);
  }

  /**
   * READs the leaf below those that are here, and adds its records.
   *
   * @throws CorruptNodeException if the leaf is damaged
   */
  void addBelow(LeafView leaf) {
    int above = count;
    append(leaf);
    rotate(above);
    firstFrom += count - above;
  }

  /** Forgets the records of all leaves but the first. */
  void keepFirst() {
    System.arraycopy(keys, firstFrom, keys, 0, firstCount);
    System.arraycopy(values, firstFrom, values, 0, firstCount);
    System.arraycopy(cached, firstFrom, cached, 0, firstCount);
    count = firstCount;
    firstFrom = 0;
  }

  /** READs a leaf, and adds its records behind the others; returns how many it has in the pool. */
  private int append(LeafView leaf) {
    int found = read(leaf);
    int delta = leaf.delta();
    int changes = delta == 0 ? 0 : deltas.count(delta);
    int from = 0;
    for (int change = 0; change < changes; change++) {
      long key = deltas.key(delta, change);
      int to = from;
      while (to < found && leafKeys[to] < key) {
        to++;
      }
      append(from, to);
      append(key, delta, change);
      from = to < found && leafKeys[to] == key ? to + 1 : to;
    }
    append(from, found);
    return found;
  }

  /**
   * Takes the values of cached records: of all, or of those that deltas had. It takes no lock. A
   * thread that caches a record looks whether the leaf merges while it holds the bucket's lock. A
   * look here, after the leaf was marked, waits for that lock. So one of the two sees the other.
   */
  void takeCached(boolean all) {
    VarHandle.fullFence();
    touched = touch(all);
    for (int i = 0; i < count; i++) {
      cached[i] =
          (all || cached[i]) && records.peek(keys[i], probe) && RecordWay.isPresent(probe.kind);
      values[i] = cached[i] ? probe.value : values[i];
    }
  }

  /** Reads from the buckets that are going to be looked at, so that all are waited for at once. */
  private long touch(boolean all) {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += all || cached[i] ? records.touch(keys[i]) : 0;
    }
    return sum;
  }

  private int read(LeafView leaf) {
    int bytes = LeafLayout.bytes(leaf.segments());
    worker.read(leaf.address(), context.leaf, bytes);
    int records =
        reader.read(
            memory,
            context.leaf,
            leaf.address(),
            leaf.segments(),
            leaf.low,
            leaf.high,
            leaf.stamp,
            leafKeys,
            leafValues);
    if (records < 0) {
      throw new CorruptNodeException(leaf.address(), String.valueOf(reader.problem()));
    }
    return records;
  }

  /** Appends records of the leaf. */
  private void append(int from, int to) {
    int added = to - from;
    System.arraycopy(leafKeys, from, keys, count, added);
    System.arraycopy(leafValues, from, values, count, added);
    Arrays.fill(cached, count, count + added, false);
    count += added;
  }

  private void append(long key, int delta, int change) {
    if (deltas.kind(delta, change) != Deltas.TOMBSTONE) {
      keys[count] = key;
      cached[count] = true;
      values[count++] = deltas.value(delta, change);
    }
  }

  /** Puts the records from a place on before those that are before that place. */
  private void rotate(int from) {
    reverse(0, from);
    reverse(from, count);
    reverse(0, count);
  }

  private void reverse(int from, int to) {
    for (int i = from, j = to - 1; i < j; i++, j--) {
      swap(i, j);
    }
  }

  private void swap(int i, int j) {
    long key = keys[i];
    long value = values[i];
    boolean wasCached = cached[i];
    keys[i] = keys[j];
    values[i] = values[j];
    cached[i] = cached[j];
    keys[j] = key;
    values[j] = value;
    cached[j] = wasCached;
  }
}
