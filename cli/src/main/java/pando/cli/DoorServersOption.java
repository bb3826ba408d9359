package pando.cli;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.cli.option.AuthenticationFiles;
import pando.cli.option.Ranges;
import pando.client.ClientOptions;
import pando.client.PandoClient;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of a door that is a client of compute servers. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class DoorServersOption {
  /** What is about an index of this process. */
  private static final List<String> OF_AN_INDEX =
      List.of(
          "--pool", "--memory-servers", "--bytes-per-server", "--cache", "--http", "--http-bind");

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--server",
      paramLabel = "HOST:PORT",
      description = {
        "Compute servers of byte strings that others use, too, one or more of them, with commas"
            + " between: the door is a client of them, and has strings alone.",
        "Without it an index in this process, which the door has for itself."
      })
  private @Nullable String servers;

  @Option(
      names = "--server-tls-cert",
      paramLabel = "FILE",
      description = "To compute servers, TLS: certificate of this process (PEM).")
  private @Nullable Path tlsCert;

  @Option(
      names = "--server-tls-key",
      paramLabel = "FILE",
      description = "Its private key (PEM, PKCS #8, not encrypted).")
  private @Nullable Path tlsKey;

  @Option(
      names = "--server-tls-ca",
      paramLabel = "FILE",
      description = "Certificates (PEM) of the authorities that sign those of compute servers.")
  private @Nullable Path tlsCa;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description =
          "To compute servers, in place of TLS: file with a secret that they have, too, of mode"
              + " 0600 and at least 16 bytes.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--trusted-network",
      description = "Lets --token-file do beyond loopback addresses.")
  private boolean trustedNetwork;

  /** Returns whether the door is a client of compute servers. */
  boolean isGiven() {
    return servers != null;
  }

  /** Checks what does not go together. */
  void check() {
    if (servers == null && files().isAny()) {
      throw refusal("--server-tls-cert and --token-file go with --server");
    }
    for (String each : OF_AN_INDEX) {
      if (servers != null && spec.commandLine().getParseResult().hasMatchedOption(each)) {
        throw refusal("--server goes without " + each + ", which is of an index in this process");
      }
    }
  }

  /** Connects to the compute servers. */
  PandoClient connect() {
    ClientOptions options =
        ClientOptions.defaults().withAuthentication(files().authentication(spec));
    return Ranges.accepted(spec, () -> PandoClient.connect(String.valueOf(servers), options));
  }

  /** Prints that the door ends, and what becomes of what was stored. */
  void printEnding() {
    Ending.print(spec, "the compute servers keep what was acknowledged");
  }

  private AuthenticationFiles files() {
    return new AuthenticationFiles(
        "--server-tls", tlsCert, tlsKey, tlsCa, tokenFile, trustedNetwork);
  }

  private ParameterException refusal(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  /** Returns the compute servers as they were given. */
  @Override
  public String toString() {
    return String.valueOf(servers);
  }
}
