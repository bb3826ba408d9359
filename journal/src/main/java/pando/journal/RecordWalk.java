package pando.journal;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static pando.journal.FileBytes.CHAR;
import static pando.journal.FileBytes.INT;
import static pando.journal.FileBytes.LONG;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Goes over records that lie one behind the other, up to the first that is not whole. Not
 * thread-safe.
 */
final class RecordWalk {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  /** Where the records are, for messages. */
  private final String name;

  private final MemorySegment memory;
  private final long salt;
  private final long first;
  private final ByteBuffer bytes;
  private final RecordSum sums = new RecordSum();
  private final CRC32C crc = new CRC32C();
  private int at = -1;
  private int next;

  RecordWalk(LogSegment segment) {
    this(
        segment.name(), segment.memory(), segment.salt(), segment.first(), LogSegment.HEADER_BYTES);
  }

  /**
   * Begins in front of the first record.
   *
   * @param first place in the log of the first byte of the memory
   * @param from where the first record is in the memory
   */
  RecordWalk(String name, MemorySegment memory, long salt, long first, int from) {
    this.name = name;
    this.memory = memory;
    this.salt = salt;
    this.first = first;
    this.bytes = memory.asByteBuffer();
    this.next = from;
  }

  /** Moves to the next record; returns {@code false} where there is none. */
  boolean next() {
    int length = lengthOf(next);
    if (length == 0) {
      return false;
    }
    at = next;
    next = at + length;
    return true;
  }

  /**
   * Returns the changes of a segment, to be sorted.
   *
   * @param end place in the segment behind its records
   */
  static SegmentSorter changes(LogSegment segment, int end) {
    SegmentSorter sorter = new SegmentSorter(segment.memory());
    RecordWalk walk = new RecordWalk(segment);
    while (walk.next < end && walk.next()) {
      walk.forEachChange(sorter::add);
    }
    if (walk.next != end) {
      throw new DamagedFolderException(
          "a record is not as it was: file=%s, place=%s, end=%s"
              .formatted(segment.name(), walk.next, end));
    }
    return sorter;
  }

  /** Receives changes. */
  @FunctionalInterface
  interface ChangeConsumer {
    /**
     * Receives a change.
     *
     * @param keyAt place of its key in the segment, with the value right behind
     * @param valueBytes -1 if the key was removed
     */
    void add(long keyAt, int keyBytes, int valueBytes);
  }

  /**
   * Visits the changes of the record, in their order.
   *
   * @throws DamagedFolderException if it is a group that is none of this version
   */
  void forEachChange(ChangeConsumer consumer) {
    switch (kind()) {
      case RecordFormat.PUT, RecordFormat.REMOVE -> addChange(consumer, at);
      case RecordFormat.GROUP -> {
        long change = valueAt() - RecordFormat.KIND;
        long groupEnd = change + valueBytes();
        while (change < groupEnd) {
          checkChange(change, groupEnd);
          change = addChange(consumer, change);
        }
      }
      default -> {}
    }
  }

  private void checkChange(long record, long groupEnd) {
    int itsKind = memory.get(JAVA_BYTE, record + RecordFormat.KIND);
    int itsFlags = memory.get(JAVA_BYTE, record + RecordFormat.FLAGS);
    boolean isWhole =
        record + RecordFormat.HEAD - RecordFormat.KIND <= groupEnd
            && memory.get(INT, record + RecordFormat.VALUE_BYTES) >= 0
            && endOfChange(record) <= groupEnd;
    boolean isKnown = itsKind == RecordFormat.PUT || itsKind == RecordFormat.REMOVE;
    if (!isWhole || !isKnown || itsFlags != 0) {
      throw DamagedFolderException.ofOtherPando(
          "a newer Pando wrote the log: file=%s, place=%s, kind of a change=%s, flags=%s"
              .formatted(name, at, itsKind, itsFlags));
    }
  }

  /** Adds a change; returns where the next one of a group begins, before its kind. */
  private long addChange(ChangeConsumer consumer, long record) {
    int itsKeyBytes = memory.get(CHAR, record + RecordFormat.KEY_BYTES);
    int itsValueBytes = memory.get(INT, record + RecordFormat.VALUE_BYTES);
    boolean isRemoval = memory.get(JAVA_BYTE, record + RecordFormat.KIND) == RecordFormat.REMOVE;
    consumer.add(
        record + RecordFormat.HEAD,
        itsKeyBytes,
        isRemoval ? SortedFileFormat.REMOVED : itsValueBytes);
    return endOfChange(record);
  }

  /** Returns where the change behind one of a group begins, before its kind. */
  private long endOfChange(long record) {
    long itsKeyBytes = memory.get(CHAR, record + RecordFormat.KEY_BYTES);
    long itsValueBytes = memory.get(INT, record + RecordFormat.VALUE_BYTES);
    return record + RecordFormat.HEAD + itsKeyBytes + itsValueBytes - RecordFormat.KIND;
  }

  /** Visits the record: a group, and each change of it. */
  void visit(RecordVisitor visitor) {
    long place = first + at;
    MemorySegment value = memory.asSlice(valueAt(), valueBytes());
    switch (kind()) {
      case RecordFormat.SYNCED -> visitor.visit(place, RecordVisitor.Kind.SYNCED, NOTHING, value);
      case RecordFormat.CLOSED -> visitor.visit(place, RecordVisitor.Kind.CLOSED, NOTHING, value);
      case RecordFormat.PAD -> visitor.visit(place, RecordVisitor.Kind.PAD, NOTHING, NOTHING);
      case RecordFormat.GROUP -> visitor.visit(place, RecordVisitor.Kind.GROUP, NOTHING, NOTHING);
      default -> {} // PUT and REMOVE are told of as changes.
    }
    forEachChange(
        (keyAt, keyBytes, valueBytes) -> visit(visitor, place, keyAt, keyBytes, valueBytes));
  }

  private void visit(RecordVisitor visitor, long place, long keyAt, int keyBytes, int valueBytes) {
    MemorySegment key = memory.asSlice(keyAt, keyBytes);
    if (valueBytes == SortedFileFormat.REMOVED) {
      visitor.visit(place, RecordVisitor.Kind.REMOVE, key, NOTHING);
    } else {
      visitor.visit(
          place, RecordVisitor.Kind.PUT, key, memory.asSlice(keyAt + keyBytes, valueBytes));
    }
  }

  /** Goes on behind the last record. */
  void toEnd() {
    boolean goesOn = true;
    while (goesOn) {
      goesOn = next();
    }
  }

  /** Returns where the next record begins, or would begin, in the segment. */
  int end() {
    return next;
  }

  /** Returns whether it has come to a record. */
  boolean hasRecord() {
    return at >= 0;
  }

  /** Returns where the record begins in the segment. */
  int at() {
    return at;
  }

  /** Returns the kind of the record. */
  byte kind() {
    return memory.get(JAVA_BYTE, at + RecordFormat.KIND);
  }

  long valueAt() {
    return (long) at + RecordFormat.HEAD + memory.get(CHAR, at + RecordFormat.KEY_BYTES);
  }

  int valueBytes() {
    return memory.get(INT, at + RecordFormat.VALUE_BYTES);
  }

  /**
   * Returns the greatest place up to which a record of the segment says that the log was on the
   * disk; 0 if none does.
   */
  long synced() {
    long synced = 0;
    for (int page = RecordFormat.PAGE; page < bytes.capacity(); page += RecordFormat.PAGE) {
      byte kind = memory.get(JAVA_BYTE, page + RecordFormat.KIND);
      if ((kind == RecordFormat.SYNCED || kind == RecordFormat.CLOSED) && lengthOf(page) > 0) {
        synced = Math.max(synced, memory.get(LONG, page + RecordFormat.HEAD));
      }
    }
    return synced;
  }

  /** Returns how many whole records there are behind a place, wherever they begin. */
  int countBehind(int from) {
    int count = 0;
    int place = from;
    while (place < bytes.capacity()) {
      int length = lengthOf(place);
      if (length > 0) {
        count++;
      }
      place += Math.max(length, RecordFormat.ALIGNMENT);
    }
    return count;
  }

  /**
   * Returns how long the record at a place is; 0 if there is none. The length is read once: another
   * process may write meanwhile.
   */
  private int lengthOf(int place) {
    int room = bytes.capacity() - place;
    if (room < RecordFormat.HEAD) {
      return 0;
    }
    int length = memory.get(INT, place);
    if (length < RecordFormat.HEAD || length > room || length % RecordFormat.ALIGNMENT != 0) {
      return 0;
    }
    byte kind = memory.get(JAVA_BYTE, place + RecordFormat.KIND);
    long itsKeyBytes = memory.get(CHAR, place + RecordFormat.KEY_BYTES);
    long itsValueBytes = memory.get(INT, place + RecordFormat.VALUE_BYTES);
    if (itsValueBytes < 0 || RecordFormat.bytesOf(itsKeyBytes, itsValueBytes) != length) {
      return 0;
    }
    int summed = kind == RecordFormat.PAD ? RecordFormat.HEAD : length;
    crc.reset();
    crc.update(bytes.limit(place + summed).position(place + RecordFormat.KIND));
    bytes.clear();
    int sum = sums.of(salt, first + place, (int) crc.getValue());
    if (memory.get(INT, place + RecordFormat.SUM) != sum) {
      return 0;
    }
    checkKnown(place, kind);
    return length;
  }

  private void checkKnown(int place, byte kind) {
    byte flags = memory.get(JAVA_BYTE, place + RecordFormat.FLAGS);
    if (kind < RecordFormat.PUT || kind > RecordFormat.GROUP || flags != 0) {
      throw DamagedFolderException.ofOtherPando(
          "a newer Pando wrote the log: file=%s, place=%s, kind=%s, flags=%s"
              .formatted(name, place, kind, flags));
    }
  }
}
