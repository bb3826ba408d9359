package pando.index.orca;

import pando.index.orca.records.HomeTable;
import pando.index.orca.records.RecordCache;

/**
 * Moves parts of a compute server's memory between records and deltas. No operation may be under
 * way.
 */
final class PartMoves {
  /*
   * First all records that have to move are cleaned where they are, by verbs that may fail: then
   * nothing has changed but that. Then each is in its leaf or its delta as well, so it may be moved
   * or dropped, in memory alone.
   */

  private final RecordCache records;
  private final Cleaner cleaner;
  private final OrcaContext context;
  private final long[] keys = new long[RecordCache.WAYS];
  private final long[] values = new long[RecordCache.WAYS];
  private final int[] kinds = new int[RecordCache.WAYS];
  private final int[] slots = new int[RecordCache.WAYS];
  private final int[] counts = new int[RecordCache.WAYS];

  PartMoves(OrcaContext context) {
    this.context = context;
    this.records = context.server.records;
    this.cleaner = new Cleaner(context);
  }

  /** Takes a part, not the only one, from the cache of records, and empties it. */
  void take(int part) {
    move(records.homes().without(part));
  }

  /** Gives a part to the cache of records. */
  void give(int part) {
    records.clear(part);
    move(records.homes().with(part));
  }

  private void move(HomeTable after) {
    HomeTable before = records.homes();
    int[] parts = before.partsThatLose(after);
    for (int part : parts) {
      cleaner.cleanPart(part, (bucket, way) -> records.isStray(bucket, way, after));
    }
    records.setHomes(after);
    for (int part : parts) {
      for (long at = records.first(part); at < records.end(part); at += RecordCache.BUCKET_BYTES) {
        moveStrays(at);
      }
    }
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
        records.setState(bucket, way, RecordCache.FREE, 0, 0);
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
      records.setState(home, way, kinds[stray], slots[stray], 0);
    }
    records.unlock(home);
  }
}
