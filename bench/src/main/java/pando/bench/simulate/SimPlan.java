package pando.bench.simulate;

import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.dex.DexOptions;
import pando.sim.ClusterOptions;

/**
 * A workload in virtual time.
 *
 * @param cluster the cluster; room in its pool is seen to
 * @param index settings of the index
 * @param workload the mix of operations
 * @param distribution of lookups, updates and scans
 * @param theta skew of the Zipfian distributions
 * @param records loaded before
 * @param fill share of each node that the load fills
 * @param threads of each compute server, each a core
 * @param coroutines clients of each thread
 * @param warmup operations before those that are simulated, which take no time
 * @param nanos virtual time that is measured
 * @param seed of keys and operations
 */
public record SimPlan(
    ClusterOptions cluster,
    DexOptions index,
    Workload workload,
    Distribution distribution,
    double theta,
    long records,
    double fill,
    int threads,
    int coroutines,
    long warmup,
    long nanos,
    long seed) {

  /** Returns the number of clients. */
  public int clients() {
    return cluster.computeServers() * threads * coroutines;
  }
}
