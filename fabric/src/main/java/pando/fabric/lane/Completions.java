package pando.fabric.lane;

import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.function.Consumer;

/**
 * The verbs under way of a lane: they complete here, and what waits for one goes on.
 *
 * <p>One thread at a time polls. The lane's own thread alone waits and closes, and may wait while
 * another polls.
 */
public interface Completions extends AutoCloseable {
  /**
   * Sends what gathered, and lets each thread go on whose verbs are complete.
   *
   * @return whether there was one
   */
  boolean poll();

  /**
   * Waits until a verb may be complete, until {@link #wakeUp} is called or was called since the
   * last wait, or until a time has passed.
   *
   * @param nanos longest wait, more than 0
   * @param ready receives those sockets of {@link #selector} that are ready and others have
   *     registered
   */
  void await(long nanos, Consumer<SelectionKey> ready);

  /** Ends the wait under way, or the next. Thread-safe. */
  void wakeUp();

  /**
   * Returns a selector whose sockets end {@link #await}, too, when they are ready. Theirs are not
   * the only keys in it. Thread-safe.
   */
  Selector selector();

  /** Releases what it has. */
  @Override
  void close();
}
