package pando.fabric.tcp;

import java.time.Duration;
import java.util.Optional;
import pando.fabric.ComputeServer;

/**
 * How a compute server reaches memory servers. Start from {@link #defaults()} and change what
 * differs.
 *
 * @param verbTimeout longest wait for the answer to what was sent at once; a CALL has 60 seconds
 * @param lostAfter a memory server that accepts no connection for so long is lost
 * @param authentication how both sides prove who they are
 * @param computeServer the name that this compute server can be fenced by, if it can be
 * @param fencing how this process proves to be an admin when it fences others; if empty, as for
 *     verbs, which suffices but for TLS, where admins have certificates of their own
 */
public record TcpOptions(
    Duration verbTimeout,
    Duration lostAfter,
    Authentication authentication,
    Optional<ComputeServer> computeServer,
    Optional<Authentication> fencing) {
  private static final Duration MIN = Duration.ofMillis(10);
  private static final Duration MAX = Duration.ofHours(1);
  private static final TcpOptions DEFAULTS =
      new TcpOptions(
          Duration.ofSeconds(2),
          Duration.ofSeconds(5),
          Authentication.none(),
          Optional.empty(),
          Optional.empty());

  /** Checks each range: 10 milliseconds to an hour. */
  public TcpOptions {
    check("verbTimeout", verbTimeout);
    check("lostAfter", lostAfter);
  }

  /** Two seconds for verbs; lost after five; no authentication; cannot be fenced. */
  public static TcpOptions defaults() {
    return DEFAULTS;
  }

  /** Returns these options with another longest wait for verbs. */
  public TcpOptions withVerbTimeout(Duration verbTimeout) {
    return new TcpOptions(verbTimeout, lostAfter, authentication, computeServer, fencing);
  }

  /** Returns these options with another time after which a memory server is lost. */
  public TcpOptions withLostAfter(Duration lostAfter) {
    return new TcpOptions(verbTimeout, lostAfter, authentication, computeServer, fencing);
  }

  /** Returns these options with other authentication. */
  public TcpOptions withAuthentication(Authentication authentication) {
    return new TcpOptions(verbTimeout, lostAfter, authentication, computeServer, fencing);
  }

  /** Returns these options for a compute server that can be fenced by a name. */
  public TcpOptions withComputeServer(ComputeServer name) {
    return new TcpOptions(verbTimeout, lostAfter, authentication, Optional.of(name), fencing);
  }

  /**
   * Returns these options with other authentication for {@link pando.fabric.Fabric#fence}: of TLS,
   * a certificate with the role {@code admin}.
   */
  public TcpOptions withFencing(Authentication admin) {
    return new TcpOptions(
        verbTimeout, lostAfter, authentication, computeServer, Optional.of(admin));
  }

  private static void check(String name, Duration value) {
    if (value.compareTo(MIN) < 0 || value.compareTo(MAX) > 0) {
      throw new IllegalArgumentException(
          "out of range: " + name + "=" + value + ", minimum=" + MIN + ", maximum=" + MAX);
    }
  }
}
