package pando.journal;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static pando.journal.FileBytes.CHAR;
import static pando.journal.FileBytes.INT;
import static pando.journal.FileBytes.LONG;
import static pando.journal.SortedFileFormat.BLOCK_BYTES;
import static pando.journal.SortedFileFormat.BYTES;
import static pando.journal.SortedFileFormat.ENTRIES;
import static pando.journal.SortedFileFormat.FIRST_ENTRY;
import static pando.journal.SortedFileFormat.FLAGS;
import static pando.journal.SortedFileFormat.INDEX_ENTRIES;
import static pando.journal.SortedFileFormat.INDEX_KEY;
import static pando.journal.SortedFileFormat.INDEX_KEY_BYTES;
import static pando.journal.SortedFileFormat.INDEX_SUM_BYTES;
import static pando.journal.SortedFileFormat.KEY;
import static pando.journal.SortedFileFormat.KEY_BYTES_MAX;
import static pando.journal.SortedFileFormat.REMOVED;
import static pando.journal.SortedFileFormat.SUM;
import static pando.journal.SortedFileFormat.VALUE_BYTES;
import static pando.journal.SortedFileFormat.VALUE_BYTES_MAX;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.CRC32C;
import pando.fabric.memory.KeyOrder;

/**
 * Writes a sorted file, of entries that come in ascending order. It remembers where blocks begin, 8
 * bytes of each, and reads their first keys again for the index: so its memory does not grow with
 * the keys. Not thread-safe.
 */
final class SortedFileWriter implements AutoCloseable {
  private final DiskFile file;
  private final boolean isBase;
  private final int headerSum;
  private final int blockBytes;
  private final Arena arena = Arena.ofShared();
  private final MessageDigest digest = SortedFileFormat.sha256();

  /** The block under construction. Also has what is written before and behind the blocks. */
  private MemorySegment block;

  private int used = FIRST_ENTRY;
  private int blockEntries;

  /** Where the last key is in the block; it is there until another entry is written. */
  private int lastAt = -1;

  private int lastBytes;
  private long written;
  private long[] places = new long[16];
  private int blocks;
  private long entries;
  private long removals;
  private long bytes;

  /**
   * Creates a writer and writes the header.
   *
   * @param file without bytes, which this one closes
   */
  SortedFileWriter(DiskFile file, SortedFileHeader header) throws IOException {
    this(file, header, BLOCK_BYTES);
  }

  /** The same, for tests that want many small blocks. */
  SortedFileWriter(DiskFile file, SortedFileHeader header, int blockBytes) throws IOException {
    this.file = file;
    this.isBase = header.isBase();
    this.headerSum = header.sum();
    this.blockBytes = blockBytes;
    this.block = arena.allocate(BLOCK_BYTES);
    header.write(block);
    write(SortedFileHeader.HEADER_BYTES);
  }

  /** Appends all entries of a stream, behind its current one. */
  void append(EntryStream stream) throws IOException {
    while (stream.next()) {
      if (stream.isRemoved()) {
        appendRemoved(stream.key());
      } else {
        append(stream.key(), stream.value());
      }
    }
  }

  /** Appends an entry, whose key is above all before. */
  void append(MemorySegment key, MemorySegment value) throws IOException {
    if (value.byteSize() > VALUE_BYTES_MAX) {
      throw new IllegalArgumentException("a value of %d bytes".formatted(value.byteSize()));
    }
    int valueBytes = (int) value.byteSize();
    int at = appendKey(key, valueBytes, valueBytes);
    MemorySegment.copy(value, 0, block, at, valueBytes);
  }

  /** Appends that a key was removed. It is above all before. */
  void appendRemoved(MemorySegment key) throws IOException {
    if (isBase) {
      throw new IllegalArgumentException("a base has no removals");
    }
    appendKey(key, REMOVED, 0);
    removals++;
  }

  /** Makes room for an entry and writes all but its value, whose place is returned. */
  private int appendKey(MemorySegment key, int valueField, int valueBytes) throws IOException {
    if (key.byteSize() > KEY_BYTES_MAX) {
      throw new IllegalArgumentException("a key of %d bytes".formatted(key.byteSize()));
    }
    int keyBytes = (int) key.byteSize();
    if (lastAt >= 0 && KeyOrder.compare(block, lastAt, lastBytes, key, 0, keyBytes) >= 0) {
      throw new IllegalArgumentException(
          "key %s is not above %s".formatted(hex(key), hex(block.asSlice(lastAt, lastBytes))));
    }
    int entryBytes = KEY + keyBytes + valueBytes;
    if (blockEntries > 0 && used + entryBytes > blockBytes) {
      writeBlock();
    }
    block = SortedFileFormat.withRoom(block, (long) used + entryBytes, arena);
    int at = used;
    block.set(CHAR, at, (char) keyBytes);
    block.set(INT, at + VALUE_BYTES, valueField);
    MemorySegment.copy(key, 0, block, at + KEY, keyBytes);
    lastAt = at + KEY;
    lastBytes = keyBytes;
    used = at + entryBytes;
    blockEntries++;
    entries++;
    bytes += keyBytes + valueBytes;
    return at + KEY + keyBytes;
  }

  private void writeBlock() throws IOException {
    block.set(INT, BYTES, used);
    block.set(INT, ENTRIES, blockEntries);
    block.set(INT, FLAGS, 0);
    block.set(INT, SUM, SortedFileFormat.blockSum(headerSum, written, block, used));
    if (blocks == places.length) {
      places = Arrays.copyOf(places, 2 * blocks);
    }
    places[blocks] = written;
    blocks++;
    write(used);
    used = FIRST_ENTRY;
    blockEntries = 0;
  }

  /** Writes what the block has behind all that was written. */
  private void write(int count) throws IOException {
    ByteBuffer from = block.asSlice(0, count).asByteBuffer();
    digest.update(from.duplicate());
    file.write(written, from);
    written += count;
  }

  /** Ends the file, and has it on the disk. Returns what is in it. */
  SortedFileFooter finish() throws IOException {
    if (blockEntries > 0) {
      writeBlock();
    }
    long indexAt = written;
    writeIndex();
    SortedFileFooter footer =
        new SortedFileFooter(indexAt, blocks, entries, removals, bytes).write(block, digest);
    file.write(written, block.asSlice(0, SortedFileFooter.FOOTER_BYTES).asByteBuffer());
    file.force();
    return footer;
  }

  private void writeIndex() throws IOException {
    CRC32C sum = new CRC32C();
    for (int i = 0; i < blocks; i++) {
      writeIndex(places[i], sum);
    }
    block.set(INT, 0, (int) sum.getValue());
    write(INDEX_SUM_BYTES);
  }

  /** Writes what the index says of a block. */
  private void writeIndex(long place, CRC32C sum) throws IOException {
    MemorySegment start = block.asSlice(0, FIRST_ENTRY + KEY);
    read(place, start);
    int count = start.get(INT, ENTRIES);
    int keyBytes = start.get(CHAR, FIRST_ENTRY);
    block = SortedFileFormat.withRoom(block, (long) INDEX_KEY + keyBytes, arena);
    read(place + FIRST_ENTRY + KEY, block.asSlice(INDEX_KEY, keyBytes));
    block.set(LONG, 0, place);
    block.set(INT, INDEX_ENTRIES, count);
    block.set(CHAR, INDEX_KEY_BYTES, (char) keyBytes);
    int length = INDEX_KEY + keyBytes;
    sum.update(block.asSlice(0, length).asByteBuffer());
    write(length);
  }

  private void read(long at, MemorySegment into) throws IOException {
    if (file.read(at, into.asByteBuffer()) != into.byteSize()) {
      throw new IOException("what was written at %d is not there".formatted(at));
    }
  }

  private static String hex(MemorySegment key) {
    return HexFormat.of().formatHex(key.toArray(JAVA_BYTE));
  }

  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
    file.close();
  }
}
