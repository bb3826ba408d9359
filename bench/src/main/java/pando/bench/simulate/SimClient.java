package pando.bench.simulate;

import java.util.function.Supplier;
import pando.bench.records.Records;
import pando.bench.run.ScanCheck;
import pando.bench.workload.Batch;
import pando.bench.workload.OperationStream;
import pando.bench.workload.WorkloadOperation;
import pando.cli.WrongResultException;
import pando.index.Session;
import pando.sim.Cluster;

/**
 * One client of a workload: draws operations, runs them in virtual time, and checks what it finds.
 *
 * <p>A lookup and an update find their record, with a value that is not stale and that was stored
 * ({@link Sequences}); an insert finds none. A scan begins with its record, its keys ascend, it is
 * as long as it should be, and each of its values was stored.
 */
final class SimClient {
  private static final int BATCH = 64;

  private final int number;
  private final Cluster cluster;
  private Session session;
  private final OperationStream stream;
  private final Sequences sequences;
  private final ScanCheck scans;
  private final long scanEnd;
  private final Meter meter;
  private final int keysAtOnce;
  private final Batch batch = new Batch();
  private final long[] values = new long[Batch.CAPACITY];
  private final boolean[] found = new boolean[Batch.CAPACITY];
  private final int[] least = new int[Batch.CAPACITY];
  private long inserted;

  /**
   * Creates a client.
   *
   * @param scanEnd greatest key that scans may read
   * @param keysAtOnce keys that are looked up, or stored, together; 1 if each is by itself
   */
  SimClient(
      int number,
      Cluster cluster,
      Session session,
      OperationStream stream,
      Sequences sequences,
      ScanCheck scans,
      long scanEnd,
      int keysAtOnce,
      Meter meter) {
    this.number = number;
    this.cluster = cluster;
    this.session = session;
    this.stream = stream;
    this.sequences = sequences;
    this.scans = scans;
    this.scanEnd = scanEnd;
    this.keysAtOnce = keysAtOnce;
    this.meter = meter;
  }

  /** Goes on with another session; the one before is closed. */
  void useInstead(Supplier<? extends Session> other) {
    session.close();
    session = other.get();
  }

  /** Runs operations that are not measured. */
  void warmUp(int operations) {
    stream.fill(batch, operations);
    for (int i = 0; i < operations; i += keysAtOnce) {
      operate(i, Math.min(keysAtOnce, operations - i));
    }
  }

  /** Runs operations until the time is over. */
  void run() {
    int size = Math.max(BATCH, keysAtOnce);
    while (true) {
      stream.fill(batch, size);
      for (int i = 0; i < size; i += keysAtOnce) {
        if (!meter.isRunning()) {
          return;
        }
        long start = cluster.nanos();
        long trips = cluster.roundTrips();
        search(batch.operation(i));
        operate(i, keysAtOnce);
        cluster.settle();
        meter.record(start, cluster.roundTrips() - trips, keysAtOnce);
      }
    }
  }

  /**
   * Uses the core for the search of an operation, or of several, before it, so that no lock is held
   * for this time.
   */
  private void search(WorkloadOperation operation) {
    for (int i = 0; i < keysAtOnce; i++) {
      cluster.chargeOperation();
    }
    if (operation == WorkloadOperation.MODIFY) {
      // Its update searches again.
      cluster.chargeOperation();
    }
    cluster.settle();
  }

  private void operate(int index, int count) {
    if (keysAtOnce > 1) {
      if (batch.operation(index) == WorkloadOperation.STORE) {
        putAll(index, count);
      } else {
        getAll(index, count);
      }
      return;
    }
    long record = batch.record(index);
    long key = batch.key(index);
    switch (batch.operation(index)) {
      case LOOKUP -> lookup(record, key);
      case UPDATE -> update(record, key);
      case MODIFY -> {
        lookup(record, key);
        update(record, key);
      }
      case INSERT -> insert(key);
      case STORE -> {
        session.store(key, Records.value(key, 0));
        inserted++;
      }
      case SCAN -> scan(key, batch.length(index));
    }
  }

  private void lookup(long record, long key) {
    int least = sequences.least(record);
    checkFound(key, session.get(key));
    sequences.check(key, session.value(), least);
  }

  private void getAll(int from, int count) {
    for (int i = from; i < from + count; i++) {
      least[i] = sequences.least(batch.record(i));
    }
    session.getAll(batch.keys(), from, count, values, found);
    for (int i = from; i < from + count; i++) {
      checkFound(batch.key(i), found[i]);
      sequences.check(batch.key(i), values[i], least[i]);
    }
  }

  private void putAll(int from, int count) {
    for (int i = from; i < from + count; i++) {
      values[i] = Records.value(batch.key(i), 0);
    }
    session.putAll(batch.keys(), from, count, values);
    inserted += count;
  }

  private void update(long record, long key) {
    int least = sequences.least(record);
    long stored = Records.value(key, sequences.beginUpdate(number, record));
    checkFound(key, session.update(key, stored));
    sequences.endUpdate(number);
    if (sequences.areDistinct() && session.value() == stored) {
      throw new WrongResultException("an update found its own value: key=" + key);
    }
    sequences.check(key, session.value(), least);
  }

  private static void checkFound(long key, boolean found) {
    if (!found) {
      throw new WrongResultException("a record is missing: key=" + key);
    }
  }

  private void insert(long key) {
    if (!session.putIfAbsent(key, Records.value(key, 0))) {
      throw new WrongResultException("a record to insert is already there: key=" + key);
    }
    inserted++;
  }

  /** Returns how many records it has inserted. */
  long inserted() {
    return inserted;
  }

  private void scan(long from, int length) {
    scans.begin(from, length);
    session.scan(from, scanEnd, length, this::visit);
    scans.end();
  }

  private boolean visit(long key, long value) {
    scans.entry(key);
    // For keys other than the first it is not known which values were stale when the scan began.
    sequences.check(key, value, 0);
    return true;
  }
}
