package pando.sim.network;

import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import pando.sim.fault.Fault;
import pando.sim.time.Simulation;

/**
 * Memory servers that are down, and servers that are cut off from each other. A memory server that
 * crashes gets a new incarnation: messages that were on their way to the old one, or in it, are
 * lost.
 */
final class Outages {
  private final Simulation simulation;
  private final Faults faults;
  private final IntConsumer wipe;
  private final int[] incarnations;
  private final long[] downUntil;
  private final long[][] cutUntil;

  /**
   * Starts with all servers up and connected.
   *
   * @param wipe restarts a memory server with empty memory
   */
  Outages(
      Simulation simulation,
      Faults faults,
      int computeServers,
      int memoryServers,
      IntConsumer wipe) {
    this.simulation = simulation;
    this.faults = faults;
    this.wipe = wipe;
    incarnations = new int[memoryServers];
    downUntil = new long[memoryServers];
    cutUntil = new long[computeServers][memoryServers];
  }

  /**
   * Lets faults strike when a message is sent; the message goes to the present incarnation of the
   * memory server.
   */
  void strike(Message message) {
    SimQueuePair pair = message.queuePair();
    int server = pair.memoryServer;
    boolean isOfAny = pair.incarnation == SimQueuePair.ANY;
    message.incarnation = isOfAny ? incarnations[server] : pair.incarnation;
    long cut = faults.picosOf(Fault.CUT);
    if (cut > 0) {
      cutUntil[pair.computeServer][server] = simulation.now() + cut;
    }
    long down = faults.picosOf(Fault.CRASH_MEMORY);
    if (down > 0) {
      crash(server, down);
    }
    down = faults.picosOf(Fault.WIPE_MEMORY);
    if (down > 0) {
      crash(server, down);
      wipe.accept(server);
    }
    if (faults.strikes(Fault.LOSE_MEMORY)) {
      stop(server);
    }
  }

  private void crash(int server, long down) {
    incarnations[server]++;
    downUntil[server] = simulation.now() + down;
  }

  /** Ends a memory server. */
  void stop(int server) {
    crash(server, Long.MAX_VALUE - simulation.now());
  }

  /** Starts one that has ended, with empty memory. */
  void start(int server) {
    wipe.accept(server);
    downUntil[server] = 0;
  }

  /** Returns the incarnations of the memory servers. */
  int[] incarnations() {
    return incarnations.clone();
  }

  /** Returns whether a memory server has ended. */
  boolean isLost(int server) {
    return downUntil[server] == Long.MAX_VALUE;
  }

  /** Returns whether the memory server crashed since a message was sent. */
  boolean hasCrashedSince(Message message) {
    return message.incarnation != incarnations[message.queuePair().memoryServer];
  }

  /** Returns why a message cannot get through now, or {@code null}. */
  @Nullable String lostBecause(Message message) {
    SimQueuePair pair = message.queuePair();
    if (hasCrashedSince(message) || simulation.now() < downUntil[pair.memoryServer]) {
      return "it is down";
    }
    if (simulation.now() < cutUntil[pair.computeServer][pair.memoryServer]) {
      return "the network is cut";
    }
    return null;
  }
}
