package pando.bench.run;

import pando.bench.records.Ledger;
import pando.bench.subject.Access;
import pando.bench.workload.Batch;

/** One client's lookups of several keys at a time. Not thread-safe. */
final class GroupLookups {
  private final Access access;
  private final Ledger ledger;
  private final Checker checker;
  private final long[] values = new long[Batch.CAPACITY];
  private final boolean[] found = new boolean[Batch.CAPACITY];
  private final int[] before = new int[Batch.CAPACITY];

  GroupLookups(Access access, Ledger ledger, Checker checker) {
    this.access = access;
    this.ledger = ledger;
    this.checker = checker;
  }

  /** Looks up the records of some operations of a batch, and checks what it finds. */
  void run(Batch batch, int from, int count) {
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
