package pando.cli.option;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import pando.client.server.ClientService;
import picocli.CommandLine.Option;

/** Where a command serves clients, and by how many threads. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class ClientServiceOptions {
  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      required = true,
      converter = HostPort.class,
      description = {
        "Address at which clients reach it, such as 10.0.0.1:7480; port 0 takes any free one, and"
            + " prints it.",
        "Without authentication a loopback address, and any user of the machine can connect."
      })
  private InetSocketAddress listen;

  @Option(
      names = "--lanes",
      paramLabel = "N",
      description = "Threads that serve clients, 16 at most (default: one for each processor).")
  private @Nullable Integer lanes;

  /** Returns the address to listen at. */
  public InetSocketAddress address() {
    return listen;
  }

  /** Returns the number of threads. */
  public int lanes() {
    return lanes == null ? ClientService.defaultLanes() : lanes;
  }
}
