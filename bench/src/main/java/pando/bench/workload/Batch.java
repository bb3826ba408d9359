package pando.bench.workload;

/**
 * Operations drawn in advance, so that drawing them is not measured. Small enough to stay in the
 * processor's cache.
 */
public final class Batch {
  /** Maximum number of operations of a batch. */
  public static final int CAPACITY = 256;

  private final WorkloadOperation[] operations = new WorkloadOperation[CAPACITY];
  private final long[] records = new long[CAPACITY];
  private final long[] keys = new long[CAPACITY];
  private final int[] lengths = new int[CAPACITY];
  private int size;

  /** Creates an empty batch. */
  public Batch() {}

  /** Returns the number of operations. */
  public int size() {
    return size;
  }

  /** Returns an operation. */
  public WorkloadOperation operation(int index) {
    return operations[index];
  }

  /** Returns the number of an operation's record. */
  public long record(int index) {
    return records[index];
  }

  /** Returns the key of an operation's record. */
  public long key(int index) {
    return keys[index];
  }

  /** Returns the keys of all operations, which the caller must not change. */
  public long[] keys() {
    return keys;
  }

  /** Returns the number of records that an operation reads if it is a scan. */
  public int length(int index) {
    return lengths[index];
  }

  void clear() {
    size = 0;
  }

  void add(WorkloadOperation operation, long record, long key, int length) {
    operations[size] = operation;
    records[size] = record;
    keys[size] = key;
    lengths[size] = length;
    size++;
  }
}
