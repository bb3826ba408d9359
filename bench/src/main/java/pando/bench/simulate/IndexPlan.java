package pando.bench.simulate;

import pando.bench.workload.Workload;
import pando.index.IndexOptions;
import pando.index.IndexSystem;
import pando.index.dex.DexOptions;
import pando.sim.ClusterModel;

/**
 * A workload on an index in virtual time.
 *
 * @param sim the cluster and its clients
 * @param index settings of the index
 * @param workload the mix of operations
 * @param fill share of each node that the load fills
 * @param warmup operations before those that are simulated, which take no time
 * @param splitNanos after so much of the time that is measured, the first compute server of DEX
 *     gives about half of its range to a new one in the same process; 0 if none does
 * @param isLogged whether memory servers hold a log of the changes that are simulated, as in a
 *     cluster
 */
public record IndexPlan(
    SimPlan sim,
    IndexOptions index,
    Workload workload,
    double fill,
    long warmup,
    long splitNanos,
    boolean isLogged) {
  private static final String WRITE_BACK = "write-back-interval";

  /**
   * Checks that the index can be split, if it is to be. Switches write-back by age off where it has
   * its default: a run is milliseconds long, which is far less.
   */
  public IndexPlan {
    if (index.documentation().containsKey(WRITE_BACK)
        && index.equals(index.with(WRITE_BACK, "1s"))) {
      index = index.with(WRITE_BACK, "0");
    }
    if (splitNanos > 0 && !(index instanceof DexOptions)) {
      throw new IllegalArgumentException(
          "only compute servers of DEX are split: index=%s, splitNanos=%s"
              .formatted(index.system(), splitNanos));
    }
    if (isLogged && !index.isLogged()) {
      throw new IllegalArgumentException(
          "compute servers of this system log nothing: index=" + index.system());
    }
  }

  /** Returns the model with the processor time of a system's operations. */
  public static ClusterModel modelOf(IndexSystem system) {
    return ClusterModel.defaults().with("operation-nanos", system.operationNanos());
  }
}
