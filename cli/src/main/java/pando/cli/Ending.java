package pando.cli;

import java.io.PrintWriter;
import picocli.CommandLine.Model.CommandSpec;

/** What a command that serves says when it ends: closing may take a while. */
final class Ending {
  private Ending() {}

  /** Prints that a command ends, and what becomes of what was stored. */
  static void print(CommandSpec spec, String kept) {
    PrintWriter err = spec.commandLine().getErr();
    err.println(spec.qualifiedName() + ": ending; " + kept);
    err.flush();
  }
}
