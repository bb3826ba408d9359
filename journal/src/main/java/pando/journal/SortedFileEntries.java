package pando.journal;

import static pando.journal.FileBytes.CHAR;
import static pando.journal.FileBytes.INT;
import static pando.journal.SortedFileFormat.BLOCK_BYTES;
import static pando.journal.SortedFileFormat.BYTES;
import static pando.journal.SortedFileFormat.ENTRIES;
import static pando.journal.SortedFileFormat.FIRST_ENTRY;
import static pando.journal.SortedFileFormat.FLAGS;
import static pando.journal.SortedFileFormat.KEY;
import static pando.journal.SortedFileFormat.REMOVED;
import static pando.journal.SortedFileFormat.SUM;
import static pando.journal.SortedFileFormat.VALUE_BYTES;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.LongAdder;
import pando.fabric.memory.KeyOrder;

/**
 * All entries of a sorted file, block by block. A block is checked when it is read: its length
 * against the index before there is room for it, then its sum. That its entries ascend, fill it,
 * and are those that index and footer speak of, is checked on the way.
 */
final class SortedFileEntries implements EntryStream {
  private final SortedFile file;
  private final LongAdder read;
  private final Arena arena = Arena.ofShared();
  private final SortedFileIndex index;
  private final boolean isBase;
  private final int headerSum;

  private MemorySegment block;
  private long blockEnd;
  private int left;

  private long keyAt;
  private int keyBytes;
  private long valueAt;
  private int valueBytes;

  /** Where the next entry of the block begins. */
  private long nextAt;

  private long entries;
  private long removals;
  private long bytes;

  /**
   * Begins before the first entry.
   *
   * @param read to which entries are added, a block at a time
   */
  SortedFileEntries(SortedFile file, LongAdder read) {
    this.file = file;
    this.read = read;
    this.index = new SortedFileIndex(file, arena);
    this.isBase = file.header().isBase();
    this.headerSum = file.header().sum();
    this.block = arena.allocate(BLOCK_BYTES);
  }

  @Override
  public boolean next() throws IOException {
    if (left > 0) {
      long previousAt = keyAt;
      int previousBytes = keyBytes;
      take();
      if (KeyOrder.compare(block, previousAt, previousBytes, block, keyAt, keyBytes) >= 0) {
        throw damagedBlock("its keys do not ascend");
      }
      return true;
    }
    if (!nextBlock()) {
      return false;
    }
    take();
    if (!index.isFirst(block, keyAt, keyBytes)) {
      throw damagedBlock("its first key is another one");
    }
    return true;
  }

  /** Reads the next entry of the block. */
  private void take() {
    long at = nextAt;
    if (at + KEY > blockEnd) {
      throw damagedBlock("its entries end too early");
    }
    keyBytes = block.get(CHAR, at);
    valueBytes = block.get(INT, at + VALUE_BYTES);
    keyAt = at + KEY;
    valueAt = keyAt + keyBytes;
    nextAt = valueAt + Math.max(valueBytes, 0);
    if (nextAt > blockEnd || valueBytes < (isBase ? 0 : REMOVED)) {
      throw damagedBlock("an entry has a value of %d bytes".formatted(valueBytes));
    }
    removals += valueBytes >>> (Integer.SIZE - 1);
    left--;
  }

  /** Reads and checks the next block; returns {@code false} if there is none. */
  private boolean nextBlock() throws IOException {
    if (entries > 0) {
      if (nextAt != blockEnd) {
        throw damagedBlock("its entries do not fill it");
      }
      if (!index.isBelowNext(block, keyAt, keyBytes)) {
        throw damagedBlock("it has keys of the next one");
      }
    }
    if (!index.next()) {
      checkCounts();
      return false;
    }
    int length = index.bytes();
    block = SortedFileFormat.withRoom(block, length, arena);
    file.read(index.place(), block.asSlice(0, length));
    int sum = SortedFileFormat.blockSum(headerSum, index.place(), block, length);
    if (block.get(INT, SUM) != sum) {
      throw damagedBlock("its sum is %08x instead of %08x".formatted(sum, block.get(INT, SUM)));
    }
    if (block.get(INT, BYTES) != length
        || block.get(INT, ENTRIES) != index.entries()
        || block.get(INT, FLAGS) != 0) {
      throw damagedBlock(
          "it begins with %d bytes, %d entries, flags %x"
              .formatted(block.get(INT, BYTES), block.get(INT, ENTRIES), block.get(INT, FLAGS)));
    }
    left = index.entries();
    entries += left;
    read.add(left);
    bytes += length - FIRST_ENTRY - (long) KEY * left;
    nextAt = FIRST_ENTRY;
    blockEnd = length;
    return true;
  }

  private void checkCounts() {
    SortedFileFooter footer = file.footer();
    if (entries != footer.entries() || removals != footer.removals() || bytes != footer.bytes()) {
      throw file.damaged(
          "it has %d entries, %d removals, %d bytes instead of what its footer says: %s"
              .formatted(entries, removals, bytes, footer));
    }
  }

  private DamagedFolderException damagedBlock(String problem) {
    return file.damaged(index.describe() + ": " + problem);
  }

  @Override
  public MemorySegment key() {
    return block.asSlice(keyAt, keyBytes);
  }

  @Override
  public boolean isRemoved() {
    return valueBytes == REMOVED;
  }

  @Override
  public MemorySegment value() {
    return block.asSlice(valueAt, valueBytes);
  }

  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
    file.close();
  }
}
