package pando.index.orca.records;

import pando.fabric.Backoff;

/**
 * What {@link RecordCache#find} found: a copy of one way, taken at one moment. Reused; belongs to
 * one thread.
 */
public final class Probe {
  /** Offset of the bucket that has the key; the key's home if no bucket has it. */
  public long bucket;

  /** The way of the bucket, or {@link RecordCache#NONE}. */
  public int way;

  /** The kind of the way, {@link RecordCache#FREE} if there is none. */
  public int kind;

  /** The record's slot in its segment, with its generation. */
  public int slot;

  /** The record's value. */
  public long value;

  /** Hits of records that had not been hit since they came, or since their count fell to 0. */
  public long tailHits;

  final Backoff backoff;

  /**
   * Creates a probe that has found nothing.
   *
   * @param backoff how the thread waits for a bucket that stays locked or goes on changing
   */
  public Probe(Backoff backoff) {
    this.backoff = backoff;
    setAbsent(0);
  }

  void set(long bucketOfWay, int wayOfKey, int state, long valueOfKey) {
    bucket = bucketOfWay;
    way = wayOfKey;
    kind = RecordCache.kindOf(state);
    slot = RecordCache.slotOf(state);
    value = valueOfKey;
  }

  void setAbsent(long home) {
    set(home, RecordCache.NONE, RecordCache.FREE, 0);
  }
}
