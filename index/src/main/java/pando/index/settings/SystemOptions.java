package pando.index.settings;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import pando.index.IndexOptions;

/**
 * The options of a system: a name and settings, of which these are every system's. A system adds
 * its own, and checks what goes together. Immutable.
 *
 * @param <O> the system's options
 */
public abstract class SystemOptions<O extends SystemOptions<O>> implements IndexOptions {
  private static final Setting NODE_BYTES =
      Setting.size("node-bytes", "1024", 0x1p31, "size of a node");
  private static final Setting COMPUTE_SERVERS =
      Setting.integer(
          "compute-servers", "4", 1, COMPUTE_SERVERS_MAX, "compute servers to start with");
  private static final Setting CACHE_BYTES =
      Setting.size("cache-bytes", "256MiB", 0x1p40, "nodes that each compute server caches");

  private final String system;
  private final Settings settings;

  /**
   * Creates options.
   *
   * @param settings those of {@link #defaults}, and what was changed
   */
  protected SystemOptions(String system, Settings settings) {
    this.system = system;
    this.settings = settings;
  }

  /** Returns the settings of every system and a system's own, as they are without a change. */
  protected static Settings defaults(List<Setting> own) {
    List<Setting> all = new ArrayList<>(List.of(NODE_BYTES, COMPUTE_SERVERS, CACHE_BYTES));
    all.addAll(own);
    return Settings.of(all);
  }

  /**
   * Returns options of the same system with other settings.
   *
   * @throws IllegalArgumentException where they do not go together
   */
  protected abstract O withSettings(Settings changed);

  /** Returns all settings. */
  protected final Settings settings() {
    return settings;
  }

  /** Returns these options with other nodes, and caches of as many bytes as so many of them. */
  protected final O withNodes(int nodeBytes, int cached) {
    return with(NODE_BYTES.name(), Integer.toString(nodeBytes))
        .withCacheBytes((long) nodeBytes * cached);
  }

  /** Checks that the cache is not smaller than the least that works. */
  protected final void checkCacheBytes(long least) {
    CACHE_BYTES.checkAtLeast((double) cacheBytes(), (double) least);
  }

  @Override
  public final O with(String name, String value) {
    return withSettings(settings.with(name, value));
  }

  @Override
  public final O withComputeServers(int servers) {
    return with(COMPUTE_SERVERS.name(), Integer.toString(servers));
  }

  @Override
  public final O withCacheBytes(long bytes) {
    return with(CACHE_BYTES.name(), Long.toString(bytes));
  }

  @Override
  public final Map<String, String> documentation() {
    return settings.documentation();
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
