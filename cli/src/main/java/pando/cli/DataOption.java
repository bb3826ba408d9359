package pando.cli;

import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.cli.option.Ranges;
import pando.cli.text.Progress;
import pando.journal.DataFolder;
import pando.journal.LogOptions;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that say where a command keeps what it has acknowledged. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class DataOption {
  /** Exit code of a command whose disk fails while it serves. */
  static final int LOG_FAILED = 5;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description =
          "Data folder: what is acknowledged is there at the next start. It is made if it is not"
              + " there (default: none, all is lost at the end).")
  private @Nullable Path folder;

  @Option(
      names = "--sync",
      paramLabel = "POLICY",
      description = {
        "With --data, when a change is acknowledged (default: everysec).",
        "always: once it is on the disk.",
        "everysec: once it is in the log, which is on the disk a second later.",
        "no: once it is in the log."
      })
  private @Nullable String sync;

  /** Returns whether there is a data folder. */
  boolean isGiven() {
    return folder != null;
  }

  /** Checks that the options go together. */
  void check(boolean isLocal) {
    if (sync != null && folder == null) {
      throw new ParameterException(
          spec.commandLine(),
          "--sync needs --data DIR, the folder that changes are kept in: sync=" + sync);
    }
    LogOptions _ = Ranges.accepted(spec, () -> LogOptions.ofSync(sync));
    if (folder != null) {
      Ranges.check(
          spec,
          "--data",
          isLocal,
          folder,
          "only with a local pool: memory servers and compute servers of other processes keep it");
    }
  }

  /** Opens the folder, for entries of a kind. */
  DataFolder open(String kind) {
    Path place = folder;
    if (place == null) {
      throw new IllegalStateException("there is no --data");
    }
    return Ranges.accepted(spec, () -> DataFolder.open(place, kind, LogOptions.ofSync(sync)));
  }

  /** Does what loads the entries of a folder; a terminal shows how far it is. */
  static <T> T load(DataFolder opened, Supplier<T> loading) {
    try (Progress _ = Progress.watched("load", opened.sortedEntries(), opened::entriesRead)) {
      return loading.get();
    }
  }

  /** Returns how far a folder is loaded. */
  static String loaded(DataFolder opened) {
    return "the data folder is being loaded: entries=%s, of=%s"
        .formatted(opened.entriesRead(), opened.sortedEntries());
  }

  /** Prints that the command ends, and where what was stored is. */
  void printEnding(DataFolder opened) {
    Ending.print(spec, "what was acknowledged is in the data folder " + opened);
  }

  /** Returns what the command shows at its start, behind what else it shows; empty if nothing. */
  @Override
  public String toString() {
    return folder == null
        ? ""
        : ", data folder %s, sync %s".formatted(folder, LogOptions.ofSync(sync).sync());
  }
}
