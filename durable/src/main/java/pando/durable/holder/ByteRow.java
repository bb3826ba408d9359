package pando.durable.holder;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * A row of bytes that grows at its end and is cut off at its start. Each byte keeps its place: the
 * number of those that ever were before it. Not thread-safe.
 */
final class ByteRow {
  private static final int CHUNK_BYTES = 64 << 10;

  /** Chunks that are kept to be used again. */
  private static final int SPARE_CHUNKS = 2;

  private final List<MemorySegment> chunks = new ArrayList<>();
  private final Deque<MemorySegment> spare = new ArrayDeque<>();

  /** Where the first chunk begins; a multiple of its size. */
  private long base;

  private long first;
  private long end;

  /** Returns the place of the first byte. */
  long first() {
    return first;
  }

  /** Returns the place behind the last byte. */
  long end() {
    return end;
  }

  /** Returns the bytes of local memory that it takes, but for some that are kept for later. */
  long memoryBytes() {
    return (long) chunks.size() * CHUNK_BYTES;
  }

  /** Adds bytes at the end. */
  void append(MemorySegment from, long at, long bytes) {
    long done = 0;
    while (done < bytes) {
      if (end == base + (long) chunks.size() * CHUNK_BYTES) {
        MemorySegment chunk = spare.poll();
        chunks.add(chunk == null ? MemorySegment.ofArray(new byte[CHUNK_BYTES]) : chunk);
      }
      long some = Math.min(bytes - done, leftOfChunk(end));
      MemorySegment.copy(from, at + done, chunk(end), placeInChunk(end), some);
      done += some;
      end += some;
    }
  }

  /**
   * Copies bytes out.
   *
   * @param place of the first one, which is there, as are those behind it
   */
  void copy(long place, MemorySegment to, long at, long bytes) {
    long done = 0;
    while (done < bytes) {
      long some = Math.min(bytes - done, leftOfChunk(place + done));
      MemorySegment.copy(chunk(place + done), placeInChunk(place + done), to, at + done, some);
      done += some;
    }
  }

  private MemorySegment chunk(long place) {
    return chunks.get((int) ((place - base) / CHUNK_BYTES));
  }

  private static long placeInChunk(long place) {
    return place % CHUNK_BYTES;
  }

  private static long leftOfChunk(long place) {
    return CHUNK_BYTES - placeInChunk(place);
  }

  /** Cuts off all bytes before a place. */
  void cutBefore(long place) {
    first = Math.max(first, Math.min(place, end));
    int unused = (int) ((first - base) / CHUNK_BYTES);
    if (unused > 0) {
      List<MemorySegment> gone = chunks.subList(0, unused);
      for (MemorySegment chunk : gone) {
        if (spare.size() < SPARE_CHUNKS) {
          spare.add(chunk);
        }
      }
      gone.clear();
      base += (long) unused * CHUNK_BYTES;
    }
  }

  /** Cuts off all bytes from a place on, which is not before the first one. */
  void cutBehind(long place) {
    end = place;
    int used = (int) Math.ceilDiv(end - base, (long) CHUNK_BYTES);
    chunks.subList(used, chunks.size()).clear();
  }
}
