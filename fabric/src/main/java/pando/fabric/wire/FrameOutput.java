package pando.fabric.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;

/**
 * Frames that gather to be sent in one piece, by a channel that need not take them at once.
 * Allocates only to grow. Not thread-safe.
 */
public final class FrameOutput {
  private static final int BYTES_MIN = 32 << 10;

  /** From the position to the limit, what is not sent. */
  private ByteBuffer bytes = ByteBuffer.allocateDirect(BYTES_MIN).limit(0);

  private long added;

  /** Creates an empty output. */
  public FrameOutput() {}

  /** Adds a request. */
  public void add(RequestWriter request) {
    int length = request.length();
    ensure(length);
    request.copyTo(bytes, bytes.limit() - length);
    added += length;
  }

  /** Returns the bytes that were added so far. */
  public long added() {
    return added;
  }

  /** Returns how many of them were sent. */
  public long sent() {
    return added - bytes.remaining();
  }

  /** Returns whether all was sent. */
  public boolean isEmpty() {
    return !bytes.hasRemaining();
  }

  /** Sends what the channel takes. */
  public void send(WritableByteChannel channel) throws IOException {
    if (bytes.hasRemaining()) {
      int written = channel.write(bytes);
      assert written >= 0;
    }
  }

  /** Begins anew, for another channel. */
  public void clear() {
    added = 0;
    bytes.position(0).limit(0);
  }

  /** Makes room for more bytes before the limit. */
  private void ensure(int more) {
    int left = bytes.remaining();
    if (left == 0) {
      bytes.position(0).limit(0);
    } else if (bytes.limit() + more > bytes.capacity()) {
      bytes.compact().flip();
    }
    if (left + more > bytes.capacity()) {
      int doubled = Integer.highestOneBit(left + more - 1) << 1;
      bytes = ByteBuffer.allocateDirect(doubled).put(bytes).flip();
    }
    bytes.limit(bytes.limit() + more);
  }
}
