package pando.fabric.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;

/**
 * Frames that arrive one behind the other, by a channel that need not give them at once. Allocates
 * only to grow. Not thread-safe.
 *
 * <p>Frames of some kinds may be long. For a long frame memory is taken as its bytes come, and
 * given back once it was read.
 */
public final class FrameInput {
  /** Decides which frames may be long. */
  @FunctionalInterface
  public interface Lengths {
    /** Returns the greatest length of the frame whose header begins at a place. */
    int lengthMax(ByteBuffer bytes, int start);
  }

  private static final int RESPONSES_BYTES_MIN = 32 << 10;

  private final int headerBytes;
  private final int bytesMin;
  private final int bytesMax;
  private final int longBytesMax;
  private final Lengths lengths;

  /** Arrived bytes end at the position. */
  private ByteBuffer bytes;

  /** Where the next frame starts. */
  private int start;

  /** Creates an empty input of responses of memory servers. */
  public FrameInput() {
    this(
        Frame.RESPONSE_BYTES,
        RESPONSES_BYTES_MIN,
        Frame.BYTES_MAX,
        Frame.BYTES_MAX,
        (_, _) -> Frame.BYTES_MAX);
  }

  /**
   * Creates an empty input.
   *
   * @param headerBytes least length of a frame
   * @param bytesMin room at first, enough for a header
   * @param bytesMax greatest length of a frame that is not long
   * @param longBytesMax greatest length of all
   * @param lengths decides which may be long
   */
  public FrameInput(
      int headerBytes, int bytesMin, int bytesMax, int longBytesMax, Lengths lengths) {
    this.headerBytes = headerBytes;
    this.bytesMin = bytesMin;
    this.bytesMax = bytesMax;
    this.longBytesMax = longBytesMax;
    this.lengths = lengths;
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
    if (bytes.isDirect()) {
      return channel.read(bytes);
    }
    // The channel takes as much native memory as it is given room.
    bytes.limit(Math.min(bytes.capacity(), bytes.position() + bytesMax));
    try {
      return channel.read(bytes);
    } finally {
      bytes.limit(bytes.capacity());
    }
  }

  /**
   * Returns whether a whole frame is there.
   *
   * @throws FrameException if no frame has such a length
   */
  public boolean hasFrame() throws FrameException {
    int arrived = bytes.position() - start;
    return arrived >= Integer.BYTES
        && arrived >= FrameBuffer.checkedLength(length(), headerBytes, lengthMax(arrived));
  }

  /** Returns the greatest length, which is known once the header is there. */
  private int lengthMax(int arrived) {
    return arrived < headerBytes ? longBytesMax : lengths.lengthMax(bytes, start);
  }

  /** Returns the length that the next frame says it has, if that is a long one; else 0. */
  public int longLength() {
    boolean isKnown = bytes.position() - start >= Integer.BYTES;
    return isKnown && length() > bytesMax ? Math.min(length(), longBytesMax) : 0;
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
    if (bytes.capacity() > bytesMax) {
      shrink();
    }
  }

  /** Begins anew, for another channel. */
  public void clear() {
    start = 0;
    bytes.clear();
    if (bytes.capacity() > bytesMax) {
      shrink();
    }
  }

  /** Gives memory back that long frames took, if nothing is there. */
  public void shrink() {
    if (isEmpty() && bytes.capacity() > bytesMin) {
      bytes = allocate(bytesMin);
      start = 0;
    }
  }

  /** Moves the part of a frame that is there to the start, and makes room for more of it. */
  private void makeRoom() {
    if (start > 0) {
      bytes.flip().position(start).compact();
      start = 0;
    }
    int arrived = bytes.position();
    int needed = arrived < Integer.BYTES ? 0 : Math.min(length(), bytesMax);
    if (needed > bytes.capacity()) {
      int doubled = Integer.highestOneBit(needed - 1) << 1;
      bytes = allocate(doubled).put(bytes.flip());
    } else if (!bytes.hasRemaining() && longLength() > bytes.capacity()) {
      // No more than this frame, so that nothing is behind it when it is given back; of the heap,
      // as native memory that is given back waits for a collection.
      int grown = Math.min(longLength(), 2 * bytes.capacity());
      bytes = ByteBuffer.allocate(grown).order(ByteOrder.LITTLE_ENDIAN).put(bytes.flip());
    }
  }

  private static ByteBuffer allocate(int capacity) {
    return ByteBuffer.allocateDirect(capacity).order(ByteOrder.LITTLE_ENDIAN);
  }
}
