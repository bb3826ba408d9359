package pando.cluster;

import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Function;
import pando.index.BoundKey;
import pando.index.bytes.ByteIndex;

/** Reads an entry that {@link EntryWriter} wrote, and trusts none of its bytes. */
final class EntryReader {
  private final ByteBuffer buffer;

  private EntryReader(byte[] bytes) {
    this.buffer = ByteBuffer.wrap(bytes);
  }

  /**
   * Reads a whole entry.
   *
   * @param kind that it has
   * @param fields reads its fields
   * @throws MalformedEntryException if it is not one
   */
  static <T> T read(byte[] bytes, char kind, Function<EntryReader, T> fields) {
    EntryReader reader = new EntryReader(bytes);
    try {
      reader.begin(kind);
      T value = fields.apply(reader);
      reader.end();
      return value;
    } catch (BufferUnderflowException e) {
      throw new MalformedEntryException("an entry ends early: kind=" + kind + ", " + reader);
    } catch (IllegalArgumentException e) {
      throw new MalformedEntryException(
          "an entry has an illegal value: kind=" + kind + ", problem=" + e.getMessage());
    }
  }

  private void begin(char kind) {
    byte magic = buffer.get();
    byte found = buffer.get();
    byte version = buffer.get();
    if (magic != EntryWriter.MAGIC || found != kind || version != EntryWriter.VERSION) {
      throw new MalformedEntryException(
          "not an entry of this kind and version: kind=%s, version=%s, found=%s, %s, %s"
              .formatted(kind, EntryWriter.VERSION, magic, found, version));
    }
  }

  private void end() {
    if (buffer.hasRemaining()) {
      throw new MalformedEntryException("an entry goes on: " + this);
    }
  }

  long word() {
    return buffer.getLong();
  }

  int number() {
    return buffer.getInt();
  }

  /** Reads a number between bounds, both inclusive. */
  int number(int least, int greatest) {
    int number = buffer.getInt();
    if (number < least || number > greatest) {
      throw new IllegalArgumentException(
          "number=" + number + ", least=" + least + ", greatest=" + greatest);
    }
    return number;
  }

  String text() {
    int length = buffer.getShort() & 0xFFFF;
    if (length > EntryWriter.TEXT_BYTES_MAX || length > buffer.remaining()) {
      throw new IllegalArgumentException("text of " + length + " bytes");
    }
    byte[] bytes = new byte[length];
    buffer.get(bytes);
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("no UTF-8: bytes=" + Arrays.toString(bytes), e);
    }
  }

  /** Reads a number, or a byte string and its length. */
  BoundKey key() {
    int length = number(EntryWriter.NO_STRING, ByteIndex.KEY_BYTES_MAX);
    return length == EntryWriter.NO_STRING ? BoundKey.of(word()) : BoundKey.of(string(length));
  }

  /** Reads a byte string whose length has been read. */
  MemorySegment string(int length) {
    if (length > buffer.remaining()) {
      throw new BufferUnderflowException();
    }
    byte[] bytes = new byte[length];
    buffer.get(bytes);
    return MemorySegment.ofArray(bytes);
  }

  @Override
  public String toString() {
    return "at=" + buffer.position() + ", bytes=" + buffer.limit();
  }
}
