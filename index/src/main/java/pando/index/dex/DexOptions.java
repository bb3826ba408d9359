package pando.index.dex;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import pando.index.node.NodeLayout;

/**
 * The settings of a DEX index, with the paper's constants as defaults where it gives them.
 * Immutable; {@link #documentation()} lists every setting by the name that {@link #with(String,
 * String)} takes.
 *
 * @param nodeBytes size of a node, a multiple of 64
 * @param subtreeLevel M of DEX section 3: a subtree rooted at or below this level stays on one
 *     memory server, and only misses at or below it are offloaded
 * @param computeServers logical partitions to start with, 1 to 64
 * @param cacheBytes node images that each compute server caches; about 25 bytes of bookkeeping for
 *     each, and 8 KB for each session, come on top
 * @param coolingShare share of the frames that the cooling map holds
 * @param samples nodes to cool at a time
 * @param admission P_A of DEX section 5.4: chance of a leaf that was missed to be admitted
 * @param caching whether leaves are cached at all
 * @param offloading whether operations may be offloaded
 * @param offloadWindow latencies in each moving average
 * @param contrary chance to take the action that looks slower, so that its average stays true
 * @param searchNanos time to search a cached node, in the estimate of a path of READs
 * @param pathCost factor above 1 for what the cache costs besides, in the same estimate
 * @param mergeShare a node that holds less than this share of its capacity looks for a neighbour
 * @param mergedShare two or three neighbours become one fewer where these then hold at most this
 *     share
 * @param sessionsMax sessions that can be open at a time
 */
public record DexOptions(
    int nodeBytes,
    int subtreeLevel,
    int computeServers,
    long cacheBytes,
    double coolingShare,
    int samples,
    double admission,
    boolean caching,
    boolean offloading,
    int offloadWindow,
    double contrary,
    int searchNanos,
    double pathCost,
    double mergeShare,
    double mergedShare,
    int sessionsMax) {

  /** Compute servers that an index can have. */
  public static final int COMPUTE_SERVERS_MAX = 64;

  /** Frames that a cache must have, or a path of the tree might not fit. */
  public static final int FRAMES_MIN = 64;

  private static final long MEBIBYTE = 1L << 20;
  private static final double CACHE_BYTES_MAX = 0x1p40;
  private static final Pattern SIZE = Pattern.compile("(\\d{1,15})\\s*([KMGT]i?)?B?");

  private static final DexOptions DEFAULTS =
      new DexOptions(
          1024, 2, 4, 256 * MEBIBYTE, 0.1, 2, 0.1, true, true, 50, 0.01, 40, 1.2, 0.7, 0.9, 256);

  private static final Map<String, Setting> SETTINGS = settings();

  /** Checks every setting. */
  public DexOptions {
    NodeLayout layout = new NodeLayout(nodeBytes);
    check("subtree-level", subtreeLevel, 0, NodeLayout.LEVELS_MAX - 1);
    check("compute-servers", computeServers, 1, COMPUTE_SERVERS_MAX);
    check("cache-bytes", (double) cacheBytes, FRAMES_MIN * layout.nodeBytes(), CACHE_BYTES_MAX);
    check("cooling-share", coolingShare, 0.001, 0.5);
    check("samples", samples, 1, 64);
    check("admission", admission, 0, 1);
    check("offload-window", offloadWindow, 1, 10_000);
    check("contrary", contrary, 0, 1);
    check("search-nanos", searchNanos, 0, 1_000_000);
    check("path-cost", pathCost, 0.01, 1_000);
    check("merge-share", mergeShare, 0, 0.9);
    check("merged-share", mergedShare, 0.1, 1);
    check("sessions-max", sessionsMax, 1, 4_096);
    if (mergeShare >= mergedShare) {
      throw new IllegalArgumentException(
          "merge-share must be below merged-share: merge-share="
              + mergeShare
              + ", merged-share="
              + mergedShare);
    }
  }

  /** Returns the paper's settings, and Pando's own where the paper has none. */
  public static DexOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Returns these options with one setting changed.
   *
   * @param name as in {@link #documentation()}
   * @param value a number, a share from 0 to 1, a size such as {@code 25600KiB}, or {@code on} and
   *     {@code off}
   * @throws IllegalArgumentException where there is no such setting, or the value is not for it
   */
  public DexOptions with(String name, String value) {
    Setting setting = SETTINGS.get(name);
    if (setting == null) {
      throw new IllegalArgumentException(
          "unknown option: name=" + name + ", known=" + String.join(", ", SETTINGS.keySet()));
    }
    Map<String, String> values = new LinkedHashMap<>();
    SETTINGS.forEach((key, each) -> values.put(key, each.read.apply(this)));
    values.put(name, value);
    return of(values);
  }

  /** Returns these options with another number of compute servers. */
  public DexOptions withComputeServers(int servers) {
    return with("compute-servers", Integer.toString(servers));
  }

  /** Returns these options with another cache size per compute server. */
  public DexOptions withCacheBytes(long bytes) {
    return with("cache-bytes", Long.toString(bytes));
  }

  /** Returns what each setting means, by name, with its default. */
  public static Map<String, String> documentation() {
    Map<String, String> documentation = new LinkedHashMap<>();
    SETTINGS.forEach((name, setting) ->
        documentation.put(
            name, setting.meaning + " (default " + setting.read.apply(DEFAULTS) + ")"));
    return documentation;
  }

  private static DexOptions of(Map<String, String> values) {
    return new DexOptions(
        (int) Math.min(size("node-bytes", values), Integer.MAX_VALUE),
        integer("subtree-level", values),
        integer("compute-servers", values),
        size("cache-bytes", values),
        number("cooling-share", values),
        integer("samples", values),
        number("admission", values),
        flag("caching", values),
        flag("offloading", values),
        integer("offload-window", values),
        number("contrary", values),
        integer("search-nanos", values),
        number("path-cost", values),
        number("merge-share", values),
        number("merged-share", values),
        integer("sessions-max", values));
  }

  private record Setting(String meaning, Function<DexOptions, String> read) {}

  private static Map<String, Setting> settings() {
    Map<String, Setting> settings = new LinkedHashMap<>();
    settings.put("node-bytes", setting("size of a node", DexOptions::nodeBytes));
    settings.put(
        "subtree-level",
        setting("level M up to which a subtree stays together", DexOptions::subtreeLevel));
    settings.put(
        "compute-servers", setting("logical partitions to start with", DexOptions::computeServers));
    settings.put(
        "cache-bytes", setting("node images each compute server caches", DexOptions::cacheBytes));
    settings.put("cooling-share", setting("share of frames that cool", DexOptions::coolingShare));
    settings.put("samples", setting("nodes cooled at a time", DexOptions::samples));
    settings.put("admission", setting("chance P_A of a missed leaf", DexOptions::admission));
    settings.put("caching", setting("cache leaves: on, off", o -> o.caching ? "on" : "off"));
    settings.put(
        "offloading", setting("offload operations: on, off", o -> o.offloading ? "on" : "off"));
    settings.put("offload-window", setting("latencies averaged", DexOptions::offloadWindow));
    settings.put("contrary", setting("chance of the contrary action", DexOptions::contrary));
    settings.put("search-nanos", setting("time to search a cached node", DexOptions::searchNanos));
    settings.put(
        "path-cost", setting("what caching costs besides, a factor", DexOptions::pathCost));
    settings.put("merge-share", setting("fill below which nodes merge", DexOptions::mergeShare));
    settings.put("merged-share", setting("fill that a merge may make", DexOptions::mergedShare));
    settings.put("sessions-max", setting("sessions open at a time", DexOptions::sessionsMax));
    return settings;
  }

  private static Setting setting(String meaning, Function<DexOptions, Object> read) {
    return new Setting(meaning, options -> String.valueOf(read.apply(options)));
  }

  private static int integer(String name, Map<String, String> values) {
    String value = values.getOrDefault(name, "");
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw notFor(name, value, "a whole number", e);
    }
  }

  private static double number(String name, Map<String, String> values) {
    String value = values.getOrDefault(name, "");
    try {
      return Double.parseDouble(value);
    } catch (NumberFormatException e) {
      throw notFor(name, value, "a number", e);
    }
  }

  private static boolean flag(String name, Map<String, String> values) {
    String value = values.getOrDefault(name, "");
    return switch (value) {
      case "on" -> true;
      case "off" -> false;
      default -> throw notFor(name, value, "on or off", null);
    };
  }

  private static long size(String name, Map<String, String> values) {
    String value = values.getOrDefault(name, "");
    Matcher matcher = SIZE.matcher(value);
    if (!matcher.matches()) {
      throw notFor(name, value, "a size such as 1024, 64KiB or 2GiB", null);
    }
    String unit = matcher.group(2) == null ? "" : matcher.group(2).toUpperCase(Locale.ROOT);
    long base = unit.endsWith("I") ? 1024 : 1000;
    int power = unit.isEmpty() ? 0 : "KMGT".indexOf(unit.charAt(0)) + 1;
    long bytes = Long.parseLong(matcher.group(1));
    for (int i = 0; i < power; i++) {
      bytes = Math.multiplyHigh(bytes, base) == 0 ? bytes * base : Long.MAX_VALUE;
    }
    return bytes;
  }

  private static IllegalArgumentException notFor(
      String name, String value, String expected, @Nullable Throwable cause) {
    return new IllegalArgumentException(
        "option " + name + " takes " + expected + ": value=" + value, cause);
  }

  private static void check(String name, double value, double min, double max) {
    if (!(value >= min && value <= max)) {
      throw new IllegalArgumentException(
          "option "
              + name
              + " is out of range: value="
              + plain(value)
              + ", least="
              + plain(min)
              + ", greatest="
              + plain(max));
    }
  }

  private static String plain(double value) {
    return value == Math.rint(value)
        ? String.format(Locale.ROOT, "%.0f", value)
        : String.valueOf(value);
  }
}
