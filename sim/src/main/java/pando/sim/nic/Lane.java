package pando.sim.nic;

import java.util.ArrayDeque;
import java.util.Queue;

/**
 * The way from one worker to one memory server, on which nothing overtakes: what comes later does
 * so by a picosecond at least.
 */
public final class Lane {
  long arrival;
  long effect;
  long delivery;

  /** When the lines of a torn verb have all landed. */
  long tornUntil;

  /** Whether an atomic waits for its turn, and those behind it with it. */
  boolean held;

  final Queue<Message> behind = new ArrayDeque<>();

  /** Creates an empty lane. */
  public Lane() {}
}
