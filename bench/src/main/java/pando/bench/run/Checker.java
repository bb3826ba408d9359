package pando.bench.run;

import pando.bench.records.Ledger;
import pando.bench.records.Records;
import pando.bench.workload.Inserts;
import pando.cli.WrongResultException;

/** Checks one client's answers, and counts them. Not thread-safe. */
final class Checker {
  private final Dataset dataset;
  private final Inserts inserts;
  private final ScanCheck scans;
  private long verified;
  private long inserted;

  Checker(Dataset dataset, Inserts inserts) {
    this.dataset = dataset;
    this.inserts = inserts;
    scans = new ScanCheck(dataset.lastKey(), dataset.records().seed());
  }

  /** Returns the number of values that were checked and right. */
  long verified() {
    return verified;
  }

  /** Returns the number of records inserted. */
  long inserted() {
    return inserted;
  }

  /** Checks a lookup of a record that is there, whose ledger word was read before and after. */
  void lookup(long key, boolean found, long value, int before, int after) {
    if (!found) {
      throw wrong("a record is missing", "key=" + key);
    }
    int first = Ledger.finished(before);
    if (value != Records.value(key, first)) {
      checkSequence(key, value, first, Ledger.begun(after));
    }
    verified++;
  }

  /** Checks what an update found in place of the value of its own sequence. */
  void update(long key, boolean found, long replaced, int sequence) {
    if (!found) {
      throw wrong("a record to update is missing", "key=" + key);
    }
    if (replaced != Records.value(key, sequence - 1)) {
      checkSequence(key, replaced, sequence - 1, sequence - 1);
    }
    verified++;
  }

  /** Checks an insert. */
  void insert(long key, boolean wasAbsent) {
    if (!wasAbsent) {
      throw wrong("a record to insert is already there", "key=" + key);
    }
    inserted++;
  }

  /** Counts a record that was stored without an answer. */
  void stored() {
    inserted++;
  }

  /** Checks a scan of so many records, none of which is updated, from the key of one. */
  void scan(long from, int length, ScanLog log, int scan) {
    scan(from, length, log, scan, this::entry);
  }

  /**
   * Checks a scan of so many records, which clients update, from the key of one. Of the others it
   * is not known which values were old when the scan began.
   *
   * @param before the ledger's word of the first record before the scan
   */
  void scanBesideUpdates(long from, int length, ScanLog log, int scan, int before) {
    scan(
        from,
        length,
        log,
        scan,
        (key, value) -> entry(key, value, key == from ? Ledger.finished(before) : 0));
  }

  private void scan(long from, int length, ScanLog log, int scan, Entry entry) {
    scans.begin(from, length);
    for (int i = log.begin(scan); i < log.end(scan); i++) {
      scans.entry(log.key(i));
      entry.check(log.key(i), log.value(i));
    }
    scans.end();
  }

  /** Checks an entry. */
  private interface Entry {
    void check(long key, long value);
  }

  /** Checks an entry that clients update, whose sequence is not less than one. */
  private void entry(long key, long value, int least) {
    long record = existing(key, value);
    checkSequence(key, value, least, Ledger.begun(dataset.ledger().word(record)));
    verified++;
  }

  /** Checks an entry that no client is updating. */
  void entry(long key, long value) {
    int sequence = dataset.sequence(existing(key, value));
    if (value != Records.value(key, sequence)) {
      checkSequence(key, value, sequence, sequence);
    }
    verified++;
  }

  /** Returns the record of a key that was found. */
  private long existing(long key, long value) {
    long record = dataset.records().record(key);
    if (!inserts.mayExist(record)) {
      throw wrong("a record was never stored", "key=" + key + ", value=" + value);
    }
    return record;
  }

  private void checkSequence(long key, long value, int first, int last) {
    long sequence = Records.sequence(key, value);
    if (sequence < first || sequence > last) {
      throw wrong(
          "a record has a wrong value",
          "key="
              + key
              + ", value="
              + value
              + ", expected="
              + Records.value(key, last)
              + ", sequence="
              + (sequence == (int) sequence && sequence >= 0 ? sequence : "none")
              + ", expectedSequence="
              + (first == last ? "" + first : first + ".." + last));
    }
  }

  private WrongResultException wrong(String what, String values) {
    return new WrongResultException(what + ": " + values + ", seed=" + dataset.records().seed());
  }
}
