package pando.bench.workload;

/** What a workload is made of. */
public enum Operation {
  /** Gets the value of a loaded record. */
  LOOKUP,
  /** Replaces the value of a loaded record. */
  UPDATE,
  /** Stores a record that is not there. */
  INSERT,
  /** Reads {@link Workload#SCAN_RECORDS} records in ascending order from a loaded one. */
  SCAN
}
