package pando.bench.simulate;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import pando.index.dex.DexOptions;
import pando.sim.ClusterModel;
import pando.sim.fault.Fault;

/**
 * A small cluster on which everything happens at once, for checks and not for speed.
 *
 * @param computeServers of the cluster
 * @param memoryServers of the cluster
 * @param clients of each compute server
 * @param operations of all clients together
 * @param faults that may strike
 * @param model what things cost
 * @param settings of the index, by name, beside those that make its nodes and caches tiny
 */
public record TrialPlan(
    int computeServers,
    int memoryServers,
    int clients,
    int operations,
    Set<Fault> faults,
    ClusterModel model,
    Map<String, String> settings) {
  private static final int NODE_BYTES = 192;
  private static final int FRAMES = 64;

  /** Keeps copies, and checks the settings. */
  public TrialPlan {
    faults = Set.copyOf(faults);
    // Settings apply in the order in which they were given.
    settings = Collections.unmodifiableMap(new LinkedHashMap<>(settings));
    index(computeServers, settings);
  }

  /** Three compute and three memory servers, two clients each. */
  public static TrialPlan of(Set<Fault> faults) {
    return new TrialPlan(3, 3, 2, 2_000, faults, ClusterModel.defaults(), Map.of());
  }

  /** Tells whether the index must behave as if no fault had struck. */
  public boolean isHarmless() {
    return faults.stream().allMatch(Fault::isHarmless);
  }

  /** Returns the settings of the index, of which each seed chooses two. */
  DexOptions index(String contrary, String admission) {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("contrary", contrary);
    all.put("admission", admission);
    all.putAll(settings);
    return index(computeServers, all);
  }

  private static DexOptions index(int computeServers, Map<String, String> settings) {
    DexOptions options =
        DexOptions.defaults()
            .with("node-bytes", String.valueOf(NODE_BYTES))
            .with("cache-bytes", String.valueOf(FRAMES * NODE_BYTES))
            .withComputeServers(computeServers);
    for (Map.Entry<String, String> setting : settings.entrySet()) {
      options = options.with(setting.getKey(), setting.getValue());
    }
    return options;
  }
}
