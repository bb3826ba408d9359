package pando.bench;

import java.util.List;
import java.util.function.Predicate;
import picocli.CommandLine.Model.CommandSpec;

/** The options that were given to a command. */
final class GivenOptions {
  private GivenOptions() {}

  /** Returns those whose names pass, in order, as they can be given again. */
  static List<String> arguments(CommandSpec spec, Predicate<String> passes) {
    return spec.commandLine().getParseResult().matchedOptions().stream()
        .filter(option -> passes.test(option.longestName()))
        .flatMap(option ->
            option.originalStringValues().stream().map(value -> option.longestName() + "=" + value))
        .toList();
  }
}
