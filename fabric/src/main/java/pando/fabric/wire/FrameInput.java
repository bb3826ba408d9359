package pando.fabric.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;

/**
 * Responses that arrive one behind the other, by a channel that need not give them at once.
 * Allocates only to grow. Not thread-safe.
 */
public final class FrameInput {
  private static final int BYTES_MIN = 32 << 10;

  /** Arrived bytes end at the position. */
  private ByteBuffer bytes = allocate(BYTES_MIN);

  /** Where the next frame starts. */
  private int start;

  /** Creates an empty input. */
  public FrameInput() {}

  /**
   * Reads what the channel gives, once; there must be no whole frame.
   *
   * @return the number of bytes, -1 if the other side ended the connection
   */
  public int read(ReadableByteChannel channel) throws IOException {
    makeRoom();
    return channel.read(bytes);
  }

  /**
   * Returns whether a whole frame is there.
   *
   * @throws FrameException if no frame has such a length
   */
  public boolean hasFrame() throws FrameException {
    int arrived = bytes.position() - start;
    return arrived >= Integer.BYTES
        && arrived >= FrameBuffer.checkedLength(length(), Frame.RESPONSE_BYTES);
  }

  /** Returns the length of the frame. */
  int length() {
    return bytes.getInt(start + Frame.LENGTH);
  }

  /** Copies the frame to the start of a buffer. */
  void copyTo(ByteBuffer frame) {
    frame.put(0, bytes, start, length());
  }

  /** Goes to the next frame. */
  public void next() {
    start += length();
  }

  /** Begins anew, for another channel. */
  public void clear() {
    start = 0;
    bytes.clear();
  }

  /** Moves the part of a frame that is there to the start, and makes room for all of it. */
  private void makeRoom() {
    if (start > 0) {
      bytes.flip().position(start).compact();
      start = 0;
    }
    int arrived = bytes.position();
    int needed = arrived < Integer.BYTES ? 0 : length();
    if (needed > bytes.capacity()) {
      int doubled = Integer.highestOneBit(needed - 1) << 1;
      bytes = allocate(doubled).put(bytes.flip());
    }
  }

  private static ByteBuffer allocate(int capacity) {
    return ByteBuffer.allocateDirect(capacity).order(ByteOrder.LITTLE_ENDIAN);
  }
}
