package pando.fabric.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;

/**
 * Frames that arrive one behind the other, by a channel that need not give them at once. Allocates
 * only to grow. Not thread-safe.
 */
public final class FrameInput {
  private static final int RESPONSES_BYTES_MIN = 32 << 10;

  private final int headerBytes;
  private final int bytesMin;
  private final int bytesMax;

  /** Arrived bytes end at the position. */
  private ByteBuffer bytes;

  /** Where the next frame starts. */
  private int start;

  /** Creates an empty input of responses of memory servers. */
  public FrameInput() {
    this(Frame.RESPONSE_BYTES, RESPONSES_BYTES_MIN, Frame.BYTES_MAX);
  }

  /**
   * Creates an empty input.
   *
   * @param headerBytes least length of a frame
   * @param bytesMin room at first
   * @param bytesMax greatest length of a frame
   */
  public FrameInput(int headerBytes, int bytesMin, int bytesMax) {
    this.headerBytes = headerBytes;
    this.bytesMin = bytesMin;
    this.bytesMax = bytesMax;
    this.bytes = allocate(bytesMin);
  }

  /** Returns whether there is room to read what comes behind the frames that are there. */
  public boolean hasRoom() throws FrameException {
    return start > 0 || bytes.hasRemaining() || !hasFrame();
  }

  /** Returns whether nothing is there, not even a part of a frame. */
  public boolean isEmpty() {
    return bytes.position() == start;
  }

  /**
   * Reads what the channel gives, once; there must be {@linkplain #hasRoom room}.
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
        && arrived >= FrameBuffer.checkedLength(length(), headerBytes, bytesMax);
  }

  /** Returns the bytes, in which the frame begins at {@link #start}, until the next read. */
  public ByteBuffer bytes() {
    return bytes;
  }

  /** Returns where the frame begins. */
  public int start() {
    return start;
  }

  /** Returns the length of the frame. */
  public int length() {
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

  /** Gives memory back that long frames took, if nothing is there. */
  public void shrink() {
    if (isEmpty() && bytes.capacity() > bytesMin) {
      bytes = allocate(bytesMin);
      start = 0;
    }
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
