package pando.bench;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Refuses values that an option cannot have. */
final class Ranges {
  private Ranges() {}

  /** Checks a whole number. */
  static void check(CommandSpec spec, String option, long value, long least, long greatest) {
    String range = "least=" + least + ", greatest=" + greatest;
    check(spec, option, value >= least && value <= greatest, value, range);
  }

  /** Checks anything else. */
  static void check(CommandSpec spec, String option, boolean isLegal, Object value, String legal) {
    if (!isLegal) {
      throw new ParameterException(
          spec.commandLine(), option + " is out of range: value=" + value + ", " + legal);
    }
  }
}
