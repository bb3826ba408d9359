package pando.bench.simulate;

import pando.bench.records.Records;
import pando.bench.run.WrongResultException;
import pando.bench.workload.Batch;
import pando.bench.workload.OperationStream;
import pando.bench.workload.Workload;
import pando.index.Session;
import pando.sim.Cluster;

/** One client of a workload: draws operations, runs them in virtual time, checks what it finds. */
final class SimClient {
  private static final int BATCH = 64;

  private final Cluster cluster;
  private final Session session;
  private final OperationStream stream;
  private final Sequences sequences;
  private final long scanEnd;
  private final Meter meter;
  private final Batch batch = new Batch();
  private long verified;
  private long last;

  SimClient(
      Cluster cluster,
      Session session,
      OperationStream stream,
      Sequences sequences,
      long scanEnd,
      Meter meter) {
    this.cluster = cluster;
    this.session = session;
    this.stream = stream;
    this.sequences = sequences;
    this.scanEnd = scanEnd;
    this.meter = meter;
  }

  /** Runs operations that are not measured. */
  void warmUp(int operations) {
    stream.fill(batch, operations);
    for (int i = 0; i < operations; i++) {
      operate(i);
    }
  }

  /** Runs operations until the time is over. */
  void run() {
    while (true) {
      stream.fill(batch, BATCH);
      for (int i = 0; i < BATCH; i++) {
        if (!meter.isRunning()) {
          return;
        }
        long start = cluster.nanos();
        long trips = cluster.roundTrips();
        cluster.chargeOperation();
        operate(i);
        cluster.settle();
        meter.record(start, cluster.roundTrips() - trips);
      }
    }
  }

  long verified() {
    return verified;
  }

  private void operate(int index) {
    long key = batch.key(index);
    switch (batch.operation(index)) {
      case LOOKUP -> check(key, session.get(key));
      case UPDATE -> {
        int sequence = sequences.next(batch.record(index));
        check(key, session.update(key, Records.value(key, sequence)));
      }
      case INSERT -> {
        if (!session.putIfAbsent(key, Records.value(key, 0))) {
          throw new WrongResultException("a record to insert is already there: key=" + key);
        }
      }
      case SCAN -> scan(key);
    }
  }

  private void check(long key, boolean found) {
    if (!found) {
      throw new WrongResultException("a record is missing: key=" + key);
    }
    sequences.check(key, session.value());
    verified++;
  }

  private void scan(long from) {
    last = from;
    session.scan(from, scanEnd, Workload.SCAN_RECORDS, this::visit);
  }

  private boolean visit(long key, long value) {
    if (key < last) {
      throw new WrongResultException("a scan is out of order: key=" + key + ", after=" + last);
    }
    last = key;
    sequences.check(key, value);
    verified++;
    return true;
  }
}
