package pando.cluster;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import pando.index.BoundKey;

/**
 * Writes an entry of the coordinator, in big endian.
 *
 * <pre>
 *   'P' 1 | kind 1 | version 1 | fields: word 8, number 4, text: length 2, UTF-8,
 *                                        byte string: length 4, bytes
 * </pre>
 */
final class EntryWriter {
  /** In place of the length of a byte string: the key is a number. */
  static final int NO_STRING = -1;

  static final byte MAGIC = 'P';
  static final byte VERSION = 3;
  static final int TEXT_BYTES_MAX = 1 << 12;

  private static final int BYTES_FIRST = 1 << 10;

  private ByteBuffer buffer = ByteBuffer.allocate(BYTES_FIRST);

  /** Begins an entry of a kind. */
  EntryWriter(char kind) {
    buffer.put(MAGIC).put((byte) kind).put(VERSION);
  }

  /** Makes room for some bytes. */
  private ByteBuffer room(int bytes) {
    if (bytes > buffer.remaining()) {
      int length = Math.max(2 * buffer.capacity(), buffer.position() + bytes);
      buffer = ByteBuffer.allocate(length).put(buffer.flip());
    }
    return buffer;
  }

  EntryWriter word(long value) {
    room(Long.BYTES).putLong(value);
    return this;
  }

  EntryWriter number(int value) {
    room(Integer.BYTES).putInt(value);
    return this;
  }

  EntryWriter text(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > TEXT_BYTES_MAX) {
      throw new IllegalArgumentException(
          "text too long for an entry: bytes=" + bytes.length + ", maximum=" + TEXT_BYTES_MAX);
    }
    room(Short.BYTES + bytes.length).putShort((short) bytes.length).put(bytes);
    return this;
  }

  EntryWriter string(MemorySegment string) {
    int length = (int) string.byteSize();
    number(length).room(length).put(string.asByteBuffer());
    return this;
  }

  EntryWriter key(BoundKey key) {
    return key.isString() ? string(key.string()) : number(NO_STRING).word(key.number());
  }

  byte[] bytes() {
    return Arrays.copyOf(buffer.array(), buffer.position());
  }
}
