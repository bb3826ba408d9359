package pando.bench.run;

import pando.bench.records.Ledger;
import pando.bench.records.Records;
import pando.bench.subject.Access;
import pando.bench.workload.Batch;
import pando.bench.workload.WorkloadOperation;

/** One client's operations on several keys at a time. Not thread-safe. */
final class Groups {
  private final Access access;
  private final Ledger ledger;
  private final Checker checker;
  private final long[] values = new long[Batch.CAPACITY];
  private final boolean[] found = new boolean[Batch.CAPACITY];
  private final int[] before = new int[Batch.CAPACITY];

  Groups(Access access, Ledger ledger, Checker checker) {
    this.access = access;
    this.ledger = ledger;
    this.checker = checker;
  }

  /** Runs some operations of a batch, of the same kind: lookups, which it checks, or stores. */
  void run(Batch batch, int from, int count) {
    if (batch.operation(from) == WorkloadOperation.STORE) {
      store(batch, from, count);
    } else {
      lookUp(batch, from, count);
    }
  }

  private void store(Batch batch, int from, int count) {
    for (int i = from; i < from + count; i++) {
      values[i] = Records.value(batch.key(i), 0);
    }
    access.putAll(batch.keys(), from, count, values);
    for (int i = 0; i < count; i++) {
      checker.stored();
    }
  }

  private void lookUp(Batch batch, int from, int count) {
    for (int i = from; i < from + count; i++) {
      before[i] = ledger.word(batch.record(i));
    }
    access.getAll(batch.keys(), from, count, values, found);
    for (int i = from; i < from + count; i++) {
      int after = ledger.word(batch.record(i));
      checker.lookup(batch.key(i), found[i], values[i], before[i], after);
    }
  }
}
