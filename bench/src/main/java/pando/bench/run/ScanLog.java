package pando.bench.run;

import pando.bench.workload.Batch;
import pando.bench.workload.Workload;
import pando.index.EntryVisitor;

/** The entries that a batch's scans visited, kept so that checking them is not measured. */
final class ScanLog implements EntryVisitor {
  /** Entries of a scan that are kept: one more than allowed, so that an excess is detected. */
  private static final int ENTRIES_MAX = Workload.SCAN_LENGTH_MAX + 1;

  private final long[] keys;
  private final long[] values;
  private final int[] ends = new int[Batch.CAPACITY];
  private int scans;
  private int size;

  /**
   * Creates an empty log.
   *
   * @param scansMax scans that a batch can have
   */
  ScanLog(int scansMax) {
    keys = new long[scansMax * ENTRIES_MAX];
    values = new long[scansMax * ENTRIES_MAX];
  }

  @Override
  public boolean visit(long key, long value) {
    keys[size] = key;
    values[size] = value;
    size++;
    return size < begin(scans) + ENTRIES_MAX;
  }

  void endScan() {
    ends[scans] = size;
    scans++;
  }

  void clear() {
    scans = 0;
    size = 0;
  }

  int begin(int scan) {
    return scan == 0 ? 0 : ends[scan - 1];
  }

  int end(int scan) {
    return ends[scan];
  }

  long key(int index) {
    return keys[index];
  }

  long value(int index) {
    return values[index];
  }
}
