package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.PandoException;
import pando.index.CorruptNodeException;
import pando.index.Partitioning;
import pando.index.blob.BlobSpace;
import pando.index.blob.Blobs;
import pando.index.pool.Catalogue;

/**
 * The byte strings with which the ranges of a table begin, in a value whose word is beside the
 * table. The first range begins with the empty string, which is left out. Thread-safe.
 *
 * <pre>
 * format 1 | for each other range: length 4 | the bytes | zeros
 * </pre>
 *
 * <p>A lost compute server has an heir also in a full pool. So each process keeps a place of the
 * size that the value has, and a value that would be shorter than the one before has zeros in the
 * end.
 */
final class Fences {
  private static final byte FORMAT = 1;

  /** Attempts to load what a table names, before it counts as damaged. */
  private static final int LOADS_MAX = 4;

  private final BlobSpace space;

  /** The table that was read or written last. */
  private volatile @Nullable Partitioning known;

  Fences(BlobSpace space) {
    this.space = space;
  }

  /**
   * Reads the table of a pool, with its fences.
   *
   * @throws IllegalStateException if the index is none of byte strings
   * @throws CorruptNodeException if the fences are damaged
   */
  Partitioning read(Catalogue catalogue) {
    for (int attempt = 0; ; attempt++) {
      Partitioning table = catalogue.readPartitioning();
      Partitioning last = known;
      if (last != null && last.epoch() == table.epoch()) {
        return last;
      }
      long word = catalogue.beside();
      if (word == 0) {
        throw new IllegalStateException("the pool holds no index of byte strings");
      }
      Partitioning read = load(table, word);
      if (read != null) {
        known = read;
        return read;
      }
      // Once there is another table, the fences of this one are freed.
      if (attempt == LOADS_MAX) {
        throw new CorruptNodeException(Blobs.address(word), "are not the fences of the ranges");
      }
    }
  }

  private @Nullable Partitioning load(Partitioning table, long word) {
    try (Blobs blobs = new Blobs(space)) {
      if (!blobs.load(table.epoch(), word)) {
        return null;
      }
      byte[] copy = blobs.bytes().asSlice(blobs.offset(), blobs.length()).toArray(JAVA_BYTE);
      Partitioning read = decoded(table, MemorySegment.ofArray(copy), word);
      keepPlaceFor(blobs, word);
      return read;
    }
  }

  private static void keepPlaceFor(Blobs blobs, long word) {
    try {
      blobs.keepPlaceFor(word);
    } catch (PandoException _) {
      // The table is read. Once there is another one, the process asks again.
    }
  }

  private static Partitioning decoded(Partitioning table, MemorySegment bytes, long word) {
    try {
      List<MemorySegment> fences = new ArrayList<>();
      fences.add(MemorySegment.ofArray(new byte[0]));
      long at = 1;
      while (fences.size() < table.servers()) {
        int length = bytes.get(Block.INT, at);
        fences.add(bytes.asSlice(at + Integer.BYTES, length));
        at += Integer.BYTES + length;
      }
      return table.withFences(fences);
    } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
      throw new CorruptNodeException(
          Blobs.address(word), "are not the fences of the ranges: " + e.getMessage());
    }
  }

  /** Writes a table in place of the one before, whose fences are freed. */
  void write(Catalogue catalogue, Partitioning table) {
    long before = catalogue.beside();
    try (Blobs blobs = new Blobs(space)) {
      MemorySegment bytes = encoded(table, table.servers() == 1 ? 0 : blobs.room(before));
      int length = (int) bytes.byteSize();
      long word = blobs.storeInPlaceOf(before, table.epoch(), bytes, 0, length);
      catalogue.writePartitioning(table, word);
      known = table;
      blobs.free(table.epoch() - 1, before);
    }
  }

  private static MemorySegment encoded(Partitioning table, int leastBytes) {
    long size = 1;
    for (int range = 1; range < table.servers(); range++) {
      size += Integer.BYTES + table.fenceOfRange(range).byteSize();
    }
    byte[] all = new byte[Math.toIntExact(Math.max(size, leastBytes))];
    MemorySegment bytes = MemorySegment.ofArray(all);
    bytes.set(JAVA_BYTE, 0, FORMAT);
    long at = 1;
    for (int range = 1; range < table.servers(); range++) {
      MemorySegment fence = table.fenceOfRange(range);
      bytes.set(Block.INT, at, (int) fence.byteSize());
      MemorySegment.copy(fence, 0, bytes, at + Integer.BYTES, fence.byteSize());
      at += Integer.BYTES + fence.byteSize();
    }
    return bytes;
  }
}
