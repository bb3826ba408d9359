package pando.bench.workload;

/** What a workload is made of. */
public enum WorkloadOperation {
  /** Gets the value of a record that is there. */
  LOOKUP,
  /** Replaces the value of a loaded record. */
  UPDATE,
  /** Gets the value of a loaded record, and then replaces it. */
  MODIFY,
  /** Stores a record that is not there. */
  INSERT,
  /** Stores a record that is not there, without asking whether it is. */
  STORE,
  /** Reads records in ascending order from one that is there. */
  SCAN;

  /** Returns whether the operation adds a record. */
  public boolean adds() {
    return this == INSERT || this == STORE;
  }
}
