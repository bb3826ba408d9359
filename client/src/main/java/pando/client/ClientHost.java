package pando.client;

import java.io.IOException;
import java.nio.channels.ByteChannel;

/**
 * What a client takes from where it runs: a clock, pauses, random numbers, and the way to compute
 * servers. The simulator has another one, in virtual time. Thread-safe.
 */
public interface ClientHost extends AutoCloseable {
  /** Returns a monotonic clock, in nanoseconds from any origin. */
  long nanoTime();

  /** Waits for a time; less if the thread is interrupted, or for no reason. */
  void pause(long nanos);

  /** Returns a random number. */
  long random();

  /** Returns the way to a compute server, which need not be there yet. */
  Line line(String address);

  /** Ends what is under way at its lines. */
  @Override
  void close();

  /**
   * The way to one compute server, by one connection after another. Its user holds a lock during
   * all calls but {@link #await}.
   */
  interface Line {
    /**
     * Connects, as it is not connected.
     *
     * @return where bytes go and come, without waiting
     * @throws IOException if that is not possible
     */
    ByteChannel open() throws IOException;

    /** Sets whether {@link #await} also ends when the channel takes bytes. */
    void awaitRoom(boolean awaits);

    /** Waits until something comes, for a time at most; any other call ends the wait. */
    void await(long nanosMax) throws IOException;

    /** Ends the connection, if there is one. */
    void end();

    /** Ends it for good. */
    void close() throws IOException;
  }
}
