package pando.bench;

import java.util.List;
import pando.cli.option.Choices;
import pando.cli.option.ChosenIndex;
import pando.cli.option.Ranges;
import pando.cli.option.ServerOptions;
import pando.cli.option.SettingOptions;
import pando.index.IndexOptions;
import pando.index.IndexSystem;
import pando.index.Systems;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The option that says which indexes are measured. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ChosenIndexes {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = ChosenIndex.NAME,
      paramLabel = "NAME",
      defaultValue = Systems.DEFAULT,
      split = ",",
      converter = Choices.IndexConverter.class,
      completionCandidates = Choices.IndexNames.class,
      description = {
        "The index, or several with commas between, measured one after the other (default:"
            + " ${DEFAULT-VALUE}): ${COMPLETION-CANDIDATES}. What each is, and its settings, are"
            + " listed below; each must have all that --set names."
      })
  private List<IndexSystem> indexes;

  /**
   * Returns the settings of each index on so many records, checked, in the order to measure them.
   */
  List<IndexOptions> options(ServerOptions servers, SettingOptions settings, long records) {
    Ranges.several(spec, ChosenIndex.NAME, indexes);
    boolean isEachOnce = indexes.stream().distinct().count() == indexes.size();
    Ranges.check(spec, ChosenIndex.NAME, isEachOnce, names(), "each once");
    return indexes.stream()
        .map(index -> ChosenIndex.options(index, servers, settings, records))
        .toList();
  }

  /** Checks that one index alone is chosen, which {@code --memory-server} requires. */
  void checkSingle() {
    Ranges.check(
        spec, ChosenIndex.NAME, indexes.size() == 1, names(), "with --memory-server only one");
  }

  private List<String> names() {
    return indexes.stream().map(IndexSystem::name).toList();
  }
}
