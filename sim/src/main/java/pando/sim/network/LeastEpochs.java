package pando.sim.network;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import pando.fabric.ComputeServer;
import pando.sim.time.Simulation;

/**
 * The least epoch of each compute server that each memory server accepts.
 *
 * <p>A memory server answers a fence once the READs and WRITEs of lower epochs whose parts it has
 * begun to move are done. After the answer none of these may take effect. That is checked at every
 * effect, against the answers and not against what refuses: what breaks it ends the run.
 */
public final class LeastEpochs {
  /** A bug that a test plants: a memory server answers before what it has begun is done. */
  private static final boolean ANSWERED_EARLY =
      System.getProperty("pando.plant", "").equals("fence-answered-early");

  private final Simulation simulation;
  private final long[][] accepted;

  /** As accepted, but from the answer to a fence on. */
  private final long[][] answered;

  /** The READs and WRITEs whose parts move. */
  private final List<Message> moving = new ArrayList<>();

  LeastEpochs(Simulation simulation, int memoryServers) {
    this.simulation = simulation;
    accepted = new long[memoryServers][ComputeServer.NUMBER_MAX + 1];
    answered = new long[memoryServers][ComputeServer.NUMBER_MAX + 1];
  }

  /**
   * Raises the least epoch of a compute server at a memory server.
   *
   * @return whether what was begun is done: if so, nothing of lower epochs takes effect any more;
   *     if not, the fence must be repeated
   */
  public boolean raise(int memoryServer, int computeServer, long leastEpoch) {
    long[] least = accepted[memoryServer];
    least[computeServer] = Math.max(least[computeServer], leastEpoch);
    if (!ANSWERED_EARLY && moving.stream().anyMatch(message -> isLate(message, accepted))) {
      return false;
    }
    answered[memoryServer][computeServer] = least[computeServer];
    return true;
  }

  /** Has a memory server accept all, as one that starts does. */
  void forget(int memoryServer) {
    Arrays.fill(accepted[memoryServer], 0);
    Arrays.fill(answered[memoryServer], 0);
  }

  /** Returns whether the memory server refuses a message. */
  boolean refuses(Message message) {
    return isLate(message, accepted);
  }

  /** Says that the parts of a READ or WRITE move from now on. */
  void begin(Message message) {
    moving.add(message);
  }

  /** Says that all its parts have moved. */
  void end(Message message) {
    moving.remove(message);
  }

  /** Ends the run if a message must not take effect any more. */
  void checkEffect(Message message) {
    // Outside of a run threads are not in turn; there the fences of threads hold.
    if (simulation.isRunning() && isLate(message, answered)) {
      throw new AssertionError(
          "a verb takes effect behind the answer to a fence: sender="
              + message.sender()
              + ", memoryServer="
              + message.queuePair().memoryServer
              + ", verb="
              + message);
    }
  }

  private static boolean isLate(Message message, long[][] least) {
    ComputeServer sender = message.sender();
    return sender != null
        && sender.epoch() < least[message.queuePair().memoryServer][sender.number()];
  }
}
