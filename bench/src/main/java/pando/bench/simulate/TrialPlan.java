package pando.bench.simulate;

import java.util.Set;
import pando.sim.fault.Fault;

/**
 * A small cluster on which everything happens at once, for checks and not for speed.
 *
 * @param computeServers of the cluster
 * @param memoryServers of the cluster
 * @param clients of each compute server
 * @param operations of all clients together
 * @param faults that may strike
 * @param settings of the index beside those that make its nodes and caches tiny, {@code name=value}
 */
public record TrialPlan(
    int computeServers,
    int memoryServers,
    int clients,
    int operations,
    Set<Fault> faults,
    Set<String> settings) {
  /** Copies the sets. */
  public TrialPlan {
    faults = Set.copyOf(faults);
    settings = Set.copyOf(settings);
  }

  /** Tells whether the index must behave as if no fault had struck. */
  public boolean isHarmless() {
    return faults.stream().allMatch(Fault::isHarmless);
  }
}
