package pando.fabric.lane;

import org.jspecify.annotations.Nullable;

/** A thread's place in the timer of its lane, used again for each sleep. */
final class Sleeper {
  /** Waits until the sleep is over. */
  final Waiter waiter = new Waiter();

  /** The next of its slot in the timer. */
  @Nullable Sleeper next;
}
