package pando.cli.option;

import pando.client.ClientOptions;
import pando.client.PandoClient;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options that say which compute servers a client asks. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class ClientConnectOptions {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--server",
      paramLabel = "HOST:PORT",
      required = true,
      description = "Compute servers of the index, one or more of them, with commas between.")
  private String servers;

  @Mixin private AuthenticationOptions authenticationOptions;

  /** Connects to them. */
  public PandoClient connect() {
    ClientOptions options =
        ClientOptions.defaults().withAuthentication(authenticationOptions.authentication());
    return Ranges.accepted(spec, () -> PandoClient.connect(servers, options));
  }
}
