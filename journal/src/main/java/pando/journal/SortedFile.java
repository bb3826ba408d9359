package pando.journal;

import static pando.journal.FileBytes.INT;
import static pando.journal.SortedFileFooter.FOOTER_BYTES;
import static pando.journal.SortedFileFormat.INDEX_SUM_BYTES;
import static pando.journal.SortedFileHeader.HEADER_BYTES;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * A sorted file that is open to be read. {@link #open} checks its header, footer and index; {@link
 * #entries} checks each block as it comes to it. {@link SortedFileFormat} draws the bytes. Not
 * thread-safe.
 */
final class SortedFile implements AutoCloseable {
  private static final int PIECE_BYTES = 256 << 10;

  private final DiskFile file;
  private final String name;
  private final long bytes;
  private final SortedFileHeader header;
  private final SortedFileFooter footer;

  private SortedFile(
      DiskFile file, String name, long bytes, SortedFileHeader header, SortedFileFooter footer) {
    this.file = file;
    this.name = name;
    this.bytes = bytes;
    this.header = header;
    this.footer = footer;
  }

  /**
   * Opens a sorted file.
   *
   * @param file which is closed with this one, also if it cannot be opened
   * @param name for messages
   * @throws DamagedFolderException if its header, footer or index is not as it was written
   */
  static SortedFile open(DiskFile file, String name) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      long bytes = file.bytes();
      if (bytes < HEADER_BYTES + INDEX_SUM_BYTES + FOOTER_BYTES) {
        throw damaged(name, "it has only " + bytes + " bytes");
      }
      MemorySegment memory = arena.allocate(HEADER_BYTES);
      read(file, name, 0, memory);
      SortedFileHeader header = SortedFileHeader.read(memory, name);
      MemorySegment end = arena.allocate(INDEX_SUM_BYTES + FOOTER_BYTES);
      read(file, name, bytes - end.byteSize(), end);
      SortedFileFooter footer = SortedFileFooter.read(end.asSlice(INDEX_SUM_BYTES), name, bytes);
      SortedFile sorted = new SortedFile(file, name, bytes, header, footer);
      sorted.checkIndex(end.get(INT, 0));
      return sorted;
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  private void checkIndex(int expected) throws IOException {
    CRC32C sum = new CRC32C();
    readAll(footer.indexAt(), indexEnd(), sum::update);
    if ((int) sum.getValue() != expected) {
      throw damaged(
          "its index at %d has sum %08x instead of %08x"
              .formatted(footer.indexAt(), sum.getValue(), expected));
    }
  }

  /** Returns what the file stands for. */
  SortedFileHeader header() {
    return header;
  }

  /** Returns what the file has. */
  SortedFileFooter footer() {
    return footer;
  }

  /** Returns a stream of all entries. To close it closes the file, too. */
  EntryStream entries() {
    return entries(new LongAdder());
  }

  /** As {@link #entries()}; adds how many were read, a block at a time. */
  EntryStream entries(LongAdder read) {
    return new SortedFileEntries(this, read);
  }

  /**
   * Reads every byte and checks it, also against the SHA-256 that the footer has. Then the file is
   * closed.
   *
   * @throws DamagedFolderException if one is not as it was written
   */
  void verify() throws IOException {
    try (EntryStream entries = entries()) {
      boolean more = true;
      while (more) {
        more = entries.next();
      }
      MessageDigest digest = SortedFileFormat.sha256();
      readAll(0, bytes - FOOTER_BYTES + SortedFileFooter.SHA_AT, digest::update);
      String sha256 = HexFormat.of().formatHex(digest.digest());
      if (!sha256.equals(footer.sha256())) {
        throw damaged("it has SHA-256 %s instead of %s".formatted(sha256, footer.sha256()));
      }
    }
  }

  private void readAll(long from, long to, Consumer<ByteBuffer> consumer) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment piece = arena.allocate(Math.min(PIECE_BYTES, to - from));
      for (long at = from; at < to; at += piece.byteSize()) {
        MemorySegment part = piece.asSlice(0, Math.min(piece.byteSize(), to - at));
        read(at, part);
        consumer.accept(part.asByteBuffer());
      }
    }
  }

  /** Reads a part of the file, as many bytes as the memory has. */
  void read(long at, MemorySegment into) throws IOException {
    read(file, name, at, into);
  }

  private static void read(DiskFile file, String name, long at, MemorySegment into)
      throws IOException {
    int count = file.read(at, into.asByteBuffer());
    if (count != into.byteSize()) {
      throw damaged(
          name, "of %d bytes at %d only %d are there".formatted(into.byteSize(), at, count));
    }
  }

  /** Returns where the index ends in the file, before its sum. */
  long indexEnd() {
    return bytes - FOOTER_BYTES - INDEX_SUM_BYTES;
  }

  /** Returns the exception that names the file and the problem. */
  DamagedFolderException damaged(String problem) {
    return damaged(name, problem);
  }

  private static DamagedFolderException damaged(String name, String problem) {
    return new DamagedFolderException(name + " is damaged: " + problem);
  }

  @Override
  public void close() {
    file.close();
  }
}
