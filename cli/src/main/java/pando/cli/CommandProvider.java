package pando.cli;

import java.util.List;

/** Further commands, from another module; {@link Main} finds it as a service. */
public interface CommandProvider {
  /** Returns classes of commands, in the order of the help. */
  List<Class<?>> commands();

  /** Returns classes of further commands of {@code pando client}. */
  List<Class<?>> clientCommands();
}
