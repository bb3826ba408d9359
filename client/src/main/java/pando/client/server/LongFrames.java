package pando.client.server;

import java.util.LinkedHashSet;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the memory that long frames of a lane's connections take together: requests on their way
 * in, and responses that clients have not taken. All methods are called under the lock of the lane,
 * which asks for the {@linkplain #next next} connection that goes on.
 *
 * <pre>
 *   a long request says its length --reserve--> it comes --> its operation --release--> the next that waits
 *   a long response --add--> the client takes it --release--> connections whose operations wait
 * </pre>
 *
 * <p>A request takes all that it says before it comes, so those that have begun can end, and each
 * ends in a limited time. Operations wait while responses take all there is; those under way then
 * may go beyond it.
 *
 * @param <C> connection
 */
final class LongFrames<C> {
  private final long bytesMax;
  private final SequencedSet<C> arriving = new LinkedHashSet<>();
  private final SequencedSet<C> stopped = new LinkedHashSet<>();
  private long requestBytes;
  private long responseBytes;

  /** Whether the first of those that wait for memory may try again. */
  private boolean mayArrive;

  /**
   * Begins with none.
   *
   * @param bytesMax most bytes of requests, and of responses; at least those of one frame
   */
  LongFrames(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** Reserves memory for a request, or has the connection wait for its turn to try again. */
  boolean reserve(C connection, int bytes) {
    boolean isFirst = arriving.isEmpty() || arriving.getFirst().equals(connection);
    if (!isFirst || requestBytes + bytes > bytesMax) {
      arriving.add(connection);
      return false;
    }
    requestBytes += bytes;
    arriving.remove(connection);
    mayArrive = true;
    return true;
  }

  /** Gives back what a request took. */
  void release(int bytes) {
    requestBytes -= bytes;
    mayArrive = true;
  }

  /** Returns whether an operation may begin; if not, the connection waits until one may. */
  boolean mayOperate(C connection) {
    boolean may = responseBytes < bytesMax;
    if (!may) {
      stopped.add(connection);
    }
    return may;
  }

  /** Notes that responses of a connection take more memory than before, or less. */
  void addResponses(long bytes) {
    responseBytes += bytes;
  }

  /** Returns a connection that has waited and may go on, {@code null} if there is none. */
  @Nullable C next() {
    if (!stopped.isEmpty() && responseBytes < bytesMax) {
      return stopped.removeFirst();
    }
    C first = mayArrive && !arriving.isEmpty() ? arriving.getFirst() : null;
    mayArrive = false;
    return first;
  }

  /** Forgets a connection that waits. */
  void forget(C connection) {
    arriving.remove(connection);
    stopped.remove(connection);
    mayArrive = true;
  }
}
