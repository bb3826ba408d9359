package pando.bench;

import java.util.List;
import pando.cli.CommandProvider;

/** The commands that show, measure and check Pando. */
public final class BenchCommands implements CommandProvider {
  @Override
  public List<Class<?>> commands() {
    return List.of(
        DemoCommand.class,
        BenchCommand.class,
        ChurnCommand.class,
        SimulateCommand.class,
        CheckCommand.class,
        CompareCommand.class,
        StringsCommand.class,
        JmhCommand.class,
        BenchServersCommand.class);
  }

  @Override
  public List<Class<?>> clientCommands() {
    return List.of(ClientBenchCommand.class);
  }
}
