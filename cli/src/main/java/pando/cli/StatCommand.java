package pando.cli;

import java.util.List;
import java.util.concurrent.Callable;
import pando.cli.option.ChosenIndex;
import pando.cli.option.SettingOptions;
import pando.cli.text.SpaceTable;
import pando.fabric.Fabric;
import pando.fabric.shm.ShmFabric;
import pando.index.IndexOptions;
import pando.index.PoolSpace;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Prints where the bytes of a pool are. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "stat",
    description = {
      "Says where every byte of a pool is that memory servers of this machine hold.",
      "Reads the whole index and joins nothing. What compute servers keep for later, and values"
          + " beside the index, count as theirs. Exact while nothing changes the index; where DEX"
          + " has not written its caches back, nodes may look damaged."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
final class StatCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = "--pool",
      paramLabel = "NAME",
      required = true,
      split = ",",
      description =
          "Names of the memory servers in the order of their numbers, such as pool0,pool1.")
  private List<String> memoryServers;

  @Mixin private ChosenIndex chosenIndex;
  @Mixin private SettingOptions settingOptions;

  @Override
  public Integer call() {
    IndexOptions options = chosenIndex.options(settingOptions);
    PoolSpace space;
    try (Fabric fabric = ShmFabric.attach(memoryServers, 0)) {
      space = options.space(fabric);
    } catch (IllegalArgumentException | IllegalStateException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
    spec.commandLine().getOut().print(SpaceTable.of(space));
    spec.commandLine().getOut().flush();
    return space.problems().isEmpty() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
  }
}
