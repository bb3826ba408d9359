package pando.bench.cluster;

/** What a compute process makes of a request; a text follows all but the first. */
enum Answer {
  /** Did what it says; results follow, if it has any. */
  DONE,
  /** The arguments of the benchmark are of no use. */
  REFUSED,
  /** Failed. */
  FAILED
}
