package pando.bench.cluster;

/** The requests of the parent to a compute process, one at a time. */
enum ProcessRequest {
  /** Create the index and load it. */
  LOAD,
  /** Join the index that another has loaded. */
  JOIN,
  /** Run a workload, whose name follows: warm up, answer, wait for {@link #GO}, measure. */
  RUN,
  /** Start the measured part. */
  GO,
  /** Read all entries of the process's own part again. */
  AUDIT,
  /** Answer with the bytes of nodes in the pool, and those in caches. */
  BYTES,
  /** Write back and end. */
  END
}
