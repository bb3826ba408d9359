package pando.fabric.tcp;

import org.jspecify.annotations.Nullable;
import pando.fabric.ComputeServer;
import pando.fabric.wire.Role;

/**
 * What a process says of itself to memory servers.
 *
 * @param credentials what proves it
 * @param role what it comes for
 * @param computeServer that it can be fenced by, or {@code null}
 */
record Introduction(Credentials credentials, Role role, @Nullable ComputeServer computeServer) {
  /** Returns the epoch that its requests have, 0 for none. */
  long epoch() {
    return computeServer == null ? 0 : computeServer.epoch();
  }
}
