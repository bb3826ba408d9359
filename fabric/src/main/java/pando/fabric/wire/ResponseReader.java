package pando.fabric.wire;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;

/**
 * Reads one response after the other, and gives its results in order; the caller knows from its
 * request what they are. Allocates only to grow. Not thread-safe.
 */
public final class ResponseReader {
  private final FrameBuffer buffer = new FrameBuffer();
  private int next;

  /** Creates a reader. */
  public ResponseReader() {}

  /**
   * Waits for a response; the one before is gone. {@link Frame#REFUSED} answers every request, as
   * one that arrived damaged may have lost its sequence.
   *
   * @param sequence that of the request
   * @throws FrameException if it is not the response to that request
   */
  public void receive(ReadableByteChannel channel, long sequence) throws IOException {
    buffer.clear();
    boolean whole = false;
    while (!whole) {
      whole = buffer.fill(channel, Frame.RESPONSE_BYTES);
    }
    check(sequence);
  }

  /**
   * Takes a response that has arrived; the one before is gone. As {@link #receive}.
   *
   * @throws FrameException if it is not the response to that request
   */
  public void accept(FrameInput input, long sequence) throws FrameException {
    int length = input.length();
    buffer.clear();
    buffer.ensure(length);
    input.copyTo(buffer.bytes());
    buffer.bytes().position(length);
    check(sequence);
  }

  private void check(long sequence) throws FrameException {
    ByteBuffer frame = buffer.bytes();
    boolean expected = frame.getLong(Frame.SEQUENCE) == sequence || status() == Frame.REFUSED;
    if (!expected || frame.position() != buffer.length()) {
      throw new FrameException(
          "not the response to the request: sequence="
              + frame.getLong(Frame.SEQUENCE)
              + ", expected="
              + sequence
              + ", bytes="
              + frame.position()
              + ", length="
              + buffer.length());
    }
    next = Frame.RESPONSE_BYTES;
  }

  /** Returns the status. */
  public int status() {
    // With the byte behind it, which must be 0.
    return buffer.bytes().getShort(Frame.STATUS);
  }

  /** Returns the detail of the status. */
  public int detail() {
    return buffer.bytes().getShort(Frame.DETAIL) & 0xffff;
  }

  /** Returns the bytes of results or of the message. */
  public int resultBytes() {
    return buffer.length() - Frame.RESPONSE_BYTES;
  }

  /** Copies the next result out. */
  public void take(MemorySegment memory, long local, int bytes) {
    MemorySegment.copy(buffer.segment(), next, memory, local, bytes);
    next += Frame.padded(bytes);
  }

  /** Returns the next 8 bytes of results. */
  public long takeWord() {
    long word = buffer.bytes().getLong(next);
    next += Long.BYTES;
    return word;
  }

  /** Returns the message; the detail has its bytes. */
  public String text() {
    int length = Math.min(detail(), resultBytes());
    byte[] text = new byte[length];
    MemorySegment.copy(
        buffer.segment(), ValueLayout.JAVA_BYTE, Frame.RESPONSE_BYTES, text, 0, length);
    return new String(text, StandardCharsets.UTF_8);
  }
}
