package pando.cli;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option for a file with further options, which {@link ConfigFile} reads. */
final class ConfigOption {
  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "File with options, one a line, such as number = 3; the command line wins.")
  @SuppressWarnings("UnusedVariable") // ConfigFile reads it before.
  private @Nullable Path file;
}
