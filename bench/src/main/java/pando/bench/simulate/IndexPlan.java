package pando.bench.simulate;

import pando.bench.workload.Workload;
import pando.index.IndexOptions;
import pando.index.IndexSystem;
import pando.sim.ClusterModel;

/**
 * A workload on an index in virtual time.
 *
 * @param sim the cluster and its clients
 * @param index settings of the index
 * @param workload the mix of operations
 * @param fill share of each node that the load fills
 * @param warmup operations before those that are simulated, which take no time
 */
public record IndexPlan(
    SimPlan sim, IndexOptions index, Workload workload, double fill, long warmup) {
  /** Returns the model with the processor time of a system's operations. */
  public static ClusterModel modelOf(IndexSystem system) {
    return ClusterModel.defaults().with("operation-nanos", system.operationNanos());
  }
}
