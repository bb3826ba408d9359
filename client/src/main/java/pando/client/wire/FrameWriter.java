package pando.client.wire;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;
import pando.fabric.wire.FrameOutput;

/**
 * Frames to be sent. One at a time is open and grows at its end; it is finished before anything is
 * sent. Allocates only to grow, and for texts. Not thread-safe.
 */
public final class FrameWriter {
  private static final int BYTES_MIN = 4 << 10;

  /** Pages of all that is under way for a client, and more. */
  private static final int BYTES_KEPT_MAX = 512 << 10;

  private final FrameOutput output = new FrameOutput(BYTES_MIN, BYTES_KEPT_MAX);
  private final CRC32C crc = new CRC32C();

  /** Kind of the frame that is open, 0 if none is. */
  private int kind;

  private int length;
  private int count;

  /** Creates it; there is nothing to be sent. */
  public FrameWriter() {}

  /** Begins a frame; none may be open. */
  public void begin(int newKind) {
    assert kind == 0;
    output.add(ClientFrame.HEADER_BYTES);
    kind = newKind;
    length = ClientFrame.HEADER_BYTES;
    count = 0;
  }

  /** Returns the kind of the frame that is open, 0 if none is. */
  public int kind() {
    return kind;
  }

  /** Returns how many bytes the open frame has. */
  public int length() {
    return length;
  }

  /** Returns how many parts the open frame has. */
  public int count() {
    return count;
  }

  /** Adds an operation. */
  public void operation(int op, int id, long key, long value, long expected) {
    int bytes = Op.bytes(op);
    int at = add(bytes);
    ByteBuffer to = output.bytes();
    to.putLong(at, op | (long) id << 16);
    to.putLong(at + 8, key);
    to.putLong(at + 16, value);
    if (bytes > ClientFrame.OPERATION_BYTES) {
      to.putLong(at + 24, expected);
    }
    count++;
  }

  /**
   * Adds a result.
   *
   * @param text why it failed, cut where it is too long; empty for none
   */
  public void result(int outcome, int id, long key, long value, String text) {
    if (text.isEmpty()) {
      result(outcome, id, 0, key, value);
    } else {
      byte[] all = text.getBytes(StandardCharsets.UTF_8);
      int bytes = Math.min(all.length, ClientFrame.TEXT_MAX);
      result(outcome, id, bytes, key, value);
      text(all, bytes);
    }
    count++;
  }

  private void result(int outcome, int id, int textBytes, long key, long value) {
    int at = add(ClientFrame.RESULT_BYTES);
    ByteBuffer to = output.bytes();
    to.putLong(at, outcome | (long) id << 16 | (long) textBytes << 32);
    to.putLong(at + 8, key);
    to.putLong(at + 16, value);
  }

  private void text(byte[] all, int bytes) {
    int padded = ClientFrame.padded(bytes);
    int at = add(padded);
    output.bytes().putLong(at + padded - Long.BYTES, 0).put(at, all, 0, bytes);
  }

  /** Adds a word, which is no part of its own. */
  public void word(long word) {
    int at = add(Long.BYTES);
    output.bytes().putLong(at, word);
  }

  /** Adds a route, which {@link #fence} completes where it is one of byte strings. */
  public void route(long low, int owner, String address) {
    byte[] text = address.getBytes(StandardCharsets.US_ASCII);
    word(low);
    word((owner & 0xffff_ffffL) | (long) text.length << 32);
    if (text.length > 0) {
      text(text, text.length);
    }
    count++;
  }

  /** Adds the fence of the last route. */
  public void fence(MemorySegment fence) {
    word(fence.byteSize());
    bytes(fence);
    fill();
  }

  /** Adds an entry of a page, or what else has two words. */
  public void entry(long key, long value) {
    int at = add(ClientFrame.ENTRY_BYTES);
    output.bytes().putLong(at, key).putLong(at + 8, value);
    count++;
  }

  /** Adds two numbers of 4 bytes, which are no part of their own. */
  public void pair(int first, int second) {
    word((first & 0xffff_ffffL) | (long) second << Integer.SIZE);
  }

  /** Adds bytes; {@link #fill} comes behind the last of them. */
  public void bytes(MemorySegment bytes) {
    int at = add((int) bytes.byteSize());
    ByteBuffer to = output.bytes();
    MemorySegment.ofBuffer(to).asSlice(at - to.position()).copyFrom(bytes);
  }

  /** Fills bytes up to a multiple of 8. */
  public void fill() {
    for (int left = ClientFrame.padded(length) - length; left > 0; left--) {
      int at = add(1);
      output.bytes().put(at, (byte) 0);
    }
  }

  private int add(int bytes) {
    int at = output.add(bytes);
    length += bytes;
    return at;
  }

  /** Sets how many parts the open frame has, where that is not how many were added. */
  public void count(int parts) {
    count = parts;
  }

  /** Finishes the open frame. */
  public void finish(int flags, long sequence, long party) {
    ByteBuffer bytes = output.bytes();
    int start = bytes.limit() - length;
    ClientFrame.finish(crc, bytes, start, length, kind, flags, count, sequence, party);
    kind = 0;
  }

  /** Drops the open frame, which could not be written whole. */
  public void abandon() {
    output.remove(length);
    kind = 0;
  }

  /** Returns the bytes that were added so far. */
  public long added() {
    return output.added();
  }

  /** Returns how many of them were sent. */
  public long sent() {
    return output.sent();
  }

  /** Returns how many bytes were not sent yet. */
  public int unsent() {
    return output.unsent();
  }

  /** Sends what the channel takes; no frame may be open. */
  public void send(WritableByteChannel channel) throws IOException {
    assert kind == 0;
    output.send(channel);
  }

  /** Begins anew, for another channel. */
  public void clear() {
    kind = 0;
    output.clear();
  }

  /** Gives memory back that much to send took. */
  public void shrink() {
    output.shrink();
  }
}
