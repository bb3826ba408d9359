package pando.bench;

import pando.index.IndexOptions;
import picocli.CommandLine.Option;

/** The option that says which index is opened. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ChosenIndex {
  @Option(
      names = "--index",
      paramLabel = "NAME",
      defaultValue = "dex",
      converter = Choices.IndexConverter.class,
      description = "The index: dex (default), sherman, p-sherman, fg, deft, rolex or xstore-d.")
  private Choices.Index index;

  /** Returns the settings of the index on so many records, checked. */
  IndexOptions options(ServerOptions servers, SettingOptions settings, long records) {
    return settings.index(
        index.defaults(),
        servers.computeServers(ServerOptions.COMPUTE_SERVERS),
        servers.cache().bytesPerServer(records),
        settings.all());
  }
}
