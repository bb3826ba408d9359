package pando.bench.trial;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import pando.index.IndexOptions;
import pando.index.IndexSystem;
import pando.index.bytes.ByteOptions;
import pando.index.orca.OrcaOptions;
import pando.sim.ClusterModel;
import pando.sim.NetworkKind;
import pando.sim.fault.Fault;

/**
 * A small cluster with concurrent operations, changes and faults, for checks and not for speed.
 *
 * @param index the system, with its tiny nodes and caches
 * @param computeServers of the cluster
 * @param memoryServers of the cluster
 * @param clients of each compute server
 * @param operations of all clients together
 * @param keys that clients read and change
 * @param network between the servers
 * @param faults that may strike
 * @param model what things cost
 * @param settings of the index, by name, in place of those that are tiny or drawn
 * @param strings whether clients have byte strings, for which the index has labels
 */
public record TrialPlan(
    IndexSystem index,
    int computeServers,
    int memoryServers,
    int clients,
    int operations,
    int keys,
    NetworkKind network,
    Set<Fault> faults,
    ClusterModel model,
    Map<String, String> settings,
    boolean strings) {
  /** Setting of the wait for a lock, in the systems that have it. */
  private static final String LOCK_WAIT = "lock-wait-millis";

  /** Keys of the usual plans. */
  public static final int KEYS = 1_500;

  /** Longer than two pauses; short where a lock is lost, so that a run comes to its end. */
  private static final String LOCK_WAIT_MILLIS = "25";

  /** Keeps copies, and checks the settings. */
  public TrialPlan {
    faults = Set.copyOf(faults);
    // Settings apply in the order in which they were given.
    settings = Collections.unmodifiableMap(new LinkedHashMap<>(settings));
    if (!strings) {
      options(index, computeServers, settings).check();
    }
  }

  /** A system on three compute and three memory servers, two clients each. */
  public static TrialPlan of(IndexSystem index, Set<Fault> faults) {
    return new TrialPlan(
        index,
        3,
        3,
        2,
        2_000,
        KEYS,
        NetworkKind.CARDS,
        faults,
        ClusterModel.defaults(),
        Map.of(),
        false);
  }

  /** Returns this plan with other settings of the index. */
  public TrialPlan withSettings(Map<String, String> others) {
    return new TrialPlan(
        index,
        computeServers,
        memoryServers,
        clients,
        operations,
        keys,
        network,
        faults,
        model,
        others,
        strings);
  }

  /** Returns this plan with another network. */
  public TrialPlan withNetwork(NetworkKind other) {
    return new TrialPlan(
        index,
        computeServers,
        memoryServers,
        clients,
        operations,
        keys,
        other,
        faults,
        model,
        settings,
        strings);
  }

  /** Returns this plan with byte strings for the keys of a cluster's clients. */
  public TrialPlan withStrings() {
    return new TrialPlan(
        index,
        computeServers,
        memoryServers,
        clients,
        operations,
        keys,
        network,
        faults,
        model,
        settings,
        true);
  }

  /** Returns the name of what runs. */
  public String name() {
    return strings ? ByteOptions.SYSTEM : index.name();
  }

  /** Returns whether the index must behave as if no fault had struck. */
  public boolean isHarmless() {
    return faults.stream().allMatch(Fault::isHarmless);
  }

  /**
   * Returns whether the pool has every change, so that nothing is lost with a compute server once
   * it is buried.
   */
  boolean isOneSided() {
    return !index.tiny().isLogged();
  }

  /** Returns whether nothing worse than a death of compute servers may strike. */
  boolean isWholeAfterBurials() {
    return isOneSided()
        && faults.stream().allMatch(fault -> fault.isHarmless() || fault == Fault.CRASH_COMPUTE);
  }

  /** Returns whether the pool is full at times. */
  boolean fillsPool() {
    return faults.contains(Fault.FULL_POOL);
  }

  /** Returns whether nothing may be lost: of what the pool has no room for, clients hear. */
  boolean isLossless() {
    return faults.stream().allMatch(fault -> fault.isHarmless() || fault == Fault.FULL_POOL);
  }

  /** Returns the settings of the index, of which each seed draws some. */
  IndexOptions draw(RandomGenerator random) {
    return draw(random, !isHarmless());
  }

  /**
   * Returns the settings of the index, of which each seed draws some.
   *
   * @param losesLocks whether locks may be lost, so that waits for them are to be short
   */
  IndexOptions draw(RandomGenerator random, boolean losesLocks) {
    Map<String, String> all = new LinkedHashMap<>();
    for (IndexSystem.Variation variation : index.variations()) {
      String drawn = random.nextBoolean() ? variation.one() : variation.other();
      all.put(variation.setting(), drawn);
    }
    if (losesLocks && index.documentation().containsKey(LOCK_WAIT)) {
      all.put(LOCK_WAIT, LOCK_WAIT_MILLIS);
    }
    all.putAll(settings);
    return options(index, computeServers, all);
  }

  /** Returns the settings of byte strings, of which each seed draws some. */
  ByteOptions drawStrings(RandomGenerator random) {
    ByteOptions drawn =
        ByteOptions.defaults()
            .withBlockBytes(512, 32)
            .withCacheBytes(20_000L * random.nextInt(4))
            .withRecordShare(random.nextInt(1, 5) / 4.0)
            .withDeltaChanges(random.nextBoolean() ? 16 : 0)
            .withLabels(
                OrcaOptions.defaults()
                    .withComputeServers(1)
                    .withCacheBytes(1 << 20)
                    .withWriteBackNanos(0));
    for (Map.Entry<String, String> setting : settings.entrySet()) {
      drawn = drawn.with(setting.getKey(), setting.getValue());
    }
    return drawn;
  }

  private static IndexOptions options(
      IndexSystem index, int computeServers, Map<String, String> settings) {
    IndexOptions options = index.tiny().withComputeServers(computeServers);
    for (Map.Entry<String, String> setting : settings.entrySet()) {
      options = options.with(setting.getKey(), setting.getValue());
    }
    return options;
  }
}
