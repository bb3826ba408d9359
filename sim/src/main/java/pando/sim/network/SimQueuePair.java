package pando.sim.network;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The way of one worker to one memory server. Messages do not overtake each other: a later one
 * arrives at least a picosecond later, and waiting messages are served in the order of arrival.
 */
public final class SimQueuePair {
  /** In place of an incarnation: whichever the memory server has. */
  public static final int ANY = -1;

  final int computeServer;
  final int memoryServer;

  /** Incarnation of the memory server that it leads to, or {@link #ANY}. */
  final int incarnation;

  long arrival;
  long effect;
  long delivery;

  /** Whether an atomic waits for its bucket; messages that arrive after it wait as well. */
  boolean held;

  /** Messages that the card has taken from the wire while the queue pair was held. */
  final Queue<Message> behind = new ArrayDeque<>();

  /** Whether the lines of a torn verb are taking effect one by one. */
  boolean torn;

  /** Messages whose effect waits until the torn verb is complete. */
  final Queue<Message> postponed = new ArrayDeque<>();

  /** READs that were sent and are not answered. */
  int reads;

  /**
   * WRITEs and atomics that are sent when those READs are answered, and all messages posted behind
   * them.
   */
  final Queue<Message> behindReads = new ArrayDeque<>();

  /** READs that must be served again, in order. */
  final Queue<Message> late = new ArrayDeque<>();

  /**
   * Over TCP, the connection that the worker uses with others; {@code null} before its first verb.
   */
  @Nullable SimTcpConnection connection;

  /** Why the rest of the list is flushed, or {@code null}. */
  @Nullable RuntimeException error;

  /**
   * Connects a worker of a compute server to a memory server.
   *
   * @param incarnation of the memory server, or {@link #ANY}
   */
  public SimQueuePair(int computeServer, int memoryServer, int incarnation) {
    this.computeServer = computeServer;
    this.memoryServer = memoryServer;
    this.incarnation = incarnation;
  }
}
