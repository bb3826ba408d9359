package pando.cli.option;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Checks the values of options. */
public final class Ranges {
  private Ranges() {}

  /** Checks a whole number. */
  public static void check(CommandSpec spec, String option, long value, long least, long greatest) {
    String range = "least=" + least + ", greatest=" + greatest;
    check(spec, option, value >= least && value <= greatest, value, range);
  }

  /** Checks any other value. */
  public static void check(
      CommandSpec spec, String option, boolean isLegal, Object value, String legal) {
    if (!isLegal) {
      throw new ParameterException(
          spec.commandLine(), option + " is out of range: value=" + value + ", " + legal);
    }
  }

  /**
   * Returns what {@code maker} makes of options; its refusal becomes an error of the command line.
   */
  public static <T> T accepted(CommandSpec spec, Supplier<T> maker) {
    try {
      return maker.get();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  /** Returns the only value of an option that may have several. */
  public static <T> T single(CommandSpec spec, String option, List<T> values) {
    if (values.size() != 1) {
      throw new ParameterException(
          spec.commandLine(), option + " takes one value here: values=" + values);
    }
    return values.getFirst();
  }

  /**
   * Checks that an option has at least one value (a comma alone gives none), and returns the
   * values.
   */
  public static <T> List<T> several(CommandSpec spec, String option, List<T> values) {
    check(spec, option, !values.isEmpty(), values, "at least one");
    return values;
  }

  /** Returns the address of this machine that an option names. */
  public static InetAddress address(CommandSpec spec, String option, String name) {
    try {
      return InetAddress.getByName(name);
    } catch (UnknownHostException e) {
      throw new ParameterException(
          spec.commandLine(), option + " is no address of this machine: value=" + name, e);
    }
  }

  /** Checks that a file, if one is given, can be written. */
  public static void checkFile(CommandSpec spec, String option, @Nullable Path file) {
    if (file == null) {
      return;
    }
    Path directory = file.toAbsolutePath().getParent();
    if (directory == null || !Files.isDirectory(directory) || Files.isDirectory(file)) {
      throw new ParameterException(
          spec.commandLine(), option + " is not a file that can be written: file=" + file);
    }
  }
}
