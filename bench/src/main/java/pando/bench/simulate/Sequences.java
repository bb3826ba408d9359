package pando.bench.simulate;

import pando.bench.records.Records;
import pando.bench.run.WrongResultException;
import pando.bench.workload.Inserts;

/** Knows which updates of each record have begun, and so which values can be found. */
final class Sequences {
  private final Records records;
  private final int[] begun;
  private final Inserts inserts;

  Sequences(Records records, long loaded, Inserts inserts) {
    this.records = records;
    this.begun = new int[Math.toIntExact(loaded)];
    this.inserts = inserts;
  }

  /** Returns the sequence of a record's next update, which begins now. */
  int next(long record) {
    return ++begun[(int) record];
  }

  /**
   * Checks a value that was found.
   *
   * @throws WrongResultException where nobody stored it
   */
  void check(long key, long value) {
    long record = records.record(key);
    long sequence = Records.sequence(key, value);
    long most = record >= 0 && record < begun.length ? begun[(int) record] : 0;
    if (!inserts.mayExist(record) || sequence < 0 || sequence > most) {
      throw new WrongResultException(
          "a value was never stored: key="
              + key
              + ", value="
              + value
              + ", record="
              + record
              + ", seed="
              + records.seed());
    }
  }
}
