package pando.cluster;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes an entry of the coordinator, in big endian.
 *
 * <pre>
 *   'P' 1 | kind 1 | version 1 | fields: word 8, number 4, text: length 2, UTF-8
 * </pre>
 */
final class EntryWriter {
  static final byte MAGIC = 'P';
  static final byte VERSION = 1;
  static final int TEXT_BYTES_MAX = 1 << 12;

  private final ByteBuffer buffer = ByteBuffer.allocate(Membership.ENTRY_BYTES_MAX);

  /** Begins an entry of a kind. */
  EntryWriter(char kind) {
    buffer.put(MAGIC).put((byte) kind).put(VERSION);
  }

  EntryWriter word(long value) {
    buffer.putLong(value);
    return this;
  }

  EntryWriter number(int value) {
    buffer.putInt(value);
    return this;
  }

  EntryWriter text(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > TEXT_BYTES_MAX) {
      throw new IllegalArgumentException(
          "text too long for an entry: bytes=" + bytes.length + ", maximum=" + TEXT_BYTES_MAX);
    }
    buffer.putShort((short) bytes.length).put(bytes);
    return this;
  }

  byte[] bytes() {
    return Arrays.copyOf(buffer.array(), buffer.position());
  }
}
