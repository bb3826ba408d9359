package pando.fabric.wire;

import org.jspecify.annotations.Nullable;
import pando.fabric.ComputeServer;

/**
 * What a process says of itself to servers.
 *
 * @param protocol that it speaks
 * @param credentials what proves it
 * @param role what it comes for
 * @param computeServer that it can be fenced by, or {@code null}
 */
public record Introduction(
    Protocol protocol, Credentials credentials, Role role, @Nullable ComputeServer computeServer) {
  /** Returns the epoch that its requests have, 0 for none. */
  public long epoch() {
    return computeServer == null ? 0 : computeServer.epoch();
  }
}
