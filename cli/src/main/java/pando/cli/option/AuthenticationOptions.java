package pando.cli.option;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpOptions;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that say how both sides of a connection by TCP prove who they are. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class AuthenticationOptions {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description = {
        "By TCP, TLS in both directions: certificate of this process (PEM), and those between it"
            + " and the authority.",
        "It has a URI pando://CLUSTER/ROLE/NAME, with the role memory for a"
            + " memory server and compute for those that use it."
      })
  private @Nullable Path tlsCert;

  @Option(
      names = "--tls-key",
      paramLabel = "FILE",
      description = "Its private key (PEM, PKCS #8, not encrypted).")
  private @Nullable Path tlsKey;

  @Option(
      names = "--tls-ca",
      paramLabel = "FILE",
      description = "Certificates (PEM) of the authorities that sign those of the other side.")
  private @Nullable Path tlsCa;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description =
          "By TCP, in place of TLS: file with a secret that both sides have, of mode 0600 and at"
              + " least 16 bytes. It proves who connects, and encrypts nothing.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--trusted-network",
      description =
          "Lets --token-file do beyond loopback addresses, where all who can read or change what"
              + " goes over the network can read and change the pool.")
  private boolean trustedNetwork;

  /** Returns what was asked for; files are not read yet. */
  public Authentication authentication() {
    return new AuthenticationFiles("--tls", tlsCert, tlsKey, tlsCa, tokenFile, trustedNetwork)
        .authentication(spec);
  }

  /** Returns how memory servers are reached, by what was asked for. */
  public TcpOptions tcp() {
    return TcpOptions.defaults().withAuthentication(authentication());
  }

  /** Checks that there are none of these options, where there is no TCP. */
  public void checkUnused(String needed) {
    if (!(authentication() instanceof Authentication.None)) {
      throw new ParameterException(
          spec.commandLine(), "--tls-cert and --token-file go with " + needed);
    }
  }
}
