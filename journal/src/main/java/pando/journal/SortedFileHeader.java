package pando.journal;

import static pando.journal.FileBytes.INT;
import static pando.journal.FileBytes.LONG;
import static pando.journal.SortedFileFormat.VERSION;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.SecureRandom;
import java.util.UUID;

/**
 * What a sorted file stands for.
 *
 * <pre>
 * 0     "PANDOSF1"
 * 8     version 4 | header bytes 4
 * 16    folder id 16, as it is read: big-endian
 * 32    lsn from 8 | lsn to 8
 * 48    1 of a base, else 0
 * 49    zeros
 * 56    salt 8
 * 64    zeros
 * 4092  CRC32C of all before
 * </pre>
 *
 * @param folder id of the folder
 * @param lsnFrom the file has what the log has from here
 * @param lsnTo to here, not included
 * @param isBase whether nothing is older, so that there are no removals in it
 * @param salt a random number, so that no two files have the same sum of the header
 */
record SortedFileHeader(UUID folder, long lsnFrom, long lsnTo, boolean isBase, long salt) {
  static final int HEADER_BYTES = 4_096;

  private static final long MAGIC = FileBytes.magic("PANDOSF1");
  private static final int SALT = 56;
  private static final int SUM = HEADER_BYTES - Integer.BYTES;
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Returns the header of a new file, which is a base if it begins with place 0. */
  static SortedFileHeader ofNewFile(UUID folder, long lsnFrom, long lsnTo) {
    return new SortedFileHeader(folder, lsnFrom, lsnTo, lsnFrom == 0, RANDOM.nextLong());
  }

  /** Returns whether it is of a file of this folder that stands for this part of the log. */
  boolean isOf(UUID itsFolder, long from, long to) {
    return folder.equals(itsFolder) && lsnFrom == from && lsnTo == to && isBase == (from == 0);
  }

  /** Returns its CRC32C, which the sums of the file's blocks take in. */
  int sum() {
    MemorySegment written = MemorySegment.ofArray(new byte[HEADER_BYTES]);
    write(written);
    return written.get(INT, SUM);
  }

  /** Writes the header over the first bytes of a memory. */
  void write(MemorySegment to) {
    to.asSlice(0, HEADER_BYTES).fill((byte) 0);
    to.set(LONG, 0, MAGIC);
    to.set(INT, 8, VERSION);
    to.set(INT, 12, HEADER_BYTES);
    FileBytes.setId(to, 16, folder);
    to.set(LONG, 32, lsnFrom);
    to.set(LONG, 40, lsnTo);
    to.set(ValueLayout.JAVA_BYTE, 48, (byte) (isBase ? 1 : 0));
    to.set(LONG, SALT, salt);
    to.set(INT, SUM, FileBytes.sum(to, 0, SUM));
  }

  /**
   * Returns the header that a memory has, byte by byte as it would be written.
   *
   * @param file its name, for messages
   */
  static SortedFileHeader read(MemorySegment from, String file) {
    if (from.get(LONG, 0) != MAGIC) {
      throw new DamagedFolderException(file + " does not begin as a sorted file does");
    }
    int version = from.get(INT, 8);
    int sum = FileBytes.sum(from, 0, SUM);
    if (from.get(INT, SUM) != sum) {
      throw new DamagedFolderException(
          file
              + ": its header, of format version %d, has sum %08x instead of %08x"
                  .formatted(version, sum, from.get(INT, SUM)));
    }
    if (version != VERSION) {
      throw DamagedFolderException.ofOtherPando(
          file
              + " was written by %s Pando: its format has version %d, this Pando reads version %d"
                  .formatted(version > VERSION ? "a newer" : "an older", version, VERSION));
    }
    SortedFileHeader header =
        new SortedFileHeader(
            FileBytes.id(from, 16),
            from.get(LONG, 32),
            from.get(LONG, 40),
            from.get(ValueLayout.JAVA_BYTE, 48) == 1,
            from.get(LONG, SALT));
    MemorySegment written = MemorySegment.ofArray(new byte[HEADER_BYTES]);
    header.write(written);
    if (written.mismatch(from) >= 0) {
      throw new DamagedFolderException(
          file + ": its header is none that is written; it was read as " + header);
    }
    return header;
  }
}
