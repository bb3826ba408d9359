package pando.bench.cluster;

/** What the parent asks of a compute process, one at a time. */
enum Request {
  /** Create the index and load it. */
  LOAD,
  /** Join the index that another has loaded. */
  JOIN,
  /** Run a workload, whose name follows: warm up, answer, wait for {@link #GO}, measure. */
  RUN,
  /** Begin what is measured. */
  GO,
  /** Read all of the own part once more. */
  AUDIT,
  /** Tell the bytes that nodes take, and those in caches. */
  BYTES,
  /** Write back and end. */
  END
}
