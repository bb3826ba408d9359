package pando.cli;

import org.jspecify.annotations.Nullable;
import pando.cli.cluster.JavaProcess;
import picocli.CommandLine.Option;

/** A process that another command has started, and that ends with that one. */
final class ParentOption {
  @Option(names = "--parent", hidden = true, description = "Process to end with.")
  private @Nullable Long parent;

  /** Has this process end with its parent, if it has one. */
  void follow() {
    if (parent != null) {
      JavaProcess.endWith(parent);
    }
  }
}
