package pando.sim.fault;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The faults of a cluster. Each strikes with a probability, per verb unless stated otherwise. */
public enum Fault {
  /** The cache lines of a READ or WRITE take effect in random order, spread over time. */
  TORN(0.3, 3_000),
  /**
   * The answer to a READ is lost: it and all READs behind it are served again later, with the
   * contents of memory at that time.
   */
  LATE_READ(0.02, 20_000),
  /** A message takes longer; messages to other servers overtake it. */
  DELAY(0.05, 30_000),
  /** A client, or a memory server's processor, stops for a long time and then continues. */
  PAUSE(0.001, 10_000_000),
  /** A clock jumps, forwards or backwards. */
  CLOCK_JUMP(0.001, 1_000_000_000),
  /**
   * Another compute server fences the one that posts a verb, which goes on with the next epoch and
   * sends again what was refused. One fence of a compute server at a time; its probability is per
   * list or CALL.
   */
  FENCE(0.003, 0),
  /**
   * The session of a compute server with the coordinator ends, or the coordinator does not hear of
   * it for a while, while the compute server goes on. Of clusters alone; its probability is per 10
   * ms.
   */
  SESSION_LOST(0.04, 12_000_000),
  /**
   * What is known of the routes is old: those of a client that was not used for long, or what a
   * session with the coordinator reads stands still for a while. Of clusters alone; its probability
   * is per operation of a client, and per read of the coordinator.
   */
  STALE_ROUTE(0.01, 5_000_000),
  /**
   * The connection of a client to a compute server is cut while a request is under way, which is
   * carried out or not. Of clusters alone; its probability is per request, and the client learns of
   * it after a while.
   */
  CUT_CLIENT(0.003, 1_000_000),
  /** A verb takes effect, and its completion is lost. */
  LOST_COMPLETION(0.0005, 0),
  /** A doorbell list ends in the middle, with an error. */
  BROKEN_LIST(0.002, 0),
  /**
   * The connection of a worker to a memory server is cut in the middle of a list or a CALL, and
   * usable again after a while: of the list, some verbs from its start on are done, and over TCP
   * all or none. Its probability is per list.
   */
  RECONNECT(0.001, 1_000_000),
  /** No message passes between a compute server and a memory server for a while. */
  CUT(0.0005, 3_000_000),
  /** No memory server has a chunk left for a while. Its probability is per allocation. */
  FULL_POOL(0.2, 2_000_000),
  /**
   * A compute server dies at a verb, or in the middle of a list. Machines do as often as {@link
   * pando.sim.ClusterOptions#crashesMax} says, and processes that have names of their own again and
   * again.
   */
  CRASH_COMPUTE(0.0005, 0),
  /** A memory server dies and comes back with its memory. Once in a run. */
  CRASH_MEMORY(0.0002, 10_000_000),
  /** A memory server dies and comes back with empty memory. Once in a run. */
  WIPE_MEMORY(0.0002, 10_000_000),
  /**
   * A memory server dies; with data folders another one takes its place. Of clusters alone, once in
   * a run; its probability is per verb.
   */
  LOSE_MEMORY(0.00015, 0),
  /**
   * All memory servers and all processes of compute servers die at once. Of clusters with data
   * folders alone; its probability is per 10 ms.
   */
  RESTART_ALL(0.05, 0);

  private final double chance;
  private final long nanosMax;

  Fault(double chance, long nanosMax) {
    this.chance = chance;
    this.nanosMax = nanosMax;
  }

  /** Returns the probability that it strikes. */
  public double chance() {
    return chance;
  }

  /**
   * Returns its maximum duration, or the maximum jump of a clock, in ns; 0 if it has no duration.
   */
  public long nanosMax() {
    return nanosMax;
  }

  /** Returns whether an index must behave as if the fault had not struck. */
  public boolean isHarmless() {
    return switch (this) {
      case TORN, LATE_READ, DELAY, PAUSE, CLOCK_JUMP, FENCE, STALE_ROUTE -> true;
      default -> false;
    };
  }

  /** Returns whether it strikes only where compute servers are those of a cluster. */
  public boolean isOfClusters() {
    return switch (this) {
      case SESSION_LOST, STALE_ROUTE, CUT_CLIENT, LOSE_MEMORY, RESTART_ALL -> true;
      default -> false;
    };
  }

  /** Returns whether it strikes no more than once in a run. */
  public boolean strikesOnce() {
    return switch (this) {
      case CRASH_COMPUTE, CRASH_MEMORY, WIPE_MEMORY, LOSE_MEMORY -> true;
      default -> false;
    };
  }

  /**
   * Returns the fault with a name.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static Fault of(String name) {
    return Arrays.stream(values())
        .filter(fault -> fault.toString().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "no such fault: name="
                    + name
                    + ", known="
                    + Arrays.stream(values())
                        .map(Fault::toString)
                        .collect(Collectors.joining(", "))));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
