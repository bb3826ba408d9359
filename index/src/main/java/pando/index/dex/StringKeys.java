package pando.index.dex;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.HexFormat;
import pando.index.blob.Spread;
import pando.index.bytes.ByteStrings;

/**
 * How byte strings are written as keys of one length, which have the order of the strings.
 *
 * <pre>
 *  0                                  keyBytes - 2   keyBytes
 * +-----------------+------------------+--------------+
 * | the string      | zeros            | its length   |
 * +-----------------+------------------+--------------+
 * </pre>
 *
 * <p>The length is big-endian: of two strings that differ in zeros at their end alone, the shorter
 * one comes first.
 */
final class StringKeys {
  private static final ValueLayout.OfShort LENGTH =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final int keyBytes;

  /**
   * Creates the keys of a length.
   *
   * @param keyBytes a multiple of 8, 16 or more
   */
  StringKeys(int keyBytes) {
    this.keyBytes = keyBytes;
  }

  /** Returns the greatest length of a string. */
  int lengthMax() {
    return keyBytes - Short.BYTES;
  }

  /** Makes memory for a key: the least of all. */
  MemorySegment make() {
    return make(1);
  }

  /** Makes memory for several keys, one behind the other. */
  MemorySegment make(int count) {
    return MemorySegment.ofArray(new byte[count * keyBytes]);
  }

  /** Returns one of several keys. */
  MemorySegment key(MemorySegment keys, int number) {
    return keys.asSlice((long) number * keyBytes, keyBytes);
  }

  /** Writes the key of a string. */
  void write(MemorySegment string, MemorySegment key) {
    long length = string.byteSize();
    MemorySegment.copy(string, 0, key, 0, length);
    for (long i = length; i < lengthMax(); i++) {
      key.set(JAVA_BYTE, i, (byte) 0);
    }
    key.set(LENGTH, lengthMax(), (short) length);
  }

  /** Writes the least key with a partition key. */
  void writeLeast(long partitionKey, MemorySegment key) {
    key.fill((byte) 0);
    key.set(ByteStrings.WORD, 0, partitionKey ^ Long.MIN_VALUE);
  }

  /** Writes the greatest key with a partition key, above that of any string with it. */
  void writeGreatest(long partitionKey, MemorySegment key) {
    key.fill((byte) -1);
    key.set(ByteStrings.WORD, 0, partitionKey ^ Long.MIN_VALUE);
  }

  /**
   * Returns the string of a key, within the key's memory.
   *
   * @throws IllegalStateException if it is not that of a string, as {@link WideSession} can store
   */
  MemorySegment string(MemorySegment key) {
    int length = key.get(LENGTH, lengthMax()) & 0xffff;
    if (length > lengthMax() || !areZeros(key, length)) {
      throw new IllegalStateException(
          "the key is not that of a byte string: key=" + HexFormat.of().formatHex(bytes(key)));
    }
    return key.asSlice(0, length);
  }

  private boolean areZeros(MemorySegment key, int from) {
    for (long i = from; i < lengthMax(); i++) {
      if (key.get(JAVA_BYTE, i) != 0) {
        return false;
      }
    }
    return true;
  }

  /** Makes a key the next one, up or down; returns whether there is one. */
  boolean step(MemorySegment key, boolean down) {
    byte end = (byte) (down ? 0 : -1);
    byte rest = (byte) ~end;
    for (long i = keyBytes - 1L; i >= 0; i--) {
      byte each = key.get(JAVA_BYTE, i);
      if (each != end) {
        key.set(JAVA_BYTE, i, (byte) (down ? each - 1 : each + 1));
        return true;
      }
      key.set(JAVA_BYTE, i, rest);
    }
    return false;
  }

  /** Returns a number of which the sums of a key's values are made. */
  long hash(MemorySegment key) {
    return Spread.sum(key, 0, keyBytes, 0);
  }

  /** Returns the string of a key as text, for a message. */
  String text(MemorySegment key) {
    return HexFormat.of().formatHex(bytes(string(key)));
  }

  private static byte[] bytes(MemorySegment segment) {
    return segment.toArray(JAVA_BYTE);
  }
}
