package pando.journal;

import static pando.journal.FileBytes.INT;
import static pando.journal.FileBytes.LONG;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * What a sorted file has.
 *
 * <pre>
 * 0    place of the index 8 | blocks 8
 * 16   entries 8 | removals 8
 * 32   bytes of keys and values 8
 * 40   SHA-256 of the file's bytes before it 32
 * 72   zeros
 * 116  "PANDOEND"
 * 124  CRC32C of all before in the footer
 * </pre>
 *
 * @param indexAt place of the index
 * @param blocks how many there are
 * @param entries how many there are, removals among them
 * @param removals how many entries say that their key was removed
 * @param bytes of all keys and values
 * @param sha256 64 hex digits
 */
record SortedFileFooter(
    long indexAt, long blocks, long entries, long removals, long bytes, String sha256) {
  static final int FOOTER_BYTES = 128;
  static final int SHA_AT = 40;

  private static final int SHA_BYTES = 32;
  private static final int MAGIC_AT = 116;
  private static final int SUM = 124;
  private static final long MAGIC = FileBytes.magic("PANDOEND");

  /** Counts of a file whose bytes have no digest yet. */
  SortedFileFooter(long indexAt, long blocks, long entries, long removals, long bytes) {
    this(indexAt, blocks, entries, removals, bytes, "");
  }

  /**
   * Writes the footer over the first bytes of a memory, and returns it with its SHA-256.
   *
   * @param digest that has seen all bytes before the footer
   */
  SortedFileFooter write(MemorySegment to, MessageDigest digest) {
    write(to);
    digest.update(to.asSlice(0, SHA_AT).asByteBuffer());
    String sha = HexFormat.of().formatHex(digest.digest());
    SortedFileFooter footer = new SortedFileFooter(indexAt, blocks, entries, removals, bytes, sha);
    footer.write(to);
    return footer;
  }

  private void write(MemorySegment to) {
    to.asSlice(0, FOOTER_BYTES).fill((byte) 0);
    to.set(LONG, 0, indexAt);
    to.set(LONG, 8, blocks);
    to.set(LONG, 16, entries);
    to.set(LONG, 24, removals);
    to.set(LONG, 32, bytes);
    byte[] sha = HexFormat.of().parseHex(sha256);
    MemorySegment.copy(sha, 0, to, ValueLayout.JAVA_BYTE, SHA_AT, sha.length);
    to.set(LONG, MAGIC_AT, MAGIC);
    to.set(INT, SUM, FileBytes.sum(to, 0, SUM));
  }

  /**
   * Returns the footer that a memory has, byte by byte as it would be written.
   *
   * @param file its name, for messages
   * @param fileBytes of the file
   */
  static SortedFileFooter read(MemorySegment from, String file, long fileBytes) {
    if (from.get(LONG, MAGIC_AT) != MAGIC) {
      throw new DamagedFolderException(
          file + " of " + fileBytes + " bytes does not end as a sorted file does");
    }
    byte[] sha256 = new byte[SHA_BYTES];
    MemorySegment.copy(from, ValueLayout.JAVA_BYTE, SHA_AT, sha256, 0, SHA_BYTES);
    SortedFileFooter footer =
        new SortedFileFooter(
            from.get(LONG, 0),
            from.get(LONG, 8),
            from.get(LONG, 16),
            from.get(LONG, 24),
            from.get(LONG, 32),
            HexFormat.of().formatHex(sha256));
    MemorySegment written = MemorySegment.ofArray(new byte[FOOTER_BYTES]);
    footer.write(written);
    long indexEnd = fileBytes - FOOTER_BYTES - SortedFileFormat.INDEX_SUM_BYTES;
    if (written.mismatch(from) >= 0
        || footer.indexAt < SortedFileHeader.HEADER_BYTES
        || footer.indexAt > indexEnd) {
      throw new DamagedFolderException(
          file
              + ": its footer is none of a file of "
              + fileBytes
              + " bytes; it was read as "
              + footer);
    }
    return footer;
  }
}
