package pando.fabric.wire;

import java.lang.foreign.MemorySegment;

/** A card by which clients of a memory server reach its memory, with no part of its processors. */
public interface CardAccess extends AutoCloseable {
  /** Function of the CALL by which a client asks for a way. */
  int FUNCTION = 8;

  /** The way of one client. Closed, it ends: then nothing takes effect any more that came by it. */
  interface Way extends AutoCloseable {
    /**
     * Serves a CALL of the client.
     *
     * @param message the request, which the response replaces
     * @return length of the response
     * @throws IllegalArgumentException if the request makes no sense
     */
    int serve(MemorySegment message, int requestBytes);

    @Override
    void close();
  }

  /** What serves CALLs that come by the card. */
  interface Calls {
    /**
     * Serves a CALL; see {@link pando.fabric.server.MemoryServer#serve}.
     *
     * @param message the request, which the response replaces
     * @return length of the response
     */
    int serve(int function, MemorySegment message, int requestBytes);
  }

  /** Starts to serve CALLs; called once, before the first {@link #open}. */
  void start(Calls calls);

  /** Returns the way of a new client, which has not asked for it yet. */
  Way open();

  /** Gives the card back; all ways are closed. */
  @Override
  void close();
}
