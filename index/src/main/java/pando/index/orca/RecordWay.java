package pando.index.orca;

import pando.fabric.Backoff;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.records.RecordCache;

/** The way of one key in the cache of records, under the locks of the buckets that may have it. */
class RecordWay {
  /** The kinds of a record whose key is there, one bit each. */
  static final int KINDS_PRESENT =
      1 << RecordCache.CLEAN
          | 1 << RecordCache.DIRTY
          | 1 << RecordCache.CLEANING
          | 1 << RecordCache.DELTA
          | 1 << RecordCache.DELTA_NEWER;

  final RecordCache records;
  final Backoff backoff;
  private final Directory directory;
  private final LeafEntries entries;

  /** Bucket that has the key, if there is one. */
  long bucket;

  /** Way of the bucket, {@link RecordCache#NONE} if the key is not there. */
  int way;

  /** The key that was locked last. */
  long key;

  /** The key's home bucket. */
  long home;

  /** Whether the twin of the home is locked, too. */
  boolean both;

  RecordWay(OrcaContext context) {
    this.records = context.records;
    this.backoff = context.worker.backoff();
    this.directory = context.directory;
    this.entries = directory.entries();
  }

  /** Returns whether a record of a kind says that its key is there. */
  static boolean isPresent(int kind) {
    return (KINDS_PRESENT >>> kind & 1) != 0;
  }

  /** Locks the buckets that may have a key, and looks for its way; returns whether there is one. */
  final boolean lock(long wanted) {
    key = wanted;
    home = records.home(wanted);
    both = records.lockPair(wanted, backoff);
    return look();
  }

  /** Looks for the key's way in the buckets that are locked; returns whether there is one. */
  final boolean look() {
    bucket = home;
    way = records.find(home, key);
    if (way == RecordCache.NONE && both) {
      bucket = RecordCache.twin(home);
      way = records.find(bucket, key);
    }
    return way != RecordCache.NONE;
  }

  /** Unlocks the buckets. */
  final void unlock() {
    if (both) {
      records.unlockBoth(home);
    } else {
      records.unlock(home);
    }
  }

  /**
   * Counts the record as newer than its leaf or its delta, at the leaf that the directory names
   * now. Called before it is newer.
   */
  final void dirty() {
    entries.addDirty(directory.entryOf(key));
  }

  /** Returns the kind of the way, {@link RecordCache#FREE} if the key is not there. */
  final int kind() {
    return way == RecordCache.NONE ? RecordCache.FREE : records.kind(bucket, way);
  }

  /** Returns the value of the way, which there must be. */
  final long value() {
    return records.value(bucket, way);
  }

  /** Sets the value of the way, which there must be. */
  final void setValue(long value) {
    records.setValue(bucket, way, value);
  }

  /** Returns the record's slot in its segment; the way must be there. */
  final int slot() {
    return records.slot(bucket, way);
  }

  /** Sets kind and slot of the way, which there must be. */
  final void setKind(int kind, int slot) {
    records.setState(bucket, way, kind, slot);
  }
}
