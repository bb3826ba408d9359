package pando.fabric.tcp;

import java.io.IOException;

/**
 * The way of one worker's requests to a memory server, one at a time, and of their responses. It is
 * made for one request and one response, which are filled again and again.
 */
interface RequestPath {
  /** Returns whether a request can be sent without {@link #open}. */
  boolean isOpen();

  /**
   * Opens it.
   *
   * @throws IOException if the memory server accepts no connection
   */
  void open() throws IOException;

  /**
   * Sends the request.
   *
   * @param deadline time of {@link System#nanoTime} by which its response must be there
   * @throws IOException if the way is cut; see {@link #hasLeft}
   */
  void send(long sequence, long deadline) throws IOException;

  /**
   * Waits for the response.
   *
   * @throws IOException if none comes; see {@link #hasLeft}
   */
  void receive() throws IOException;

  /** Returns whether the request that failed may have left whole. */
  boolean hasLeft();

  /** Cuts the way: what is under way is lost, and it must be opened again. */
  void cut();

  /** Gives the way up, as its worker is closed. */
  void release();
}
