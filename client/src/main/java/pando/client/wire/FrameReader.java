package pando.client.wire;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.CRC32C;
import pando.fabric.wire.FrameException;
import pando.fabric.wire.FrameInput;

/**
 * Frames that arrive, and a place in the first of them. Nothing of a frame may be read before it
 * was {@linkplain #open opened}, which checks that it came as it was sent. Allocates only to grow,
 * and for texts. Not thread-safe.
 */
public final class FrameReader {
  private static final int BYTES_MIN = 4 << 10;

  /** Place of a key's length in a frame of one operation on byte strings. */
  private static final int KEY_LENGTH_AT = ClientFrame.HEADER_BYTES + Integer.BYTES;

  private final FrameInput input;
  private final CRC32C crc = new CRC32C();
  private boolean isOpen;

  /** Place in the frame. */
  private int at;

  private FrameReader(int longBytesMax, FrameInput.Lengths lengths) {
    this.input =
        new FrameInput(
            ClientFrame.HEADER_BYTES, BYTES_MIN, ClientFrame.BYTES_MAX, longBytesMax, lengths);
  }

  /** Creates one for requests; none has arrived. */
  public static FrameReader ofRequests() {
    return new FrameReader(ClientFrame.LONG_BYTES_MAX, ClientFrame::requestBytesMax);
  }

  /** Creates one for responses; none has arrived. */
  public static FrameReader ofResponses() {
    return new FrameReader(ClientFrame.ROUTES_BYTES_MAX, ClientFrame::responseBytesMax);
  }

  /** Returns whether there is room to read more. */
  public boolean hasRoom() throws FrameException {
    return input.hasRoom();
  }

  /** Returns the length that the next frame says it has, if that is a long one; else 0. */
  public int longLength() {
    return input.longLength();
  }

  /** Returns whether nothing is there, not even a part of a frame. */
  public boolean isEmpty() {
    return input.isEmpty();
  }

  /**
   * Reads what the channel gives, once; there must be room.
   *
   * @return the number of bytes, -1 if the other side ended the connection
   */
  public int read(ReadableByteChannel channel) throws IOException {
    return input.read(channel);
  }

  /** Returns whether a frame is open. */
  public boolean isOpen() {
    return isOpen;
  }

  /**
   * Opens the next frame, if a whole one is there; none may be open.
   *
   * @throws FrameException if it did not come as it was sent, or no frame has its length
   */
  public boolean open() throws FrameException {
    assert !isOpen;
    if (input.hasFrame()) {
      check();
      isOpen = true;
      at = ClientFrame.HEADER_BYTES;
    }
    return isOpen;
  }

  private void check() throws FrameException {
    ByteBuffer bytes = input.bytes();
    int start = input.start();
    int said = bytes.getInt(start + ClientFrame.CHECKSUM);
    bytes.putInt(start + ClientFrame.CHECKSUM, 0);
    int found = ClientFrame.checksum(crc, bytes, start, input.length());
    // The frame may be looked at again, and is then as it was.
    bytes.putInt(start + ClientFrame.CHECKSUM, said);
    if (said != found) {
      throw new FrameException(
          "a frame was damaged on its way: checksum=" + said + ", found=" + found);
    }
    if (bytes.getInt(start + ClientFrame.ZERO) != 0) {
      throw new FrameException("a word that must be 0: offset=" + ClientFrame.ZERO);
    }
  }

  /** Goes to the frame behind the open one, which is not open yet. */
  public void next() {
    isOpen = false;
    input.next();
  }

  /** Returns the kind of the open frame. */
  public int kind() {
    return ClientFrame.kind(input.bytes(), input.start());
  }

  /** Returns the flags of the open frame. */
  public int flags() {
    return ClientFrame.flags(input.bytes(), input.start());
  }

  /** Returns how many parts the open frame has. */
  public int count() {
    return ClientFrame.count(input.bytes(), input.start());
  }

  /** Returns the sequence of the open frame. */
  public long sequence() {
    return ClientFrame.sequence(input.bytes(), input.start());
  }

  /** Returns the number of the client, or the epoch of the routes. */
  public long party() {
    return ClientFrame.party(input.bytes(), input.start());
  }

  /** Returns the length of the open frame. */
  public int length() {
    return input.length();
  }

  /** Returns how many bytes of the open frame are behind the place in it. */
  public int left() {
    return input.length() - at;
  }

  /** Returns the place in the open frame. */
  public int place() {
    return at;
  }

  /** Goes to a place in the open frame. */
  public void place(int offset) {
    at = offset;
  }

  /** Returns a word of the open frame, so many bytes behind the place. */
  public long word(int offset) {
    return input.bytes().getLong(input.start() + at + offset);
  }

  /** Takes a copy of so many bytes at the place, all of which must be there. */
  public MemorySegment bytes(int count) {
    byte[] copy = new byte[count];
    input.bytes().get(input.start() + at, copy);
    at += count;
    return MemorySegment.ofArray(copy);
  }

  /** As {@link #bytes}; goes behind what fills them up. */
  public MemorySegment filledBytes(int count) {
    MemorySegment copy = bytes(count);
    at += ClientFrame.padded(count) - count;
    return copy;
  }

  /**
   * Looks which keys of byte strings the open frame has and those behind it, of which nothing was
   * checked: they may not be what the client sends, and are no more than a hint.
   *
   * @param keys receives the keys, which lie in the array until the next call
   */
  public void keysAhead(byte[] array, List<MemorySegment> keys, int most) {
    MemorySegment segment = MemorySegment.ofArray(array);
    ByteBuffer bytes = input.bytes();
    int used = 0;
    int frame = input.start();
    while (keys.size() < most && bytes.position() - frame >= ClientFrame.STRINGS_AT) {
      int end = bytes.position() - frame;
      int length = bytes.getInt(frame);
      int keyBytes = bytes.getInt(frame + KEY_LENGTH_AT);
      boolean isThere =
          ClientFrame.kind(bytes, frame) == ClientFrame.BYTES
              && length >= ClientFrame.STRINGS_AT
              && length <= end
              && keyBytes >= 0
              && keyBytes <= length - ClientFrame.STRINGS_AT;
      if (!isThere || keyBytes > array.length - used) {
        break;
      }
      bytes.get(frame + ClientFrame.STRINGS_AT, array, used, keyBytes);
      keys.add(segment.asSlice(used, keyBytes));
      used += keyBytes;
      frame += length;
    }
  }

  /** Goes on by so many bytes. */
  public void skip(int bytes) {
    at += bytes;
  }

  /**
   * Takes a text at the place, and goes behind what fills it up.
   *
   * @throws FrameException if so much is not there
   */
  public String text(int bytes) throws FrameException {
    if (bytes < 0 || bytes > ClientFrame.TEXT_MAX || ClientFrame.padded(bytes) > left()) {
      throw new FrameException("a text that is not there: bytes=" + bytes + ", left=" + left());
    }
    byte[] text = new byte[bytes];
    input.bytes().get(input.start() + at, text);
    at += ClientFrame.padded(bytes);
    return new String(text, StandardCharsets.UTF_8);
  }

  /** Begins anew, for another channel. */
  public void clear() {
    isOpen = false;
    input.clear();
  }

  /** Gives memory back that long frames took. */
  public void shrink() {
    if (!isOpen) {
      input.shrink();
    }
  }
}
