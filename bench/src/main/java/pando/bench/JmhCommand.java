package pando.bench;

import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * An entry in the help only: the launcher runs JMH itself, as JMH cannot fork from a module path.
 */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "jmh",
    description = "Runs JMH benchmarks of the kernels: verbs, hits, misses. Takes JMH's arguments.")
final class JmhCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "ARGUMENT", description = "See pando jmh -h.")
  private List<String> arguments = List.of();

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "start it by ./pando jmh: arguments=" + arguments);
  }
}
