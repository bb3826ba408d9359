package pando.fabric.wire;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;

/**
 * The bytes of one direction of a connection: a frame, and where frames are read, what came behind
 * it. Grows to the largest frame that it ever had, {@link Frame#BYTES_MAX} at most. Allocates only
 * to grow. Not thread-safe.
 */
public final class FrameBuffer {
  private static final int BYTES_MIN = 8 << 10;

  private ByteBuffer bytes;
  private MemorySegment segment;

  /** Creates an empty buffer. */
  public FrameBuffer() {
    // A buffer of the JVM: channels make an object for each use of one from a shared arena.
    bytes = allocate(BYTES_MIN);
    segment = MemorySegment.ofBuffer(bytes);
  }

  /**
   * Returns the buffer: the frame starts at 0, and the position is the end of what was read.
   * Another one after {@link #ensure} or {@link #fill}.
   */
  public ByteBuffer bytes() {
    return bytes;
  }

  /** Returns the same bytes as a segment. */
  public MemorySegment segment() {
    return segment;
  }

  /** Makes room for a frame and keeps what is there. */
  public void ensure(int length) {
    if (length > bytes.capacity()) {
      int doubled = Integer.highestOneBit(length - 1) << 1;
      ByteBuffer larger = allocate(Math.min(doubled, Frame.BYTES_MAX));
      // Of the buffer while it is empty: a segment begins at the position.
      segment = MemorySegment.ofBuffer(larger);
      bytes = larger.put(bytes.flip());
    }
  }

  /** Returns whether nothing was read, or all of it was {@linkplain #consume removed}. */
  public boolean isEmpty() {
    return bytes.position() == 0;
  }

  /** Empties the buffer. */
  public void clear() {
    bytes.clear();
  }

  /**
   * Reads once, unless a whole frame is there.
   *
   * @param headerBytes least length of a frame
   * @return whether a whole frame is there
   * @throws EOFException if the other side ended the connection
   * @throws FrameException if no frame has such a length
   */
  public boolean fill(ReadableByteChannel channel, int headerBytes) throws IOException {
    if (hasFrame(headerBytes)) {
      return true;
    }
    if (channel.read(bytes) < 0) {
      throw new EOFException("the other side ended the connection: bytes=" + bytes.position());
    }
    return hasFrame(headerBytes);
  }

  /** Returns the length of the frame that was read. */
  public int length() {
    return bytes.getInt(Frame.LENGTH);
  }

  /** Returns the sequence of the frame; without meaning before its header was read. */
  public long sequence() {
    return bytes.getLong(Frame.SEQUENCE);
  }

  /** Removes the frame that was read; what came behind it is the start of the next. */
  public void consume() {
    int length = length();
    int end = bytes.position();
    bytes.position(length).limit(end).compact();
  }

  /** Writes the first bytes of the buffer, all of them. */
  public void send(WritableByteChannel channel, int length) throws IOException {
    bytes.position(0).limit(length);
    while (bytes.hasRemaining()) {
      int written = channel.write(bytes);
      assert written >= 0;
    }
  }

  /**
   * Returns whether a whole frame is there.
   *
   * @param headerBytes least length of a frame
   * @throws FrameException if no frame has such a length
   */
  public boolean hasFrame(int headerBytes) throws FrameException {
    if (bytes.position() < Integer.BYTES) {
      return false;
    }
    int length = checkedLength(length(), headerBytes, Frame.BYTES_MAX);
    ensure(length);
    return bytes.position() >= length;
  }

  /**
   * Returns the length of a frame.
   *
   * @throws FrameException if no frame has it
   */
  static int checkedLength(int length, int headerBytes, int bytesMax) throws FrameException {
    if (length < headerBytes || length > bytesMax || length % Long.BYTES != 0) {
      throw new FrameException(
          "impossible length of a frame: length="
              + Integer.toUnsignedString(length)
              + ", minimum="
              + headerBytes
              + ", maximum="
              + bytesMax);
    }
    return length;
  }

  private static ByteBuffer allocate(int capacity) {
    return ByteBuffer.allocateDirect(capacity).order(ByteOrder.LITTLE_ENDIAN);
  }
}
