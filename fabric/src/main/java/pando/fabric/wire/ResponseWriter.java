package pando.fabric.wire;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;

/**
 * Writes one response after the other: {@link #begin}, a result for each verb that has one, and
 * {@link #finish}. Allocates only to grow. Not thread-safe.
 */
public final class ResponseWriter {
  private static final int TEXT_BYTES_MAX = 4032;

  private final FrameBuffer buffer = new FrameBuffer();
  private int end;

  /** Creates a writer. */
  public ResponseWriter() {}

  /**
   * Begins a response.
   *
   * @param bytes most that it will have, header included
   */
  public void begin(int bytes) {
    buffer.clear();
    buffer.ensure(bytes);
    end = Frame.RESPONSE_BYTES;
  }

  /** Returns where results go. */
  public MemorySegment segment() {
    return buffer.segment();
  }

  /** Adds a result, which the caller then copies; returns its offset in the segment. */
  public int add(int bytes) {
    int offset = end;
    Frame.clearPad(buffer.bytes(), offset, bytes);
    end += Frame.padded(bytes);
    return offset;
  }

  /** Adds the value that an atomic found. */
  public void add(long value) {
    buffer.bytes().putLong(end, value);
    end += Long.BYTES;
  }

  /** Ends the response. */
  public void finish(int status, int detail, long sequence) {
    ByteBuffer frame = buffer.bytes();
    frame.putInt(Frame.LENGTH, end);
    frame.putShort(Frame.STATUS, (short) status);
    frame.putShort(Frame.DETAIL, (short) detail);
    frame.putLong(Frame.SEQUENCE, sequence);
  }

  /** Writes a response that is a message. */
  public void message(int status, String text, long sequence) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(bytes.length, TEXT_BYTES_MAX);
    begin(Frame.RESPONSE_BYTES + Frame.padded(length));
    int offset = add(length);
    MemorySegment.copy(bytes, 0, buffer.segment(), ValueLayout.JAVA_BYTE, offset, length);
    finish(status, length, sequence);
  }

  /** Sends the response. */
  public void send(WritableByteChannel channel) throws IOException {
    buffer.send(channel, end);
  }
}
