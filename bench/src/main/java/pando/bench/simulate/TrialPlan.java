package pando.bench.simulate;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import pando.index.IndexOptions;
import pando.index.deft.DeftOptions;
import pando.index.dex.DexOptions;
import pando.index.rolex.RolexOptions;
import pando.sim.ClusterModel;
import pando.sim.fault.Fault;

/**
 * A small cluster on which everything happens at once, for checks and not for speed.
 *
 * @param index its settings, of which the sizes of nodes and caches are changed
 * @param computeServers of the cluster
 * @param memoryServers of the cluster
 * @param clients of each compute server
 * @param operations of all clients together
 * @param faults that may strike
 * @param model what things cost
 * @param settings of the index, by name, beside those that make its nodes and caches tiny
 */
public record TrialPlan(
    IndexOptions index,
    int computeServers,
    int memoryServers,
    int clients,
    int operations,
    Set<Fault> faults,
    ClusterModel model,
    Map<String, String> settings) {
  private static final int NODE_BYTES = 192;

  /** The smallest of DEFT's. */
  private static final int DEFT_NODE_BYTES = 448;

  /** The smallest of ROLEX's. */
  private static final int ROLEX_NODE_BYTES = 384;

  /** Frames of a cache: as few as DEX takes, and a part of what there is of level 1. */
  private static final int DEX_FRAMES = DexOptions.FRAMES_MIN;

  private static final int INNER_FRAMES = 8;

  /** Keeps copies, and checks the settings. */
  public TrialPlan {
    faults = Set.copyOf(faults);
    // Settings apply in the order in which they were given.
    settings = Collections.unmodifiableMap(new LinkedHashMap<>(settings));
    tiny(index, computeServers, settings);
  }

  /** DEX on three compute and three memory servers, two clients each. */
  public static TrialPlan of(Set<Fault> faults) {
    return of(DexOptions.defaults(), faults);
  }

  /** An index on three compute and three memory servers, two clients each. */
  public static TrialPlan of(IndexOptions index, Set<Fault> faults) {
    return new TrialPlan(index, 3, 3, 2, 2_000, faults, ClusterModel.defaults(), Map.of());
  }

  /** Tells whether the index must behave as if no fault had struck. */
  public boolean isHarmless() {
    return faults.stream().allMatch(Fault::isHarmless);
  }

  /** Returns the settings of the index, of which each seed draws two. */
  IndexOptions draw(RandomGenerator random) {
    Map<String, String> all = new LinkedHashMap<>();
    boolean first = random.nextBoolean();
    boolean second = random.nextBoolean();
    switch (index) {
      case DexOptions _ -> {
        all.put("contrary", first ? "0.01" : "0.3");
        all.put("admission", second ? "0.1" : "0.7");
      }
      case DeftOptions _ -> {
        all.put("segments", first ? "on" : "off");
        all.put("merge-share", second ? "0.2" : "0.5");
      }
      case RolexOptions _ -> {
        all.put("synonym-share", first ? "0" : "0.5");
        all.put("merge-share", second ? "0.25" : "0.5");
      }
      default -> {
        all.put("handovers", first ? "4" : "1");
        all.put("merge-share", second ? "0.3" : "0.5");
      }
    }
    all.putAll(settings);
    return tiny(index, computeServers, all);
  }

  private static IndexOptions tiny(
      IndexOptions index, int computeServers, Map<String, String> settings) {
    int frames = index instanceof DexOptions ? DEX_FRAMES : INNER_FRAMES;
    int nodeBytes =
        switch (index) {
          case DeftOptions _ -> DEFT_NODE_BYTES;
          case RolexOptions _ -> ROLEX_NODE_BYTES;
          default -> NODE_BYTES;
        };
    IndexOptions options =
        (index instanceof RolexOptions rolex ? tiny(rolex) : index)
            .with("node-bytes", String.valueOf(nodeBytes))
            .withCacheBytes((long) frames * nodeBytes)
            .withComputeServers(computeServers);
    for (Map.Entry<String, String> setting : settings.entrySet()) {
      options = options.with(setting.getKey(), setting.getValue());
    }
    return options;
  }

  private static IndexOptions tiny(RolexOptions rolex) {
    return rolex.with("delta", "4").with("epsilon", "4").with("leaves-max", "6");
  }
}
