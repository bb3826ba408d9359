package pando.bench;

import java.util.List;
import java.util.function.Predicate;
import picocli.CommandLine.Model.CommandSpec;

/** The options that were given to a command. */
final class GivenOptions {
  private GivenOptions() {}

  /** Returns those whose names pass, in order, as they can be given again. */
  static List<String> arguments(CommandSpec spec, Predicate<String> passes) {
    // An option that was given several times is listed as often, each time with all its values.
    return spec.commandLine().getParseResult().matchedOptions().stream()
        .distinct()
        .filter(option -> passes.test(option.longestName()))
        .flatMap(option ->
            option.originalStringValues().stream().map(value -> option.longestName() + "=" + value))
        .toList();
  }
}
