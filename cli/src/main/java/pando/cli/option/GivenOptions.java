package pando.cli.option;

import java.util.List;
import java.util.function.Predicate;
import picocli.CommandLine.Model.CommandSpec;

/** The options that were given to a command. */
public final class GivenOptions {
  private GivenOptions() {}

  /** Returns the options whose names pass, in order, as arguments for another command. */
  public static List<String> arguments(CommandSpec spec, Predicate<String> passes) {
    // The parser lists an option as often as it was given, each time with all its values.
    return spec.commandLine().getParseResult().matchedOptions().stream()
        .distinct()
        .filter(option -> passes.test(option.longestName()))
        .flatMap(option ->
            option.originalStringValues().stream().map(value -> option.longestName() + "=" + value))
        .toList();
  }
}
