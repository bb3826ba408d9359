package pando.bench.run;

import pando.bench.records.Ledger;
import pando.bench.records.Records;

/** The records that were loaded, and the updates made to them. Thread-safe. */
final class Dataset {
  private final Records records;
  private final long loaded;
  private final Ledger ledger;
  private final long lastKey;

  Dataset(Records records, long loaded, Share share) {
    this.records = records;
    this.loaded = loaded;
    ledger = new Ledger(loaded);
    lastKey = records.greatestKey(loaded, share.low(), share.high());
  }

  Records records() {
    return records;
  }

  /** Returns the number of records that were loaded. */
  long loaded() {
    return loaded;
  }

  Ledger ledger() {
    return ledger;
  }

  /** Returns the greatest key that was loaded in the part that this process has. */
  long lastKey() {
    return lastKey;
  }

  /** Returns the sequence of a record that no client is updating; inserted ones have 0. */
  int sequence(long record) {
    return record < loaded && ledger.isUsed() ? Ledger.finished(ledger.word(record)) : 0;
  }
}
