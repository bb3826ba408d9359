package pando.cli.option;

import pando.index.IndexOptions;
import pando.index.IndexSystem;
import pando.index.Systems;
import picocli.CommandLine.Option;

/** The option that says which index is opened. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class ChosenIndex {
  /** The name of the option. */
  public static final String NAME = "--index";

  @Option(
      names = NAME,
      paramLabel = "NAME",
      defaultValue = Systems.DEFAULT,
      converter = Choices.IndexConverter.class,
      completionCandidates = Choices.IndexNames.class,
      description = {
        "The index (default: ${DEFAULT-VALUE}): ${COMPLETION-CANDIDATES}. What each is, and its"
            + " settings, are listed below."
      })
  private IndexSystem index;

  /** Returns the settings of the index, checked; those of its cache do not matter. */
  public IndexOptions options(SettingOptions settings) {
    return settings.served(index.defaults(), settings.all());
  }

  /** Returns the settings of the index on so many records, checked. */
  public IndexOptions options(ServerOptions servers, SettingOptions settings, long records) {
    return options(index, servers, settings, records);
  }

  /** Returns the settings of an index on so many records, checked. */
  public static IndexOptions options(
      IndexSystem index, ServerOptions servers, SettingOptions settings, long records) {
    return settings.index(
        index.defaults(),
        servers.computeServers(ServerOptions.COMPUTE_SERVERS),
        servers.cache(),
        records,
        settings.all());
  }
}
