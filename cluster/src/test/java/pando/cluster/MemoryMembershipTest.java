package pando.cluster;

import java.time.Duration;

/** The contract, by a coordinator inside the process. */
class MemoryMembershipTest extends MembershipContract {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final MemoryCoordinator coordinator = new MemoryCoordinator(TIMEOUT);

  @Override
  protected Membership connect() {
    return coordinator.connect();
  }

  @Override
  protected void expire(Membership session) {
    disconnect(session);
    coordinator.advance(TIMEOUT);
    reconnect(session);
  }

  @Override
  protected void disconnect(Membership session) {
    coordinator.disconnect((MemoryMembership) session);
  }

  @Override
  protected void reconnect(Membership session) {
    coordinator.reconnect((MemoryMembership) session);
  }
}
