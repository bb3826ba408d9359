package pando.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import pando.fabric.server.PoolOptions;
import pando.index.dex.DexOptions;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that say which index to open, and on which cluster. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class IndexOptions {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--index",
      paramLabel = "NAME",
      defaultValue = "dex",
      converter = Choices.IndexConverter.class,
      description = "The index: dex.")
  private Choices.Index index;

  @Option(
      names = "--compute-servers",
      paramLabel = "N",
      defaultValue = "4",
      description =
          "Compute servers, each with its own keys and cache (default: ${DEFAULT-VALUE}).")
  private int computeServers;

  @Option(
      names = "--memory-servers",
      paramLabel = "N",
      description = "Memory servers, which hold the nodes (default: 4, or 2 over shared memory).")
  private @Nullable Integer memoryServers;

  @Option(
      names = "--cache",
      paramLabel = "SIZE",
      defaultValue = "8%",
      converter = CacheSize.Converter.class,
      description =
          "Cache of each compute server: a size such as 25600KiB, or a share of the records at 16"
              + " bytes each (default: ${DEFAULT-VALUE}).")
  private CacheSize cache;

  @Option(
      names = "--set",
      paramLabel = "NAME=VALUE",
      description = "A setting of the index; may be given several times. They stand below.")
  private final Map<String, String> settings = new LinkedHashMap<>();

  /** Lists the settings that {@code --set} takes at the end of a command's help, if it does. */
  static void document(CommandLine command) {
    if (command.getCommandSpec().findOption("--set") == null) {
      return;
    }
    List<String> lines = new ArrayList<>();
    lines.add("");
    lines.add("Settings of dex, for --set:");
    DexOptions.documentation().forEach((name, meaning) -> lines.add("  " + name + ": " + meaning));
    UsageMessageSpec help = command.getCommandSpec().usageMessage();
    lines.addAll(List.of(help.footer()));
    help.footer(lines.toArray(String[]::new));
  }

  /** Returns the name of the index. */
  String name() {
    return index.toString();
  }

  /** Returns the number of memory servers that was asked for, or else the one given. */
  int memoryServers(int otherwise) {
    if (memoryServers == null) {
      return otherwise;
    }
    Ranges.check(spec, "--memory-servers", memoryServers, 1, PoolOptions.MEMORY_SERVERS_MAX);
    return memoryServers;
  }

  /** Returns the settings of the index, checked. */
  DexOptions dex(long records) {
    try {
      DexOptions options =
          DexOptions.defaults()
              .withComputeServers(computeServers)
              .withCacheBytes(cache.bytesPerServer(records));
      for (Map.Entry<String, String> setting : settings.entrySet()) {
        options = options.with(setting.getKey(), setting.getValue());
      }
      return options;
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }
}
