package pando.bench;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import pando.metrics.PandoHttp;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The option that shows the index while it runs. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class HttpOption {
  private static final int PORT_MAX = 65_535;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--http",
      paramLabel = "PORT",
      description =
          "Shows the index while it runs, to a browser on this machine: a live page, metrics and"
              + " health, at http://127.0.0.1:PORT/. 0 takes any free port, and prints it. Only"
              + " where the index is in this process.")
  private @Nullable Integer port;

  /**
   * Checks, before any work, that there will be an index to show.
   *
   * @param fabric where the memory servers are
   */
  void check(Choices.FabricKind fabric) {
    if (port == null) {
      return;
    }
    Ranges.check(spec, "--http", port, 0, PORT_MAX);
    boolean isHere = fabric == Choices.FabricKind.LOCAL;
    Ranges.check(spec, "--http", isHere, port, "only with --fabric local: fabric=" + fabric);
  }

  /**
   * Listens; returns {@code null} if the option was not given.
   *
   * @throws IOException if the port is taken
   */
  @Nullable PandoHttp open() throws IOException {
    return port == null ? null : PandoHttp.open(PandoHttp.loopback(port));
  }
}
