package pando.bench.simulate;

import pando.bench.keys.KeySet;
import pando.bench.records.Records;
import pando.bench.workload.Distribution;
import pando.bench.workload.Values;
import pando.sim.ClusterOptions;

/**
 * The clients of a simulation, their records, and its length in virtual time.
 *
 * @param cluster the cluster, and the seed of all randomness; the size of its pool is adjusted to
 *     the records
 * @param threads of each compute server, each a core
 * @param coroutines clients of each thread
 * @param keys of the records
 * @param values that updates write
 * @param records that are there to choose from, or locks
 * @param distribution of the choice
 * @param theta skew of the Zipfian distributions
 * @param nanos virtual time that is measured
 */
public record SimPlan(
    ClusterOptions cluster,
    int threads,
    int coroutines,
    KeySet keys,
    Values values,
    long records,
    Distribution distribution,
    double theta,
    long nanos) {

  /** Returns the number of clients, which are numbered server by server and thread by thread. */
  public int clients() {
    return cluster.computeServers() * threads * coroutines;
  }

  /** Returns the records to load, and to insert from. */
  Records supply() {
    return keys.records(records, cluster.seed());
  }

  /** Returns the compute server of a client. */
  int serverOf(int client) {
    return client / (threads * coroutines);
  }
}
