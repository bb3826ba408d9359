package pando.fabric.wire;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;

/**
 * Writes one response after the other: {@link #begin}, a result for each verb that has one, and
 * {@link #finish}. They gather until they are sent. Allocates only to grow. Not thread-safe.
 */
public final class ResponseWriter {
  private static final int TEXT_BYTES_MAX = 4032;

  /** Most bytes of several responses together. */
  private static final int GATHERED_BYTES_MAX = 64 << 10;

  private final FrameBuffer buffer = new FrameBuffer();

  /** Where the response starts: behind those that were not sent. */
  private int start;

  private int end;

  /** Creates a writer. */
  public ResponseWriter() {}

  /** Returns whether there are no responses to be sent. */
  public boolean isEmpty() {
    return end == 0;
  }

  /** Returns whether a response of so many bytes has room behind those that were not sent. */
  public boolean hasRoom(int bytes) {
    return end == 0 || end + bytes <= GATHERED_BYTES_MAX;
  }

  /**
   * Begins a response.
   *
   * @param bytes most that it will have, header included; there must be room
   */
  public void begin(int bytes) {
    start = end;
    buffer.clear();
    buffer.bytes().position(start);
    buffer.ensure(start + bytes);
    end = start + Frame.RESPONSE_BYTES;
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
    frame.putInt(start + Frame.LENGTH, end - start);
    frame.putShort(start + Frame.STATUS, (short) status);
    frame.putShort(start + Frame.DETAIL, (short) detail);
    frame.putLong(start + Frame.SEQUENCE, sequence);
  }

  /** Writes a response that is a message; there must be room for it. */
  public void message(int status, String text, long sequence) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(bytes.length, TEXT_BYTES_MAX);
    begin(Frame.RESPONSE_BYTES + Frame.padded(length));
    int offset = add(length);
    MemorySegment.copy(bytes, 0, buffer.segment(), ValueLayout.JAVA_BYTE, offset, length);
    finish(status, length, sequence);
  }

  /** Sends all responses. */
  public void send(WritableByteChannel channel) throws IOException {
    buffer.send(channel, end);
    end = 0;
  }
}
