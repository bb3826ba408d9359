package pando.bench.trial;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import pando.cluster.Membership;
import pando.cluster.MemoryCoordinator;
import pando.cluster.MemoryMembership;
import pando.sim.Cluster;
import pando.sim.fault.Fault;

/** A coordinator in virtual time: its calls take time, and sessions are lost by a fault. */
final class SimCoordinator {
  static final Duration SESSION_TIMEOUT = Duration.ofMillis(6);
  private static final long WAY_NANOS_MAX = 50_000;

  /** One way in so many takes long. */
  private static final int SLOW_EVERY = 100;

  private static final long SLOW_NANOS_MAX = 2_000_000;

  private final Cluster cluster;
  private final RandomGenerator random;
  private final MemoryCoordinator entries = new MemoryCoordinator(SESSION_TIMEOUT);
  private long advancedTo;

  /** Of compute servers, and connected when it was last looked. */
  private final List<MemoryMembership> losable = new ArrayList<>();

  SimCoordinator(Cluster cluster, RandomGenerator random) {
    this.cluster = cluster;
    this.random = random;
  }

  /** Returns what it keeps, whose calls take no time. */
  MemoryCoordinator entries() {
    return entries;
  }

  /** Opens a session of a process that cannot lose it. */
  SimMembership connect() {
    return new SimMembership(this, entries.connect());
  }

  /** Opens a session of a compute server. */
  SimMembership connectComputeServer() {
    MemoryMembership session = entries.connect();
    losable.add(session);
    return new SimMembership(this, session);
  }

  long nanos() {
    return cluster.nanos();
  }

  /** Takes the time of a message to the coordinator or from it. */
  void way() {
    long nanos = 1_000 + random.nextLong(WAY_NANOS_MAX);
    cluster.sleepNanos(
        nanos + (random.nextInt(SLOW_EVERY) == 0 ? random.nextLong(SLOW_NANOS_MAX) : 0));
  }

  /** Returns for how long the entries that a session reads stand still, 0 if they do not. */
  long stale() {
    return cluster.faultNanos(Fault.STALE_ROUTE);
  }

  /** Lets a fault strike a compute server's session: it ends, or is not heard of for a while. */
  void strike() {
    losable.removeIf(session -> session.status() != Membership.Status.CONNECTED);
    long nanos = losable.isEmpty() ? 0 : cluster.faultNanos(Fault.SESSION_LOST);
    if (nanos == 0) {
      return;
    }
    MemoryMembership session = losable.remove(random.nextInt(losable.size()));
    if (random.nextBoolean()) {
      session.close();
    } else {
      advance();
      entries.disconnect(session);
      cluster.core(0).spawn("silence", () -> endSilence(session, nanos));
    }
  }

  private void endSilence(MemoryMembership session, long nanos) {
    long timeout = SESSION_TIMEOUT.toNanos();
    cluster.sleepNanos(Math.min(nanos, timeout));
    advance();
    cluster.sleepNanos(Math.max(0, nanos - timeout));
    entries.reconnect(session);
    losable.add(session);
  }

  private void advance() {
    long now = cluster.nanos();
    entries.advance(Duration.ofNanos(now - advancedTo));
    advancedTo = now;
  }
}
