package pando.client.server;

import java.util.ArrayDeque;

/**
 * Bounds the memory that long frames of a lane's connections take together: requests on their way
 * in, and responses that clients have not taken. All methods are called under the lock of the lane.
 *
 * <pre>
 *   a long request says its length --reserve--> it comes --> its operation --release--> the next that waits
 *   a long response --add--> the client takes it --release--> connections whose operations wait
 * </pre>
 *
 * <p>A request takes all that it says before it comes, so those that have begun can end, and each
 * ends in a limited time. Operations wait while responses take all there is; those under way then
 * may go beyond it.
 */
final class LongFrames {
  private final long bytesMax;
  private final ArrayDeque<ClientConnection> arriving = new ArrayDeque<>();
  private final ArrayDeque<ClientConnection> stopped = new ArrayDeque<>();
  private long requestBytes;
  private long responseBytes;

  /**
   * Begins with none.
   *
   * @param bytesMax most bytes of requests, and of responses; at least those of one frame
   */
  LongFrames(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /**
   * Reserves memory for a request, or has the connection wait for its turn: it is {@linkplain
   * ClientConnection#reserved called} then.
   */
  boolean reserve(ClientConnection connection, int bytes) {
    if (!arriving.isEmpty() || requestBytes + bytes > bytesMax) {
      arriving.addLast(connection);
      return false;
    }
    requestBytes += bytes;
    return true;
  }

  /** Gives back what a request took. */
  void release(int bytes) {
    requestBytes -= bytes;
    while (!arriving.isEmpty() && requestBytes + arriving.getFirst().wanted() <= bytesMax) {
      ClientConnection next = arriving.removeFirst();
      requestBytes += next.wanted();
      next.reserved();
    }
  }

  /** Returns whether an operation may begin; if not, the connection is called when one may. */
  boolean mayOperate(ClientConnection connection) {
    boolean may = responseBytes < bytesMax;
    if (!may && !connection.isStopped) {
      connection.isStopped = true;
      stopped.addLast(connection);
    }
    return may;
  }

  /** Notes that responses of a connection take more memory than before, or less. */
  void addResponses(long bytes) {
    responseBytes += bytes;
    while (!stopped.isEmpty() && responseBytes < bytesMax) {
      ClientConnection next = stopped.removeFirst();
      next.isStopped = false;
      next.note();
    }
  }

  /** Forgets a connection that waits. */
  void forget(ClientConnection connection) {
    arriving.remove(connection);
    stopped.remove(connection);
  }
}
