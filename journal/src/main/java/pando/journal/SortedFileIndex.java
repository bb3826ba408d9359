package pando.journal;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static pando.journal.FileBytes.CHAR;
import static pando.journal.FileBytes.INT;
import static pando.journal.FileBytes.LONG;
import static pando.journal.SortedFileFormat.BLOCK_BYTES_MAX;
import static pando.journal.SortedFileFormat.FIRST_ENTRY;
import static pando.journal.SortedFileFormat.INDEX_ENTRIES;
import static pando.journal.SortedFileFormat.INDEX_KEY;
import static pando.journal.SortedFileFormat.INDEX_KEY_BYTES;
import static pando.journal.SortedFileFormat.KEY;
import static pando.journal.SortedFileFormat.KEY_BYTES_MAX;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import pando.fabric.memory.KeyOrder;

/**
 * A cursor over a sorted file's index, which has the place, the end and the bounds of the keys of
 * each block. It is read in pieces, as an index of long keys may be large. Each block begins where
 * the one before ends; so no length is believed before its neighbour confirms it.
 */
final class SortedFileIndex {
  private static final int PIECE_BYTES = 2 * (INDEX_KEY + KEY_BYTES_MAX);

  /** So many bytes of a key are shown. */
  private static final int SHOWN_BYTES = 32;

  private final SortedFile file;

  /** Bytes of the index from {@code nextAt} on, as far as they were read. */
  private final MemorySegment piece;

  private final MemorySegment first;
  private final long end;
  private long readTo;
  private int pieceEnd;

  /** Where the entry of the next block is in the piece. */
  private int nextAt;

  private long left;
  private long place;
  private long blockEnd;
  private int entries;
  private int firstBytes;

  /**
   * Creates a cursor before the first block.
   *
   * @param arena to have its memory from
   */
  SortedFileIndex(SortedFile file, Arena arena) {
    this.file = file;
    this.piece = arena.allocate(PIECE_BYTES);
    this.first = arena.allocate(KEY_BYTES_MAX);
    this.readTo = file.footer().indexAt();
    this.end = file.indexEnd();
    this.left = file.footer().blocks();
    this.blockEnd = SortedFileHeader.HEADER_BYTES;
  }

  /** Moves to the next block; returns {@code false} if there is none. */
  boolean next() throws IOException {
    if (left == 0) {
      if (nextAt < pieceEnd || readTo < end || blockEnd != file.footer().indexAt()) {
        throw file.damaged("its index has other blocks than its footer says");
      }
      return false;
    }
    fill();
    place = piece.get(LONG, nextAt);
    entries = piece.get(INT, nextAt + INDEX_ENTRIES);
    firstBytes = piece.get(CHAR, nextAt + INDEX_KEY_BYTES);
    if (place != blockEnd) {
      throw file.damaged(
          "a block begins at %d, where the one before ends at %d".formatted(place, blockEnd));
    }
    MemorySegment.copy(piece, nextAt + INDEX_KEY, first, 0, firstBytes);
    nextAt += INDEX_KEY + firstBytes;
    left--;
    if (left == 0) {
      blockEnd = file.footer().indexAt();
    } else {
      fill();
      blockEnd = piece.get(LONG, nextAt);
    }
    long bytes = blockEnd - place;
    if (blockEnd > file.footer().indexAt()
        || bytes > BLOCK_BYTES_MAX
        || entries <= 0
        || bytes < FIRST_ENTRY + (long) KEY * entries) {
      throw file.damaged(
          "a block from %d to %d cannot have %d entries".formatted(place, blockEnd, entries));
    }
    return true;
  }

  /** Has all of the next block's entry in the piece. */
  private void fill() throws IOException {
    int have = pieceEnd - nextAt;
    if (have < INDEX_KEY || have < INDEX_KEY + nextKeyBytes()) {
      MemorySegment.copy(piece, nextAt, piece, 0, have);
      nextAt = 0;
      int more = (int) Math.min(PIECE_BYTES - have, end - readTo);
      file.read(readTo, piece.asSlice(have, more));
      readTo += more;
      pieceEnd = have + more;
      if (pieceEnd < INDEX_KEY || pieceEnd < INDEX_KEY + nextKeyBytes()) {
        throw file.damaged("its index ends within what it says of a block");
      }
    }
  }

  private int nextKeyBytes() {
    return piece.get(CHAR, nextAt + INDEX_KEY_BYTES);
  }

  /** Returns where the block begins in the file. */
  long place() {
    return place;
  }

  /** Returns how many bytes the block has, between 22 and the most that a block may have. */
  int bytes() {
    return (int) (blockEnd - place);
  }

  /** Returns how many entries the block has. */
  int entries() {
    return entries;
  }

  /** Returns whether a key is the first of the block. */
  boolean isFirst(MemorySegment memory, long keyAt, int keyBytes) {
    return KeyOrder.compare(memory, keyAt, keyBytes, first, 0, firstBytes) == 0;
  }

  /** Returns whether a key is below all keys of the next block, if there is one. */
  boolean isBelowNext(MemorySegment memory, long keyAt, int keyBytes) {
    return left == 0
        || KeyOrder.compare(
                memory, keyAt, keyBytes, piece, (long) nextAt + INDEX_KEY, nextKeyBytes())
            < 0;
  }

  /** Tells the block's place, and which keys it has. */
  String describe() {
    String from =
        "the block at %d, of %d bytes, with %d keys from 0x%s"
            .formatted(place, bytes(), entries, shown(first, 0, firstBytes));
    return left == 0
        ? from + " on"
        : from + " to below 0x" + shown(piece, nextAt + INDEX_KEY, nextKeyBytes());
  }

  private static String shown(MemorySegment memory, long at, int bytes) {
    byte[] key = memory.asSlice(at, Math.min(bytes, SHOWN_BYTES)).toArray(JAVA_BYTE);
    return HexFormat.of().formatHex(key) + (bytes > SHOWN_BYTES ? "..." : "");
  }
}
