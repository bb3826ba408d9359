package pando.client;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameReader;
import pando.client.wire.FrameWriter;
import pando.client.wire.Op;
import pando.client.wire.Outcome;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.wire.FrameException;
import pando.index.Partitioning;
import pando.index.bytes.ByteArguments;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.KeyBounds;

/**
 * An operation on byte strings, or a page of them. The bytes that it is given are those of the
 * thread that asks, which does not change them meanwhile; those that it has found are its own.
 */
final class ByteCall extends Call {
  static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private MemorySegment wanted = NOTHING;
  private MemorySegment stored = NOTHING;
  private MemorySegment expectedBytes = NOTHING;

  /** Range of a page: the least key, and the first behind all, if there is one. */
  private MemorySegment low = NOTHING;

  private @Nullable MemorySegment high;
  private int bytesMax;

  /** The key that was found, or from where to go on. */
  MemorySegment found = NOTHING;

  private MemorySegment foundValueBytes = NOTHING;

  /** Length of a value that is not there as it is too long, else 0. */
  private long withheld;

  /** Keys and values of a page, in turn. */
  private MemorySegment[] parts = new MemorySegment[0];

  /** Sets an operation. */
  void operation(
      int newOp, MemorySegment newKey, MemorySegment newValue, MemorySegment newExpected) {
    begin(ClientFrame.BYTES);
    op = newOp;
    wanted = newKey;
    stored = newValue;
    expectedBytes = newExpected;
  }

  @Override
  void flush(int range) {
    operation(Op.FLUSH, NOTHING, NOTHING, NOTHING);
    flushed = range;
  }

  /**
   * Sets a page of a scan.
   *
   * @param end the first key behind the range, not the empty one
   */
  void scan(
      MemorySegment least,
      @Nullable MemorySegment end,
      boolean isDown,
      int entriesMax,
      int newBytesMax) {
    begin(ClientFrame.BYTE_SCAN);
    low = least;
    high = end;
    down = isDown;
    limit = entriesMax;
    bytesMax = newBytesMax;
  }

  /** Forgets the bytes of an operation, and those that it has found. */
  void forget() {
    wanted = NOTHING;
    stored = NOTHING;
    expectedBytes = NOTHING;
    found = NOTHING;
    foundValueBytes = NOTHING;
  }

  @Override
  int rangeOfKey(Partitioning table) {
    if (!table.hasFences()) {
      // It serves words, and says so.
      return 0;
    }
    if (kind == ClientFrame.BYTE_SCAN) {
      return down ? KeyBounds.rangeBelow(table, high) : KeyBounds.rangeOfKey(table, low);
    }
    return switch (op) {
      case Op.LAST -> KeyBounds.rangeBelow(table, null);
      case Op.LOWER -> KeyBounds.rangeBelow(table, wanted);
      default -> KeyBounds.rangeOfKey(table, wanted);
    };
  }

  /** Goes on with the keys above or below those that the compute server has. */
  @Override
  void goOn() {
    op = Op.isDown(op) ? Op.LOWER : Op.CEILING;
    wanted = found;
  }

  @Override
  int flags() {
    if (kind == ClientFrame.BYTES) {
      return 0;
    }
    return (down ? ClientFrame.DOWN : 0) | (high == null ? ClientFrame.ENDLESS : 0);
  }

  @Override
  void addTo(FrameWriter request) {
    if (kind == ClientFrame.BYTES) {
      request.pair(op, (int) wanted.byteSize());
      request.pair((int) stored.byteSize(), (int) expectedBytes.byteSize());
      request.bytes(wanted);
      request.bytes(stored);
      request.bytes(expectedBytes);
    } else {
      MemorySegment end = high == null ? NOTHING : high;
      request.pair((int) low.byteSize(), (int) end.byteSize());
      request.pair(limit, bytesMax);
      request.bytes(low);
      request.bytes(end);
    }
    request.fill();
  }

  @Override
  boolean isRead() {
    return kind == ClientFrame.BYTE_SCAN || Op.isRead(op);
  }

  @Override
  String what() {
    return kind == ClientFrame.BYTES
        ? Op.name(op) + ", key=" + ByteArguments.text(wanted)
        : "scan, low="
            + ByteArguments.text(low)
            + ", high="
            + (high == null ? "none" : ByteArguments.text(high));
  }

  @Override
  void takeResponse(FrameReader from) throws FrameException {
    takeResult(from);
    found = NOTHING;
    foundValueBytes = NOTHING;
    withheld = 0;
    entries = 0;
    boolean goesFurther = outcome == Outcome.FURTHER;
    if (goesFurther && (kind == ClientFrame.BYTE_SCAN || !Op.isNeighbour(op))) {
      throw new FrameException("an operation that needs no other server goes further: " + what());
    }
    if (outcome > Outcome.YES && !goesFurther) {
      checkNoneLeft(from);
    } else if (kind == ClientFrame.BYTES) {
      takeFound(from);
    } else {
      takePage(from);
    }
  }

  private static void checkNoneLeft(FrameReader from) throws FrameException {
    if (from.left() != 0) {
      throw new FrameException("bytes behind the result: left=" + from.left());
    }
  }

  private void takeFound(FrameReader from) throws FrameException {
    boolean isWithheld = (from.flags() & ClientFrame.WITHHELD) != 0;
    if (isWithheld && foundValue <= ClientFrame.VALUE_BYTES_MAX) {
      throw new FrameException("no value is withheld that is so short: bytes=" + foundValue);
    }
    long bytes = isWithheld ? 0 : foundValue;
    checkLength(foundKey, ClientFrame.KEY_BYTES_MAX);
    checkLength(bytes, ClientFrame.VALUE_BYTES_MAX);
    if (from.left() != ClientFrame.padded((int) (foundKey + bytes))) {
      throw new FrameException(
          "no result is like this: keyBytes=%s, valueBytes=%s, left=%s"
              .formatted(foundKey, bytes, from.left()));
    }
    found = from.bytes((int) foundKey);
    foundValueBytes = from.bytes((int) bytes);
    withheld = isWithheld ? foundValue : 0;
    if (Op.isNeighbour(op) && outcome != Outcome.NO) {
      checkNeighbour();
    }
  }

  private static void checkLength(long bytes, int maximum) throws FrameException {
    if (bytes < 0 || bytes > maximum) {
      throw new FrameException("no such length: bytes=" + bytes + ", maximum=" + maximum);
    }
  }

  /** Checks that it is on the right side of the key, and that what goes on comes further. */
  private void checkNeighbour() throws FrameException {
    int order = op == Op.LAST ? -1 : ByteIndex.compare(found, wanted);
    boolean mayBeEqual =
        outcome == Outcome.FURTHER ? op == Op.FLOOR : op == Op.FLOOR || op == Op.CEILING;
    boolean isOnItsSide = Op.isDown(op) ? order < 0 : order > 0;
    boolean isEnd = outcome == Outcome.FURTHER && found.byteSize() == 0;
    if (isEnd || !(isOnItsSide || (mayBeEqual && order == 0))) {
      throw new FrameException(
          "no neighbour is there: %s, found=%s, outcome=%s"
              .formatted(what(), ByteArguments.text(found), outcome));
    }
  }

  private void takePage(FrameReader from) throws FrameException {
    int count = from.count();
    checkLength(foundKey, ClientFrame.KEY_BYTES_MAX);
    if (count > limit || from.left() < ClientFrame.padded((int) foundKey)) {
      throw new FrameException(
          "no page is like this: entries=%s, limit=%s, left=%s"
              .formatted(count, limit, from.left()));
    }
    found = from.filledBytes((int) foundKey);
    if (parts.length < 2 * count) {
      parts = new MemorySegment[2 * count];
    }
    for (int i = 0; i < count; i++) {
      takeEntry(from, i);
      checkEntry(i);
    }
    checkNoneLeft(from);
    entries = count;
    if (outcome == Outcome.YES) {
      checkGoesOn();
    }
  }

  private void takeEntry(FrameReader from, int entry) throws FrameException {
    if (from.left() < Long.BYTES) {
      throw new FrameException("entries that are not there: left=" + from.left());
    }
    int keyBytes = (int) from.word(0);
    int valueBytes = (int) (from.word(0) >>> Integer.SIZE);
    from.skip(Long.BYTES);
    checkLength(keyBytes, ClientFrame.KEY_BYTES_MAX);
    checkLength(valueBytes, ClientFrame.VALUE_BYTES_MAX);
    if (from.left() < ClientFrame.padded(keyBytes + valueBytes)) {
      throw new FrameException(
          "entries that are not there: keyBytes=%s, valueBytes=%s, left=%s"
              .formatted(keyBytes, valueBytes, from.left()));
    }
    MemorySegment both = from.filledBytes(keyBytes + valueBytes).asReadOnly();
    parts[2 * entry] = both.asSlice(0, keyBytes);
    parts[2 * entry + 1] = both.asSlice(keyBytes);
  }

  /** Checks that a key is in the range, and behind the one before. */
  private void checkEntry(int entry) throws FrameException {
    MemorySegment next = key(entry);
    boolean isInside = isInside(next);
    int order = entry == 0 ? 0 : ByteIndex.compare(next, key(entry - 1));
    boolean isInOrder = entry == 0 || (down ? order < 0 : order > 0);
    if (!isInside || !isInOrder) {
      throw new FrameException(
          "a page out of order: %s, found=%s".formatted(what(), ByteArguments.text(next)));
    }
  }

  private boolean isInside(MemorySegment its) {
    MemorySegment end = high;
    return ByteIndex.compare(its, low) >= 0 && (end == null || ByteIndex.compare(its, end) < 0);
  }

  /** Checks that the rest of the range is behind the page, and less than all of it. */
  private void checkGoesOn() throws FrameException {
    MemorySegment before = entries > 0 ? key(entries - 1) : down ? high : low;
    int order = before == null ? -1 : ByteIndex.compare(found, before);
    boolean isBehind = down ? order < 0 || (order == 0 && entries > 0) : order > 0;
    boolean isRest = isInside(found) && (!down || ByteIndex.compare(found, low) > 0);
    if (!isBehind || !isRest) {
      throw new FrameException(
          "a page that goes on elsewhere: %s, found=%s"
              .formatted(what(), ByteArguments.text(found)));
    }
  }

  /** Returns a key of the page. */
  MemorySegment key(int entry) {
    return Objects.requireNonNull(parts[2 * entry]);
  }

  /** Returns a value of the page. */
  MemorySegment value(int entry) {
    return Objects.requireNonNull(parts[2 * entry + 1]);
  }

  /**
   * Returns the value that was found.
   *
   * @throws ClientException if it is longer than clients take
   * @throws UnknownOutcomeException if it is, and the entry was changed
   */
  MemorySegment value() {
    if (withheld > 0) {
      String limits = "valueBytes=%s, maximum=%s".formatted(withheld, ClientFrame.VALUE_BYTES_MAX);
      if (!isRead() && outcome == Outcome.YES) {
        throw new UnknownOutcomeException(
            "the entry was changed, and its value before is longer than a client takes: " + limits);
      }
      throw new ClientException("the value is longer than a client takes: " + limits);
    }
    return foundValueBytes.asReadOnly();
  }
}
