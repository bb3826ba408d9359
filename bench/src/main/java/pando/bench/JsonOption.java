package pando.bench;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import pando.cli.option.Ranges;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The option for the file of the results. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class JsonOption {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Writes the results to a file, as an array of JSON objects.")
  private @Nullable Path file;

  /** Checks, before any work, that the file can be written. */
  void check() {
    Ranges.checkFile(spec, "--json", file);
  }

  /** Returns the file, {@code null} if the option was not given. */
  @Nullable Path file() {
    return file;
  }
}
