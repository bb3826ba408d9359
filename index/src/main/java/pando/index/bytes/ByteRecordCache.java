package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;
import pando.fabric.Backoff;
import pando.fabric.memory.NativeMemory;

/**
 * Single records that are cached, by the hashes of their keys, in native memory. Thread-safe.
 *
 * @see RecordPart
 */
final class ByteRecordCache implements AutoCloseable {
  private static final int PARTS_MAX = 64;
  private static final long PART_BYTES = 256 << 10;

  private final NativeMemory memory;
  private final RecordPart[] parts;
  private final int shift;

  /**
   * Creates an empty cache.
   *
   * @param bytes that it takes; with too few for a record it caches none
   */
  ByteRecordCache(long bytes) {
    int bits = 0;
    while (1 << bits < PARTS_MAX && bytes >> bits > PART_BYTES) {
      bits++;
    }
    this.shift = Long.SIZE - 1 - bits;
    this.parts = new RecordPart[1 << bits];
    long partBytes = Math.min(bytes >> bits, RecordPart.BYTES_MAX) & -Long.BYTES;
    this.memory = NativeMemory.allocate(Math.max(partBytes << bits, 1));
    // Each part fills from its start, so huge pages would commit most of the memory at once.
    memory.askForHugePages(0, partBytes << bits, false);
    for (int i = 0; i < parts.length; i++) {
      long start = i * partBytes;
      MemorySegment part = memory.segment().asSlice(start, partBytes);
      parts[i] = new RecordPart(part, () -> memory.askForHugePages(start, partBytes, true));
    }
  }

  /** Returns the part that has the record of a key, if it is cached. */
  RecordPart part(long hash) {
    // one bit more is shifted off, as a shift by 64 would be one by 0
    return parts[(int) (hash >>> 1 >>> shift)];
  }

  /** Returns about how many bytes of local memory the records take. */
  long usedBytes() {
    return Stream.of(parts).mapToLong(RecordPart::usedBytes).sum();
  }

  /** Drops all records, and gives their memory back to the system. */
  void clear(Backoff backoff) {
    for (int i = 0; i < parts.length; i++) {
      latch(parts[i], backoff);
      try {
        parts[i].clear();
        memory.discard(i * parts[i].bytes(), parts[i].bytes());
      } finally {
        parts[i].unlatch();
      }
    }
  }

  /** Frees the memory; the cache must not be used any more. */
  @Override
  public void close() {
    memory.close();
  }

  /** What a session finds in the cache, in memory of its own. */
  static final class Found {
    private byte[] array = new byte[64];
    private MemorySegment bytes = MemorySegment.ofArray(array);
    private int length;
    private boolean blob;

    /** Takes a copy of a value, or of the word of a blob. */
    void copy(MemorySegment from, long at, int valueBytes, boolean isBlob) {
      if (valueBytes > array.length) {
        array = new byte[Math.max(valueBytes, 2 * array.length)];
        bytes = MemorySegment.ofArray(array);
      }
      MemorySegment.copy(from, at, bytes, 0, valueBytes);
      length = valueBytes;
      blob = isBlob;
    }

    /** Returns the memory that has the value at its start. */
    MemorySegment bytes() {
      return bytes;
    }

    int length() {
      return length;
    }

    /** Returns whether the value is the word of a blob. */
    boolean isBlob() {
      return blob;
    }

    long word() {
      return bytes.get(Block.LONG, 0);
    }
  }

  /** Latches the part of a key. */
  RecordPart latched(long hash, Backoff backoff) {
    RecordPart part = part(hash);
    latch(part, backoff);
    return part;
  }

  private static void latch(RecordPart part, Backoff backoff) {
    for (int attempt = 0; !part.tryLatch(); attempt++) {
      backoff.pause(attempt);
    }
  }
}
