package pando.fabric;

import java.util.concurrent.ThreadFactory;

/**
 * A platform thread that carries many virtual threads, to keep many operations under way on one
 * core: while one waits for a verb, the others go on. Code in blocking style runs in it unchanged.
 *
 * <pre>{@code
 * try (Lane lane = fabric.lane("lookups");
 *     ExecutorService threads = Executors.newThreadPerTaskExecutor(lane)) {
 *   threads.submit(() -> lookUp(index)); // opens its own session, as 15 others do
 * }
 * }</pre>
 *
 * <p>A worker that a thread of the lane opens at the lane's fabric belongs to the lane. What such
 * workers send to a memory server shares a connection, and goes out together once all threads wait.
 *
 * <p>A thread gives way where it waits: for a verb, for another session, or in locks and queues of
 * the JDK. One that computes for long, or finds all that it looks up in caches, holds up the others
 * of its lane unless it calls {@link Thread#yield} now and then. The JVM must be started with
 * {@code --add-opens java.base/java.lang=pando.fabric}; without it the threads run on the JDK's own
 * scheduler, which may take further cores, and a line in the log says so once.
 *
 * <p>Thread-safe.
 */
public interface Lane extends ThreadFactory, AutoCloseable {
  /**
   * Makes a thread of this lane, to be started by the caller.
   *
   * @throws IllegalStateException if this lane is closed
   */
  @Override
  Thread newThread(Runnable body);

  /**
   * Waits until all threads of this lane that were started have ended, and ends it. Virtual threads
   * that those have started must have ended before. A second call does nothing.
   *
   * @throws IllegalStateException if a thread of this lane calls it
   */
  @Override
  void close();
}
