package pando.journal;

import static pando.journal.FileBytes.CHAR;
import static pando.journal.FileBytes.INT;
import static pando.journal.FileBytes.LONG;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * A change as the log has it: the key with its value, or that the key is gone; or a group of them.
 * A session has one, which it uses again and again: once its buffer has grown it allocates nothing,
 * unless a change is longer than {@value #KEPT_BYTES} bytes.
 *
 * <p>Keys and values that are words have the bytes that {@link EntryWords} says. Not thread-safe.
 */
public final class RecordBuilder {
  private static final int KEPT_BYTES = 64 << 10;
  private static final int FIRST_BYTES = 256;

  /** A group ends in the buffer below this. */
  private static final int GROUP_BYTES_MAX = 1 << 30;

  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private final CRC32C crc = new CRC32C();
  private byte[] buffer = new byte[FIRST_BYTES];
  private MemorySegment segment = MemorySegment.ofArray(buffer);
  private int bytes;

  /** Where the next change of a group begins: its kind. */
  private int groupEnd;

  /** Creates a builder without a change. */
  public RecordBuilder() {}

  /** Returns how many bytes of the log a change takes; a removal has no bytes of a value. */
  public static long bytesOf(long keyBytes, long valueBytes) {
    return RecordFormat.bytesOf(keyBytes, valueBytes);
  }

  /** Returns how many bytes of the log this change takes. */
  public long bytes() {
    return bytes;
  }

  /** Makes the change of a key to a value. */
  public RecordBuilder put(MemorySegment key, MemorySegment value) {
    return set(RecordFormat.PUT, key, value);
  }

  /** Makes the removal of a key. */
  public RecordBuilder remove(MemorySegment key) {
    return set(RecordFormat.REMOVE, key, NOTHING);
  }

  /** Makes the change of a key to a value, both words. */
  public RecordBuilder putWord(long key, long value) {
    begin(RecordFormat.PUT, Long.BYTES, Long.BYTES);
    EntryWords.setKey(segment, RecordFormat.HEAD, key);
    EntryWords.setValue(segment, RecordFormat.HEAD + Long.BYTES, value);
    return this;
  }

  /** Makes the removal of a key that is a word. */
  public RecordBuilder removeWord(long key) {
    begin(RecordFormat.REMOVE, Long.BYTES, 0);
    EntryWords.setKey(segment, RecordFormat.HEAD, key);
    return this;
  }

  /** Makes the change of a record of another log, whose bytes were checked. */
  void copy(MemorySegment record) {
    begin(RecordFormat.PAD, 0, record.byteSize() - RecordFormat.HEAD);
    int from = RecordFormat.KIND;
    MemorySegment.copy(record, from, segment, from, record.byteSize() - from);
  }

  /** Begins a group, without changes. */
  public RecordBuilder group() {
    begin(RecordFormat.GROUP, 0, 0);
    groupEnd = RecordFormat.HEAD;
    return this;
  }

  /** Adds the change of a key to a value to the group. */
  public RecordBuilder addPut(MemorySegment key, MemorySegment value) {
    return add(RecordFormat.PUT, key, value);
  }

  /** Adds the removal of a key to the group. */
  public RecordBuilder addRemove(MemorySegment key) {
    return add(RecordFormat.REMOVE, key, NOTHING);
  }

  /** A change of a group has what a record has from its kind on. */
  private RecordBuilder add(byte kind, MemorySegment key, MemorySegment value) {
    SortedFileFormat.check(key.byteSize(), value.byteSize());
    int record = groupEnd - RecordFormat.KIND;
    long end = (long) record + RecordFormat.HEAD + key.byteSize() + value.byteSize();
    if (end > GROUP_BYTES_MAX) {
      throw new IllegalArgumentException(
          "too long for a record: groupBytes=%s, maximum=%s".formatted(end, GROUP_BYTES_MAX));
    }
    reserve(RecordFormat.aligned(end));
    setHead(record, kind, key.byteSize(), value.byteSize());
    copy(record, key, value);
    groupEnd = (int) end;
    bytes = (int) RecordFormat.aligned(end);
    Arrays.fill(buffer, groupEnd, bytes, (byte) 0);
    segment.set(INT, RecordFormat.VALUE_BYTES, groupEnd - RecordFormat.HEAD);
    return this;
  }

  /** Makes room for a longer group. */
  private void reserve(long needed) {
    if (needed > buffer.length) {
      buffer =
          Arrays.copyOf(
              buffer, (int) Math.max(needed, Math.min(2L * buffer.length, GROUP_BYTES_MAX)));
      segment = MemorySegment.ofArray(buffer);
    }
  }

  /** Makes a PAD, which skips all its bytes but the first 16. */
  RecordBuilder pad(int length) {
    begin(RecordFormat.PAD, 0, 0);
    segment.set(INT, RecordFormat.VALUE_BYTES, length - RecordFormat.HEAD);
    return this;
  }

  /** Makes a SYNCED or a CLOSED. */
  RecordBuilder mark(byte kind, long synced) {
    begin(kind, 0, Long.BYTES);
    segment.set(LONG, RecordFormat.HEAD, synced);
    return this;
  }

  private RecordBuilder set(byte kind, MemorySegment key, MemorySegment value) {
    SortedFileFormat.check(key.byteSize(), value.byteSize());
    begin(kind, key.byteSize(), value.byteSize());
    copy(0, key, value);
    return this;
  }

  private void begin(byte kind, long keyBytes, long valueBytes) {
    long needed = RecordFormat.bytesOf(keyBytes, valueBytes);
    if (needed > buffer.length || buffer.length > KEPT_BYTES) {
      buffer = new byte[(int) Math.max(needed, FIRST_BYTES)];
      segment = MemorySegment.ofArray(buffer);
    }
    bytes = (int) needed;
    // The zeros at the end are among the last 16 bytes.
    Arrays.fill(buffer, bytes - RecordFormat.ALIGNMENT, bytes, (byte) 0);
    setHead(0, kind, keyBytes, valueBytes);
  }

  private void setHead(int record, byte kind, long keyBytes, long valueBytes) {
    buffer[record + RecordFormat.KIND] = kind;
    buffer[record + RecordFormat.FLAGS] = 0;
    segment.set(CHAR, record + RecordFormat.KEY_BYTES, (char) keyBytes);
    segment.set(INT, record + RecordFormat.VALUE_BYTES, (int) valueBytes);
  }

  private void copy(int record, MemorySegment key, MemorySegment value) {
    int at = record + RecordFormat.HEAD;
    MemorySegment.copy(key, 0, segment, at, key.byteSize());
    MemorySegment.copy(value, 0, segment, at + key.byteSize(), value.byteSize());
  }

  /** Returns CRC32C of all from the kind on: it takes long where a value is long. */
  public int innerSum() {
    crc.reset();
    crc.update(buffer, RecordFormat.KIND, bytes - RecordFormat.KIND);
    return (int) crc.getValue();
  }

  /**
   * Returns the bytes of the record as they are at a place of the log, until this is used again.
   *
   * @param sum for that place
   */
  MemorySegment whole(int sum) {
    segment.set(INT, 0, bytes);
    segment.set(INT, RecordFormat.SUM, sum);
    return segment.asSlice(0, bytes);
  }

  /** Copies all from the kind on into the log. */
  void copyTo(MemorySegment memory, long at) {
    MemorySegment.copy(
        segment, RecordFormat.KIND, memory, at + RecordFormat.KIND, bytes - RecordFormat.KIND);
  }
}
