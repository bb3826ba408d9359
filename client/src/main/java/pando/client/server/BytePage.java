package pando.client.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameWriter;
import pando.index.bytes.ByteVisitor;

/**
 * Copies of entries, up to a number of them and of their bytes; of a first entry, as many bytes as
 * it has. Not thread-safe.
 */
final class BytePage implements ByteVisitor {
  private static final int KEPT_MAX = 64 << 10;

  /** Keys and values, one behind the other. */
  private byte[] bytes = new byte[0];

  /** Where each of them ends. */
  private int[] ends = new int[16];

  private int parts;
  private int limit;
  private int bytesMax;
  private boolean isFull;
  private long withheld;

  /** Forgets all entries; takes others, at least one. */
  void begin(int entriesMax, int newBytesMax) {
    clear();
    limit = entriesMax;
    bytesMax = newBytesMax;
  }

  void clear() {
    parts = 0;
    isFull = false;
    withheld = 0;
    if (bytes.length > KEPT_MAX) {
      bytes = new byte[0];
    }
  }

  @Override
  public boolean visit(MemorySegment key, MemorySegment value) {
    boolean isTooLong = value.byteSize() > ClientFrame.VALUE_BYTES_MAX;
    boolean hasRoom = !isTooLong && end() + key.byteSize() + value.byteSize() <= bytesMax;
    if (parts == 0 || hasRoom) {
      add(key);
      withheld = isTooLong ? value.byteSize() : 0;
      add(isTooLong ? MemorySegment.NULL : value);
      isFull = count() == limit || isTooLong;
    } else {
      isFull = true;
    }
    return !isFull;
  }

  private void add(MemorySegment part) {
    int at = end();
    int end = at + (int) part.byteSize();
    if (bytes.length < end) {
      bytes = Arrays.copyOf(bytes, Math.max(end, 2 * bytes.length));
    }
    if (ends.length == parts) {
      ends = Arrays.copyOf(ends, 2 * parts);
    }
    MemorySegment.copy(part, JAVA_BYTE, 0, bytes, at, end - at);
    ends[parts++] = end;
  }

  private int end() {
    return parts == 0 ? 0 : ends[parts - 1];
  }

  int count() {
    return parts / 2;
  }

  /** Returns whether it takes no further entry, though there may be more. */
  boolean isFull() {
    return isFull;
  }

  /** Returns the length of the last value if that is longer than clients take, else 0. */
  long withheld() {
    return withheld;
  }

  MemorySegment key(int entry) {
    return part(2 * entry);
  }

  MemorySegment value(int entry) {
    return part(2 * entry + 1);
  }

  private MemorySegment part(int place) {
    int from = place == 0 ? 0 : ends[place - 1];
    return MemorySegment.ofArray(bytes).asSlice(from, ends[place] - from);
  }

  /** Adds all entries to a response. */
  void addTo(FrameWriter response) {
    for (int i = 0; i < count(); i++) {
      MemorySegment key = key(i);
      MemorySegment value = value(i);
      response.pair((int) key.byteSize(), (int) value.byteSize());
      response.bytes(key);
      response.bytes(value);
      response.fill();
    }
  }
}
