package pando.bench.simulate;

import pando.bench.workload.Workload;
import pando.index.IndexOptions;
import pando.index.sherman.ShermanOptions;
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
  /** What the papers' testbeds fit for a search in Sherman's index cache and leaf. */
  private static final double SHERMAN_OPERATION_NANOS = 2_500;

  /** Returns the model in which an operation takes a compute server as long as with an index. */
  public static ClusterModel modelOf(IndexOptions index) {
    ClusterModel model = ClusterModel.defaults();
    return index instanceof ShermanOptions
        ? model.with("operation-nanos", SHERMAN_OPERATION_NANOS)
        : model;
  }
}
