package pando.fabric.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;

/**
 * Frames that gather to be sent in one piece, by a channel that need not take them at once.
 * Allocates only to grow. Not thread-safe.
 */
public final class FrameOutput {
  private static final int REQUESTS_BYTES_MIN = 32 << 10;

  private final int bytesMin;
  private final int keptMax;

  /** From the position to the limit, what is not sent. */
  private ByteBuffer bytes;

  private long added;

  /** Creates an empty output of requests to a memory server. */
  public FrameOutput() {
    this(REQUESTS_BYTES_MIN, Integer.MAX_VALUE);
  }

  /**
   * Creates an empty output.
   *
   * @param bytesMin room at first
   * @param keptMax greatest room that is kept once all was sent
   */
  public FrameOutput(int bytesMin, int keptMax) {
    this.bytesMin = bytesMin;
    this.keptMax = keptMax;
    this.bytes = allocate(bytesMin).limit(0);
  }

  /** Adds a request. */
  public void add(RequestWriter request) {
    int at = add(request.length());
    request.copyTo(bytes, at);
  }

  /**
   * Adds bytes, which the caller writes before any are sent.
   *
   * @return where they begin in {@link #bytes}, until the next call
   */
  public int add(int length) {
    ensure(length);
    added += length;
    return bytes.limit() - length;
  }

  /** Takes back the last bytes that were added, none of which was sent. */
  public void remove(int length) {
    bytes.limit(bytes.limit() - length);
    added -= length;
  }

  /** Returns the bytes that are not sent yet, and their place; another one after {@link #add}. */
  public ByteBuffer bytes() {
    return bytes;
  }

  /** Returns how many bytes are not sent yet. */
  public int unsent() {
    return bytes.remaining();
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
    if (bytes.isDirect()) {
      if (bytes.hasRemaining()) {
        int written = channel.write(bytes);
        assert written >= 0;
      }
    } else {
      sendInParts(channel);
    }
  }

  /** Sends from the heap, for which the channel takes as much native memory as it is given. */
  private void sendInParts(WritableByteChannel channel) throws IOException {
    int end = bytes.limit();
    try {
      int part;
      int written;
      do {
        part = Math.min(end - bytes.position(), keptMax);
        bytes.limit(bytes.position() + part);
        written = channel.write(bytes);
      } while (written == part && bytes.position() < end);
    } finally {
      bytes.limit(end);
    }
    if (isEmpty()) {
      shrink();
    }
  }

  /** Begins anew, for another channel. */
  public void clear() {
    added = 0;
    bytes.position(0).limit(0);
    if (bytes.capacity() > keptMax) {
      shrink();
    }
  }

  /** Gives memory back that much to send took, if all was sent. */
  public void shrink() {
    if (isEmpty() && bytes.capacity() > bytesMin) {
      bytes = allocate(bytesMin).limit(0);
    }
  }

  private static ByteBuffer allocate(int capacity) {
    return ByteBuffer.allocateDirect(capacity).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Of the heap where it is not kept, as native memory that is given back waits for a collection.
   */
  private ByteBuffer roomFor(int capacity) {
    return capacity > keptMax
        ? ByteBuffer.allocate(capacity).order(ByteOrder.LITTLE_ENDIAN)
        : allocate(capacity);
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
      bytes = roomFor(doubled).put(bytes).flip();
    }
    bytes.limit(bytes.limit() + more);
  }
}
