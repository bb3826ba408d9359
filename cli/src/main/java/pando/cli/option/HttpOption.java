package pando.cli.option;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import pando.metrics.PandoHttp;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options that show an index, a door or a cluster while it runs. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class HttpOption {
  private static final int PORT_MAX = 65_535;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--http",
      paramLabel = "PORT",
      description =
          "Shows what runs to a browser on this machine: a live page, metrics and health, at"
              + " http://127.0.0.1:PORT/. 0 takes any free port, and prints it.")
  private @Nullable Integer port;

  @Option(
      names = "--http-bind",
      paramLabel = "ADDRESS",
      description =
          "Address to show it at (default: the loopback interface). There is no password: it shows"
              + " counts and sizes to all clients that can connect.")
  private @Nullable String bind;

  /** Checks the options before any work. */
  public void check() {
    if (port == null) {
      Ranges.check(spec, "--http-bind", bind == null, String.valueOf(bind), "goes with --http");
    } else {
      Ranges.check(spec, "--http", port, 0, PORT_MAX);
    }
  }

  /** Returns whether something is to be shown. */
  public boolean isGiven() {
    return port != null;
  }

  /**
   * Listens; returns {@code null} if the option was not given.
   *
   * @throws IOException if the port is taken
   */
  public @Nullable PandoHttp open() throws IOException {
    if (port == null) {
      return null;
    }
    return PandoHttp.open(
        bind == null
            ? PandoHttp.loopback(port)
            : new InetSocketAddress(Ranges.address(spec, "--http-bind", bind), port));
  }
}
