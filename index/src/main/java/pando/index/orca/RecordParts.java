package pando.index.orca;

import java.util.concurrent.atomic.LongAdder;
import pando.fabric.Worker;
import pando.index.orca.records.HomeTable;
import pando.index.orca.records.RecordCache;
import pando.index.session.Failures;

/** The cache of records as a holder of parts. */
final class RecordParts extends MeasuredParts {
  /*
   * First all records that have to move are cleaned where they are, by verbs that may fail: then
   * nothing has changed but that. Then each is in its leaf or its delta as well, so it may be moved
   * or dropped, in memory alone.
   *
   * Operations stand still meanwhile, so that is done for some ranges of hashes at a time. Between
   * such steps a part may have more ranges than another, which balance() evens out later.
   */

  private final PoolCosts costs;
  private final RecordCache records;
  private final LongAdder tailHits;
  private final int partsMin;

  /** Ranges that move while operations stand still: each takes a look at a part. */
  private final int rangesMax;

  private long admissions;
  private long evictions;
  private final Cleaner cleaner;
  private final OrcaContext context;
  private final Alone alone;
  private final long[] keys = new long[RecordCache.WAYS];
  private final long[] values = new long[RecordCache.WAYS];
  private final int[] kinds = new int[RecordCache.WAYS];
  private final int[] slots = new int[RecordCache.WAYS];
  private final int[] counts = new int[RecordCache.WAYS];

  /** Takes steps while no operation is under way. */
  interface Alone {
    /** Returns whether the step was taken: it is not where that cannot be had soon. */
    boolean take(Worker worker, Runnable step);
  }

  /**
   * Creates the holder.
   *
   * @param tailHits counts hits of records that were about to go, as their count was 0
   * @param bucketsMax buckets that are looked at while operations stand still, unless a part has
   *     more
   */
  RecordParts(
      OrcaContext context,
      PoolCosts costs,
      Alone alone,
      int partsMin,
      LongAdder tailHits,
      int bucketsMax) {
    this.costs = costs;
    this.context = context;
    this.alone = alone;
    this.records = context.records;
    this.partsMin = partsMin;
    this.tailHits = tailHits;
    long bucketsOfPart = (records.end(0) - records.first(0)) / RecordCache.BUCKET_BYTES;
    this.rangesMax = (int) Math.max(1, bucketsMax / bucketsOfPart);
    this.cleaner = new Cleaner(context);
  }

  @Override
  int parts() {
    return records.homes().partsInUse();
  }

  @Override
  int partsMin() {
    return partsMin;
  }

  /**
   * Hits count as far as records are evicted for others: where all fit, more room saves nothing.
   */
  @Override
  void measure() {
    long newAdmissions = context.use.admissions() - admissions;
    long newEvictions = context.use.evictions() - evictions;
    admissions += newAdmissions;
    evictions += newEvictions;
    double full = newAdmissions == 0 ? 0 : (double) newEvictions / newAdmissions;
    double saved = tailHits.sumThenReset() * full * costs.segment() / parts();
    note(saved, saved);
  }

  @Override
  public boolean has(int part) {
    return records.homes().isInUse(part);
  }

  @Override
  public int next() {
    int[] inUse = records.homes().inUse();
    return inUse[inUse.length - 1];
  }

  @Override
  public void empty(int part) {
    boolean moves = true;
    while (moves && records.homes().ranges(part) > rangesMax) {
      moves = moveAlone(records.homes().without(part, rangesMax));
    }
    clean(records.homes().without(part, rangesMax));
  }

  @Override
  public void expect(int part) {
    clean(records.homes().with(part, rangesMax));
  }

  /**
   * Moves some ranges from parts that have more to such that have fewer; returns whether there were
   * any.
   */
  @Override
  boolean balance() {
    HomeTable after = records.homes().balanced(rangesMax);
    return after != records.homes() && moveAlone(after);
  }

  /** Moves records while operations stand still; returns {@code false} if that cannot be had. */
  private boolean moveAlone(HomeTable after) {
    clean(after);
    return alone.take(context.worker, () -> move(after));
  }

  /** Cleans records that have to move: operations stand still for fewer later. */
  private void clean(HomeTable after) {
    for (int part : records.homes().partsThatLose(after)) {
      cleaner.cleanPart(part, (bucket, way) -> records.isStray(bucket, way, after));
    }
  }

  @Override
  public boolean release(int part) {
    if (records.homes().ranges(part) > rangesMax) {
      return false;
    }
    move(records.homes().without(part, rangesMax));
    return true;
  }

  @Override
  public void receive(int part) {
    records.clear(part);
    move(records.homes().with(part, rangesMax));
  }

  private void move(HomeTable after) {
    int[] parts = records.homes().partsThatLose(after);
    clean(after);
    for (int part : parts) {
      cleaner.checkClean(part, (bucket, way) -> records.isStray(bucket, way, after));
    }
    records.setHomes(after);
    Failures failures = new Failures();
    for (int part : parts) {
      for (long at = records.first(part); at < records.end(part); at += RecordCache.BUCKET_BYTES) {
        long bucket = at;
        failures.collect(() -> moveStrays(bucket));
      }
    }
    failures.rethrow();
  }

  /** Moves a bucket's records that belong elsewhere, and were hit; drops those that were not. */
  private void moveStrays(long bucket) {
    int strays = 0;
    records.lock(bucket, context.worker.backoff());
    for (int way = 0; way < RecordCache.WAYS; way++) {
      if (records.isStray(bucket, way, records.homes())) {
        keys[strays] = records.key(bucket, way);
        values[strays] = records.value(bucket, way);
        kinds[strays] = records.kind(bucket, way);
        slots[strays] = records.slot(bucket, way);
        counts[strays] = records.count(bucket, way);
        strays += counts[strays] > 0 ? 1 : 0;
        records.setState(bucket, way, RecordCache.FREE, 0);
      }
    }
    records.unlock(bucket);
    for (int i = 0; i < strays; i++) {
      put(i);
    }
  }

  private void put(int stray) {
    long home = records.home(keys[stray]);
    records.lock(home, context.worker.backoff());
    int way = records.victim(home);
    if (way != RecordCache.NONE) {
      records.setKey(home, way, keys[stray]);
      records.setValue(home, way, values[stray]);
      records.setCount(home, way, counts[stray]);
      records.setState(home, way, kinds[stray], slots[stray]);
    }
    records.unlock(home);
  }
}
