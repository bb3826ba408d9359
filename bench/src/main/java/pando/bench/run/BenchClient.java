package pando.bench.run;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import pando.bench.records.Ledger;
import pando.bench.records.Records;
import pando.bench.subject.Access;
import pando.bench.workload.Batch;
import pando.bench.workload.OperationStream;
import pando.bench.workload.Workload;
import pando.bench.workload.WorkloadOperation;

/**
 * One client: draws a batch of operations, runs it against the clock, and checks the answers. Only
 * the operations themselves, and the comparison of single values, are in the measured time. Not
 * thread-safe.
 */
final class BenchClient {
  /**
   * One operation in so many is timed by itself, as reading the clock costs as much as a cache hit.
   */
  private static final int LATENCY_SAMPLE = 16;

  /**
   * Scans of a batch: their entries are kept until it ends and must stay in the processor's cache.
   */
  private static final int SCAN_BATCH = 16;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final Access access;
  private final OperationStream stream;
  private final Ledger ledger;
  private final Checker checker;
  private final LongConsumer progress;
  private final Activity activity;
  private final long scanEnd;
  private final int batchSize;
  private final Batch batch = new Batch();
  private final ScanLog scans;
  private final Groups groups;
  private final int keysAtOnce;
  private final boolean updates;

  /** The ledger's words of a batch's records before its operations. */
  private final int[] words = new int[Batch.CAPACITY];

  BenchClient(
      Access access,
      OperationStream stream,
      Ledger ledger,
      Checker checker,
      Workload workload,
      long scanEnd,
      LongConsumer progress,
      Activity activity) {
    this.access = access;
    this.stream = stream;
    this.ledger = ledger;
    this.checker = checker;
    this.scanEnd = scanEnd;
    this.progress = progress;
    this.activity = activity;
    batchSize = workload.scans() ? SCAN_BATCH : Batch.CAPACITY;
    scans = new ScanLog(workload.scans() ? SCAN_BATCH : 0);
    groups = new Groups(access, ledger, checker);
    keysAtOnce = workload.keysAtOnce();
    updates = workload.updates();
  }

  /**
   * Runs the next operations.
   *
   * @param operations how many
   * @param nanosMax time in operations after which to end early
   * @param stopped returns whether to end early
   */
  Measurement run(long operations, long nanosMax, BooleanSupplier stopped) {
    Measurement measurement = new Measurement();
    activity.begin(measurement);
    try {
      run(measurement, operations, nanosMax, stopped);
    } finally {
      activity.end(measurement);
    }
    return measurement;
  }

  private void run(
      Measurement measurement, long operations, long nanosMax, BooleanSupplier stopped) {
    long verifiedBefore = checker.verified();
    long allocatedBefore = THREADS.getCurrentThreadAllocatedBytes();
    long nanos = 0;
    while (measurement.operations < operations && nanos < nanosMax && !stopped.getAsBoolean()) {
      draw((int) Math.min(batchSize, operations - measurement.operations));
      long start = System.nanoTime();
      if (keysAtOnce == 1) {
        runBatch(measurement);
      } else {
        runGroups(measurement);
      }
      nanos += System.nanoTime() - start;
      checkScans();
      measurement.operations += batch.size();
      progress.accept(batch.size());
    }
    measurement.allocatedBytes = THREADS.getCurrentThreadAllocatedBytes() - allocatedBefore;
    measurement.throughput = nanos == 0 ? 0 : measurement.operations * 1e9 / nanos;
    measurement.verified = checker.verified() - verifiedBefore;
  }

  /** Draws a batch, and reads the ledger's words, so that they are in the processor's cache. */
  private void draw(int size) {
    stream.fill(batch, size);
    for (int i = 0; i < size; i++) {
      if (!batch.operation(i).adds()) {
        words[i] = ledger.word(batch.record(i));
      }
    }
  }

  private void runBatch(Measurement measurement) {
    for (int i = 0; i < batch.size(); i++) {
      boolean timed = i % LATENCY_SAMPLE == 0;
      long start = timed ? System.nanoTime() : 0;
      runOne(i);
      if (timed) {
        measurement.recordLatency(System.nanoTime() - start);
      }
    }
  }

  /** The latency of an operation is its share of the time that its group takes. */
  private void runGroups(Measurement measurement) {
    for (int i = 0; i < batch.size(); i += keysAtOnce) {
      int keys = Math.min(keysAtOnce, batch.size() - i);
      long start = System.nanoTime();
      groups.run(batch, i, keys);
      measurement.recordLatency((System.nanoTime() - start) / keys);
    }
  }

  private void runOne(int index) {
    long record = batch.record(index);
    long key = batch.key(index);
    switch (batch.operation(index)) {
      case LOOKUP -> lookup(record, key);
      case UPDATE -> update(record, key);
      case MODIFY -> {
        lookup(record, key);
        update(record, key);
      }
      case INSERT -> checker.insert(key, access.insert(key, Records.value(key, 0)));
      case STORE -> {
        access.store(key, Records.value(key, 0));
        checker.stored();
      }
      case SCAN -> {
        access.scan(key, scanEnd, batch.length(index), scans);
        scans.endScan();
      }
    }
  }

  private void lookup(long record, long key) {
    int before = ledger.word(record);
    boolean found = access.get(key);
    checker.lookup(key, found, access.value(), before, ledger.word(record));
  }

  private void update(long record, long key) {
    int sequence = ledger.beginUpdate(record);
    try {
      boolean found = access.update(key, Records.value(key, sequence));
      checker.update(key, found, access.value(), sequence);
    } finally {
      ledger.endUpdate(record);
    }
  }

  private void checkScans() {
    for (int i = 0, scan = 0; i < batch.size(); i++) {
      if (batch.operation(i) == WorkloadOperation.SCAN) {
        if (updates) {
          checker.scanBesideUpdates(batch.key(i), batch.length(i), scans, scan++, words[i]);
        } else {
          checker.scan(batch.key(i), batch.length(i), scans, scan++);
        }
      }
    }
    scans.clear();
  }
}
