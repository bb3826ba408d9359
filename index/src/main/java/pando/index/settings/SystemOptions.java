package pando.index.settings;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import pando.index.IndexOptions;

/**
 * The options of a system: its name, the settings that every system has, and its own. A system adds
 * its settings, and checks the limits that depend on several of them. Immutable.
 *
 * @param <O> the system's options
 */
public abstract class SystemOptions<O extends SystemOptions<O>> implements IndexOptions {
  private static final Setting NODE_BYTES =
      Setting.size(
          "node-bytes", "1024", 0x1p31, "bytes of a node, which is read and cached as a whole");
  private static final Setting COMPUTE_SERVERS =
      Setting.integer("compute-servers", "4", 1, COMPUTE_SERVERS_MAX)
          .meaning("compute servers that the index starts with");
  private static final Setting CACHE_BYTES =
      Setting.size("cache-bytes", "256MiB", 0x1p40, "bytes of the cache of each compute server");

  /** Times that a lock is handed over at its compute server; only of systems that do so. */
  protected static final Setting HANDOVERS =
      Setting.integer("handovers", "4", 0, 100)
          .meaning(
              "times in a row that a lock goes to the next session of the same compute server");

  /** Longest wait for a lock; only of systems with locks in the pool. */
  protected static final Setting LOCK_WAIT_MILLIS =
      Setting.integer("lock-wait-millis", "5000", 1, 1_000_000)
          .meaning("how long an operation waits for a lock before it fails, in ms");

  /** Age at which changes are written; only of systems that keep them in local memory. */
  protected static final Setting WRITE_BACK_INTERVAL =
      Setting.duration(
          "write-back-interval",
          "1s",
          3.6e12,
          "greatest age of a change that is in local memory alone; 0, or where the pool ends with"
              + " the process: it waits without limit");

  private static final String MERGE_SHARE = "merge-share";

  private final String system;
  private final Settings settings;

  /**
   * Creates options.
   *
   * @param settings those of {@link #defaults}, some of them changed
   */
  protected SystemOptions(String system, Settings settings) {
    this.system = system;
    this.settings = settings;
  }

  /** Returns the defaults of the settings that every system has, and of a system's own. */
  protected static Settings defaults(List<Setting> own) {
    List<Setting> all = new ArrayList<>(List.of(NODE_BYTES, COMPUTE_SERVERS, CACHE_BYTES));
    all.addAll(own);
    return Settings.of(all);
  }

  /** Makes the setting of the fill below which nodes are merged. */
  protected static Setting mergeShare(String initial, double max) {
    return mergeShare(
        initial, max, "fill below which a node is merged with a neighbour that has room");
  }

  /** As {@link #mergeShare(String, double)}, with another meaning. */
  protected static Setting mergeShare(String initial, double max, String meaning) {
    return Setting.number(MERGE_SHARE, initial, 0, max).meaning(meaning);
  }

  /** Makes the setting of the greatest fill of a node after a merge. */
  protected static Setting mergedShare(String initial, double min) {
    return Setting.number("merged-share", initial, min, 1)
        .meaning("greatest fill of a node that a merge makes");
  }

  /** Returns options of the same system with other settings. */
  protected abstract O withSettings(Settings changed);

  /** Returns all settings. */
  protected final Settings settings() {
    return settings;
  }

  /** Returns these options with another node size, and caches of {@code cached} times that size. */
  protected final O withNodes(int nodeBytes, int cached) {
    return withNodeBytes(nodeBytes).withCacheBytes((long) nodeBytes * cached);
  }

  /**
   * Checks the limits that depend on several settings, except the size of the cache.
   *
   * @throws IllegalArgumentException if a limit is broken
   */
  protected abstract void checkTogether();

  /**
   * Checks that ranges can move. For systems with a setting {@code partitioned}.
   *
   * @throws UnsupportedOperationException if there are no partitions
   */
  protected final void checkMovable() {
    if (!isPartitioned()) {
      throw new UnsupportedOperationException(
          "ranges do not move without partitions: system=" + system + ", partitioned=off");
    }
  }

  @Override
  public final void check() {
    CACHE_BYTES.checkAtLeast((double) cacheBytes(), (double) cacheBytesMin());
    checkTogether();
  }

  /** Returns these options with another number. */
  protected final O with(Setting setting, double value) {
    return withSettings(settings.with(setting, value));
  }

  /** Returns these options with a flag on or off. */
  protected final O with(Setting flag, boolean on) {
    return with(flag, on ? 1 : 0);
  }

  @Override
  public final O with(String name, String value) {
    return withSettings(settings.with(name, value));
  }

  @Override
  public final O withComputeServers(int servers) {
    return with(COMPUTE_SERVERS, servers);
  }

  @Override
  public final O withCacheBytes(long bytes) {
    return with(CACHE_BYTES, (double) bytes);
  }

  @Override
  public final O withNodeBytes(int bytes) {
    return with(NODE_BYTES, bytes);
  }

  @Override
  public final Map<String, String> documentation() {
    return settings.documentation();
  }

  /** Returns each setting that takes one of several words, with the words that it does not have. */
  public final Map<String, List<String>> otherWords() {
    return settings.otherWords();
  }

  @Override
  public final String system() {
    return system;
  }

  @Override
  public final int nodeBytes() {
    return (int) settings.number(NODE_BYTES);
  }

  @Override
  public final int computeServers() {
    return (int) settings.number(COMPUTE_SERVERS);
  }

  @Override
  public final long cacheBytes() {
    return (long) settings.number(CACHE_BYTES);
  }

  /** Returns the fill below which a node or a model is merged, as a share of its capacity. */
  public final double mergeShare() {
    return settings.number(settings.named(MERGE_SHARE));
  }

  @Override
  public final boolean equals(@Nullable Object other) {
    return other instanceof SystemOptions<?> options
        && system.equals(options.system)
        && settings.equals(options.settings);
  }

  @Override
  public final int hashCode() {
    return 31 * system.hashCode() + settings.hashCode();
  }

  /** Returns the system, and every setting as {@code name=value}. */
  @Override
  public final String toString() {
    return system + settings;
  }
}
