package pando.cli.option;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import pando.index.IndexOptions;
import pando.index.IndexSystem;
import pando.index.ServedOptions;
import pando.index.Systems;
import pando.index.bytes.ByteOptions;
import pando.index.settings.DidYouMean;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The option for settings of the index. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public class SettingOptions {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--set",
      paramLabel = "NAME=VALUE",
      description =
          "Changes a setting of the index, such as merge-share=0.3; may be given several times. All"
              + " settings are listed below.")
  private final Map<String, String> settings = new LinkedHashMap<>();

  /** Lists the settings that {@code --set} takes at the end of a command's help, if it does. */
  public static void document(CommandLine command) {
    if (command.getCommandSpec().findOption("--set") == null) {
      return;
    }
    List<String> lines = new ArrayList<>(List.of("", "Settings of each index, for --set:"));
    if (takesStrings(command)) {
      lines.add("");
      lines.add(ByteOptions.SYSTEM + ": " + ServedIndex.STRINGS);
      addSettings(lines, ByteOptions.defaults().documentation());
    }
    Systems.all().forEach(system -> add(lines, system));
    UsageMessageSpec help = command.getCommandSpec().usageMessage();
    lines.addAll(List.of(help.footer()));
    help.footer(lines.toArray(String[]::new));
  }

  private static boolean takesStrings(CommandLine command) {
    OptionSpec index = command.getCommandSpec().findOption("--index");
    return index != null && index.completionCandidates() instanceof ServedIndex.Names;
  }

  /**
   * Adds the settings of a system; if an earlier system has the same settings, only the
   * differences.
   */
  private static void add(List<String> lines, IndexSystem system) {
    Map<String, String> own = new LinkedHashMap<>(system.documentation());
    String title = system.name() + ": " + system.description();
    IndexSystem first =
        Systems.all().stream()
            .filter(other -> other.documentation().keySet().equals(own.keySet()))
            .findFirst()
            .orElse(system);
    if (!first.equals(system)) {
      own.entrySet().removeAll(first.documentation().entrySet());
      title += ". Its settings are those of " + first.name() + ", but for";
    }
    lines.add("");
    lines.add(title);
    addSettings(lines, own);
  }

  private static void addSettings(List<String> lines, Map<String, String> documentation) {
    documentation.forEach((name, meaning) -> lines.add("  " + name + ": " + meaning));
  }

  /** Returns all settings, in the order in which they were given. */
  public Map<String, String> all() {
    return settings;
  }

  /**
   * Returns the settings of an index on some records, checked.
   *
   * @param defaults default options of the index
   * @param cache size of each compute server's cache, unless a setting has it
   * @param records number of records of which the cache may be a share
   * @param some the settings of the index
   */
  public IndexOptions index(
      IndexOptions defaults,
      int computeServers,
      CacheSize cache,
      long records,
      Map<String, String> some) {
    checkKnown(defaults, some.keySet());
    return accepted(() -> {
      IndexOptions options = changed(defaults.withComputeServers(computeServers), some);
      return some.containsKey("cache-bytes")
          ? options
          : options.withCacheBytes(cache.bytesPerServer(records, options.cacheBytesMin()));
    });
  }

  /** Returns the settings of what is served, checked. */
  public <O extends ServedOptions> O served(O defaults, Map<String, String> some) {
    checkKnown(defaults, some.keySet());
    return accepted(() -> changed(defaults, some));
  }

  /** Returns options with some settings; each method {@code with} returns its own kind. */
  @SuppressWarnings("unchecked")
  private static <O extends ServedOptions> O changed(O defaults, Map<String, String> some) {
    O options = defaults;
    for (Map.Entry<String, String> setting : some.entrySet()) {
      options = (O) options.with(setting.getKey(), setting.getValue());
    }
    return options;
  }

  private <O extends ServedOptions> O accepted(Supplier<O> maker) {
    try {
      O options = maker.get();
      options.check();
      return options;
    } catch (IllegalArgumentException e) {
      throw refused(String.valueOf(e.getMessage()), e);
    }
  }

  /** Refuses settings that an index does not have, and names the systems or settings near them. */
  public void checkKnown(ServedOptions index, Set<String> names) {
    Set<String> known = index.documentation().keySet();
    for (String name : names) {
      if (!known.contains(name)) {
        String having =
            ServedIndex.all().stream()
                .filter(system -> system.documentation().containsKey(name))
                .map(ServedOptions::system)
                .collect(Collectors.joining(", "));
        String hint =
            having.isEmpty() ? DidYouMean.suggest(name, known) : ", systems that have it=" + having;
        throw new ParameterException(
            spec.commandLine(),
            "--index %s has no such setting: name=%s%s".formatted(index.system(), name, hint));
      }
    }
  }

  /** Returns the refusal of a setting. */
  protected final ParameterException refused(String message, Exception cause) {
    return new ParameterException(spec.commandLine(), message, cause);
  }
}
