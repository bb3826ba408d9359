package pando.index.dex;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import pando.index.node.NodeLayout;

/**
 * The settings of a DEX index, with the paper's constants as defaults where it gives them.
 * Immutable; {@link #documentation()} lists every setting by the name that {@link #with(String,
 * String)} takes.
 */
public final class DexOptions {
  /** Compute servers that an index can have. */
  public static final int COMPUTE_SERVERS_MAX = 64;

  /** Frames that a cache must have, or a path of the tree might not fit. */
  public static final int FRAMES_MIN = 64;

  private static final double CACHE_BYTES_MAX = 0x1p40;
  private static final Pattern SIZE = Pattern.compile("(\\d{1,15})\\s*([KMGT]i?)?B?");
  private static final DexOptions DEFAULTS = new DexOptions(initial());

  private final Map<Setting, Double> values;

  /** Each setting: its name, what it takes, its default, its range, and what it means. */
  private enum Setting {
    NODE_BYTES("node-bytes", Kind.SIZE, "1024", 0, 0x1p63, "size of a node"),
    SUBTREE_LEVEL(
        "subtree-level",
        Kind.INTEGER,
        "2",
        0,
        NodeLayout.LEVELS_MAX - 1,
        "level M up to which a subtree stays together"),
    COMPUTE_SERVERS(
        "compute-servers",
        Kind.INTEGER,
        "4",
        1,
        COMPUTE_SERVERS_MAX,
        "logical partitions to start with"),
    CACHE_BYTES(
        "cache-bytes",
        Kind.SIZE,
        "256MiB",
        0,
        CACHE_BYTES_MAX,
        "node images each compute server caches"),
    COOLING_SHARE("cooling-share", Kind.NUMBER, "0.1", 0.001, 0.5, "share of frames that cool"),
    SAMPLES("samples", Kind.INTEGER, "2", 1, 64, "nodes cooled at a time"),
    ADMISSION("admission", Kind.NUMBER, "0.1", 0, 1, "chance P_A of a missed leaf"),
    CACHING("caching", Kind.FLAG, "on", 0, 1, "cache leaves: on, off"),
    OFFLOADING("offloading", Kind.FLAG, "on", 0, 1, "offload operations: on, off"),
    OFFLOAD_WINDOW("offload-window", Kind.INTEGER, "50", 1, 10_000, "latencies averaged"),
    CONTRARY("contrary", Kind.NUMBER, "0.01", 0, 1, "chance of the contrary action"),
    SEARCH_NANOS("search-nanos", Kind.INTEGER, "40", 0, 1_000_000, "time to search a cached node"),
    PATH_COST("path-cost", Kind.NUMBER, "1.2", 0.01, 1_000, "what caching costs besides, a factor"),
    MERGE_SHARE("merge-share", Kind.NUMBER, "0.7", 0, 0.9, "fill below which nodes merge"),
    MERGED_SHARE("merged-share", Kind.NUMBER, "0.9", 0.1, 1, "fill that a merge may make"),
    SESSIONS_MAX("sessions-max", Kind.INTEGER, "256", 1, 4_096, "sessions open at a time");

    final String option;
    final Kind kind;
    final String initial;
    final double min;
    final double max;
    final String meaning;

    Setting(String option, Kind kind, String initial, double min, double max, String meaning) {
      this.option = option;
      this.kind = kind;
      this.initial = initial;
      this.min = min;
      this.max = max;
      this.meaning = meaning;
    }

    double parse(String value) {
      try {
        return switch (kind) {
          case SIZE -> size(value);
          case INTEGER -> Integer.parseInt(value);
          case NUMBER -> Double.parseDouble(value);
          case FLAG -> flag(value);
        };
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException(
            "option " + option + " takes " + kind.expected + ": value=" + value, e);
      }
    }

    String print(double value) {
      return kind == Kind.FLAG ? (value == 1 ? "on" : "off") : plain(value);
    }

    void check(double value, double min) {
      if (!(value >= min && value <= max)) {
        throw new IllegalArgumentException(
            "option "
                + option
                + " is out of range: value="
                + plain(value)
                + ", least="
                + plain(min)
                + ", greatest="
                + plain(max));
      }
    }
  }

  /** What a setting takes. */
  private enum Kind {
    SIZE("a size such as 1024, 64KiB or 2GiB"),
    INTEGER("a whole number"),
    NUMBER("a number"),
    FLAG("on or off");

    final String expected;

    Kind(String expected) {
      this.expected = expected;
    }
  }

  private DexOptions(Map<Setting, Double> values) {
    this.values = values;
    values.forEach((setting, value) -> setting.check(value, setting.min));
    NodeLayout layout = new NodeLayout(nodeBytes());
    Setting.CACHE_BYTES.check((double) cacheBytes(), (double) FRAMES_MIN * layout.nodeBytes());
    if (mergeShare() >= mergedShare()) {
      throw new IllegalArgumentException(
          "merge-share must be below merged-share: merge-share="
              + mergeShare()
              + ", merged-share="
              + mergedShare());
    }
  }

  private static Map<Setting, Double> initial() {
    Map<Setting, Double> values = new EnumMap<>(Setting.class);
    for (Setting setting : Setting.values()) {
      values.put(setting, setting.parse(setting.initial));
    }
    return values;
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
    Map<Setting, Double> changed = new EnumMap<>(values);
    Setting setting = setting(name);
    changed.put(setting, setting.parse(value));
    return new DexOptions(changed);
  }

  private static Setting setting(String name) {
    StringJoiner known = new StringJoiner(", ");
    for (Setting setting : Setting.values()) {
      if (setting.option.equals(name)) {
        return setting;
      }
      known.add(setting.option);
    }
    throw new IllegalArgumentException("unknown option: name=" + name + ", known=" + known);
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
    DEFAULTS.values.forEach((setting, value) ->
        documentation.put(
            setting.option, setting.meaning + " (default " + setting.print(value) + ")"));
    return documentation;
  }

  /** Returns the size of a node, a multiple of 64. */
  public int nodeBytes() {
    return (int) number(Setting.NODE_BYTES);
  }

  /**
   * Returns M of DEX section 3: a subtree rooted at or below this level stays on one memory server,
   * and only misses at or below it are offloaded.
   */
  public int subtreeLevel() {
    return (int) number(Setting.SUBTREE_LEVEL);
  }

  /** Returns the logical partitions to start with, 1 to {@link #COMPUTE_SERVERS_MAX}. */
  public int computeServers() {
    return (int) number(Setting.COMPUTE_SERVERS);
  }

  /**
   * Returns the bytes of node images that each compute server caches; about 25 bytes of bookkeeping
   * for each, and 8 KB for each session, come on top.
   */
  public long cacheBytes() {
    return (long) number(Setting.CACHE_BYTES);
  }

  /** Returns the share of the frames that the cooling map holds. */
  public double coolingShare() {
    return number(Setting.COOLING_SHARE);
  }

  /** Returns how many nodes are cooled at a time. */
  public int samples() {
    return (int) number(Setting.SAMPLES);
  }

  /** Returns P_A of DEX section 5.4: the chance of a leaf that was missed to be admitted. */
  public double admission() {
    return number(Setting.ADMISSION);
  }

  /** Tells whether leaves are cached at all. */
  public boolean caching() {
    return number(Setting.CACHING) == 1;
  }

  /** Tells whether operations may be offloaded. */
  public boolean offloading() {
    return number(Setting.OFFLOADING) == 1;
  }

  /** Returns the number of latencies in each moving average. */
  public int offloadWindow() {
    return (int) number(Setting.OFFLOAD_WINDOW);
  }

  /** Returns the chance to take the action that looks slower, so that its average stays true. */
  public double contrary() {
    return number(Setting.CONTRARY);
  }

  /** Returns the time to search a cached node, in the estimate of a path of READs. */
  public int searchNanos() {
    return (int) number(Setting.SEARCH_NANOS);
  }

  /** Returns the factor for what the cache costs besides, in the same estimate. */
  public double pathCost() {
    return number(Setting.PATH_COST);
  }

  /** Returns the share of its capacity below which a node looks for a neighbour to merge with. */
  public double mergeShare() {
    return number(Setting.MERGE_SHARE);
  }

  /** Returns the share that two or three neighbours may hold after becoming one fewer. */
  public double mergedShare() {
    return number(Setting.MERGED_SHARE);
  }

  /** Returns how many sessions can be open at a time. */
  public int sessionsMax() {
    return (int) number(Setting.SESSIONS_MAX);
  }

  private double number(Setting setting) {
    return values.getOrDefault(setting, Double.NaN);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof DexOptions options && values.equals(options.values);
  }

  @Override
  public int hashCode() {
    return values.hashCode();
  }

  @Override
  public String toString() {
    StringJoiner settings = new StringJoiner(", ", "DexOptions[", "]");
    values.forEach((setting, value) -> settings.add(setting.option + "=" + setting.print(value)));
    return settings.toString();
  }

  private static double flag(String value) {
    return switch (value) {
      case "on" -> 1;
      case "off" -> 0;
      default -> throw new NumberFormatException(value);
    };
  }

  private static double size(String value) {
    Matcher matcher = SIZE.matcher(value);
    if (!matcher.matches()) {
      throw new NumberFormatException(value);
    }
    String unit = matcher.group(2) == null ? "" : matcher.group(2).toUpperCase(Locale.ROOT);
    double base = unit.endsWith("I") ? 1024 : 1000;
    int power = unit.isEmpty() ? 0 : "KMGT".indexOf(unit.charAt(0)) + 1;
    return Long.parseLong(matcher.group(1)) * Math.pow(base, power);
  }

  private static String plain(double value) {
    return value == Math.rint(value)
        ? String.format(Locale.ROOT, "%.0f", value)
        : String.valueOf(value);
  }
}
