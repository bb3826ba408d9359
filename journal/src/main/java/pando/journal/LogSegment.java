package pando.journal;

import static pando.journal.FileBytes.INT;
import static pando.journal.FileBytes.LONG;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;

/**
 * A file of the log, mapped. Records follow its header, and none crosses its end. A place in the
 * log, its <em>lsn</em>, counts all bytes of all segments; so the place of a record is that of its
 * segment, and where it is in there.
 *
 * <pre>
 *  0            8         12             16          32          40              48     56
 * +------------+---------+--------------+-----------+-----------+---------------+------+-------+
 * | "PANDOLG1" | version | header bytes | folder id | first lsn | segment bytes | salt | zeros |
 * +------------+---------+--------------+-----------+-----------+---------------+------+-------+
 *  4092                                4096
 * +-----------------------------------+---------------------------------------------------------+
 * | CRC32C of all before              | records                                                 |
 * +-----------------------------------+---------------------------------------------------------+
 * </pre>
 *
 * <p>Its name is {@code log-} and the first lsn in 16 hexadecimal digits. All its blocks are there
 * before it is used: zeros, or what it held as an earlier segment, which its new salt makes void.
 */
final class LogSegment implements AutoCloseable {
  static final int HEADER_BYTES = RecordFormat.PAGE;
  static final String PREFIX = "log-";

  private static final int NAME_LENGTH = PREFIX.length() + 2 * Long.BYTES;

  private static final long MAGIC = FileBytes.magic("PANDOLG1");
  private static final int VERSION = 1;

  private static final int VERSION_AT = 8;
  private static final int HEADER_BYTES_AT = 12;
  private static final int ID_AT = 16;
  private static final int FIRST_AT = 32;
  private static final int BYTES_AT = 40;
  private static final int SALT_AT = 48;
  private static final int USED = 56;
  private static final int SUM_AT = HEADER_BYTES - Integer.BYTES;

  private static final int ZEROS = 1 << 20;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final String name;
  private final DiskFile file;
  private final MemorySegment memory;
  private final long first;
  private final int bytes;
  private final long salt;

  private LogSegment(String name, DiskFile file, MemorySegment memory) {
    this.name = name;
    this.file = file;
    this.memory = memory;
    this.first = memory.get(LONG, FIRST_AT);
    this.bytes = (int) memory.byteSize();
    this.salt = memory.get(LONG, SALT_AT);
  }

  /** Returns the name of the segment that begins at a place. */
  static String nameOf(long first) {
    return PREFIX + HexFormat.of().toHexDigits(first);
  }

  /** Returns the place that a name of a segment has, -1 if it is no such name. */
  static long firstOf(String name) {
    if (name.length() != NAME_LENGTH || !name.startsWith(PREFIX)) {
      return -1;
    }
    try {
      return HexFormat.fromHexDigitsToLong(name, PREFIX.length(), NAME_LENGTH);
    } catch (IllegalArgumentException e) {
      return -1; // It is somebody else's file.
    }
  }

  /** Makes a segment. It is on the disk, and may be used, when this returns. */
  static LogSegment create(Disk disk, UUID id, long first, int bytes) throws IOException {
    String name = nameOf(first);
    DiskFile file = disk.create(name + Manifest.NEW);
    try {
      ByteBuffer zeros = ByteBuffer.allocateDirect(Math.min(bytes, ZEROS));
      for (int at = 0; at < bytes; at += zeros.limit()) {
        zeros.clear().limit(Math.min(zeros.capacity(), bytes - at));
        file.write(at, zeros);
      }
      return finish(disk, file, file.map(), id, first);
    } catch (Throwable e) {
      Closing.after(e, file::close);
      giveRoomBack(disk, name + Manifest.NEW, e);
      throw e;
    }
  }

  /** Removes a file that was not finished: on a full disk, others need its room. */
  private static void giveRoomBack(Disk disk, String name, Throwable failure) {
    try {
      disk.remove(name);
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
  }

  /** Makes a segment of the file of this one, whose records are not needed any more. */
  LogSegment renew(Disk disk, UUID id, long newFirst) throws IOException {
    String renewed = nameOf(newFirst) + Manifest.NEW;
    close();
    disk.rename(name, renewed);
    // Opened anew: the first write to a page takes 0.1 us in a new mapping, and 5 us in one that
    // was forced.
    DiskFile again = disk.open(renewed);
    try {
      return finish(disk, again, again.map(), id, newFirst);
    } catch (Throwable e) {
      Closing.after(e, again::close);
      throw e;
    }
  }

  private static LogSegment finish(
      Disk disk, DiskFile file, MemorySegment memory, UUID id, long first) throws IOException {
    String name = nameOf(first);
    memory.asSlice(0, HEADER_BYTES).fill((byte) 0);
    memory.set(LONG, 0, MAGIC);
    memory.set(INT, VERSION_AT, VERSION);
    memory.set(INT, HEADER_BYTES_AT, HEADER_BYTES);
    FileBytes.setId(memory, ID_AT, id);
    memory.set(LONG, FIRST_AT, first);
    memory.set(LONG, BYTES_AT, memory.byteSize());
    memory.set(LONG, SALT_AT, RANDOM.nextLong());
    memory.set(INT, SUM_AT, FileBytes.sum(memory, 0, SUM_AT));
    file.force();
    disk.rename(name + Manifest.NEW, name);
    disk.force();
    return new LogSegment(name, file, memory);
  }

  /**
   * Opens a segment.
   *
   * @throws DamagedFolderException if its header is not that of a segment of this folder and name
   */
  static LogSegment open(Disk disk, String name, UUID id) throws IOException {
    DiskFile file = disk.open(name);
    try {
      if (file.bytes() < HEADER_BYTES || file.bytes() > Integer.MAX_VALUE) {
        throw damaged(disk, name, "bytes=" + file.bytes());
      }
      MemorySegment memory = file.map();
      String wrong = wrong(memory, name, id);
      if (wrong != null) {
        throw damaged(disk, name, wrong);
      }
      return new LogSegment(name, file, memory);
    } catch (Throwable e) {
      file.close();
      throw e;
    }
  }

  private static @Nullable String wrong(MemorySegment memory, String name, UUID id) {
    if (memory.get(LONG, 0) != MAGIC) {
      return "it does not begin with PANDOLG1";
    }
    if (memory.get(INT, SUM_AT) != FileBytes.sum(memory, 0, SUM_AT)) {
      return "the sum of its header is wrong";
    }
    int version = memory.get(INT, VERSION_AT);
    if (version != VERSION) {
      throw DamagedFolderException.ofOtherPando(
          "a newer Pando wrote a segment of the log: file=%s, version=%s, known=%s"
              .formatted(name, version, VERSION));
    }
    if (!FileBytes.id(memory, ID_AT).equals(id)) {
      return "it is of another folder";
    }
    long first = memory.get(LONG, FIRST_AT);
    long bytes = memory.get(LONG, BYTES_AT);
    boolean isWhole =
        memory.get(INT, HEADER_BYTES_AT) == HEADER_BYTES
            && name.equals(nameOf(first))
            && bytes == memory.byteSize()
            && bytes % RecordFormat.PAGE == 0
            && first % RecordFormat.PAGE == 0
            && memory.asSlice(USED, SUM_AT - USED).mismatch(zeros()) < 0;
    return isWhole
        ? null
        : "its header does not fit it: first=%s, segmentBytes=%s, bytes=%s"
            .formatted(first, bytes, memory.byteSize());
  }

  private static MemorySegment zeros() {
    return MemorySegment.ofArray(new byte[SUM_AT - USED]);
  }

  private static DamagedFolderException damaged(Disk disk, String name, String what) {
    return new DamagedFolderException(
        "a segment of the log is damaged: file=%s, folder=%s, %s".formatted(name, disk, what),
        firstOf(name));
  }

  String name() {
    return name;
  }

  /** Returns the place of the segment in the log. */
  long first() {
    return first;
  }

  /** Returns the place behind the segment. */
  long behind() {
    return first + bytes;
  }

  /** Returns the number of its bytes, those of the header, too. */
  int bytes() {
    return bytes;
  }

  long salt() {
    return salt;
  }

  MemorySegment memory() {
    return memory;
  }

  /**
   * Writes a record.
   *
   * @param length of the record, with what a PAD skips
   * @param inner its sum from the kind on
   */
  void write(int at, RecordBuilder record, int length, RecordSum sums, int inner) {
    record.copyTo(memory, at);
    memory.set(INT, at + RecordFormat.SUM, sums.of(salt, first + at, inner));
    RecordFormat.setLength(memory, at, length);
  }

  /** Has all that was written on the disk. */
  void force() throws IOException {
    file.force();
  }

  /** Closes and removes the file. */
  void remove(Disk disk) throws IOException {
    file.close();
    disk.remove(name);
  }

  @Override
  public void close() {
    file.close();
  }
}
