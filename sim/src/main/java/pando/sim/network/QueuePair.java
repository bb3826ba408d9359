package pando.sim.network;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The way from one worker to one memory server, on which nothing overtakes: what comes later does
 * so by a picosecond at least, and what waits does so in the order of arrival.
 */
public final class QueuePair {
  final int computeServer;
  final int memoryServer;
  long arrival;
  long effect;
  long delivery;

  /** Whether an atomic waits for its turn, and what arrives after it waits with it. */
  boolean held;

  /** What the card has taken from the wire while the queue pair was held. */
  final Queue<Message> behind = new ArrayDeque<>();

  /** Whether the lines of a verb are landing. */
  boolean torn;

  /** What should have taken effect while they were. */
  final Queue<Message> postponed = new ArrayDeque<>();

  /** READs that were sent and are not answered. */
  int reads;

  /** WRITEs and atomics that are sent when those are answered, and what is posted behind them. */
  final Queue<Message> fenced = new ArrayDeque<>();

  /** READs that are to be served again, in order. */
  final Queue<Message> late = new ArrayDeque<>();

  /** Why the rest of the list is flushed, or {@code null}. */
  @Nullable RuntimeException error;

  /** Connects a worker of a compute server to a memory server. */
  public QueuePair(int computeServer, int memoryServer) {
    this.computeServer = computeServer;
    this.memoryServer = memoryServer;
  }
}
