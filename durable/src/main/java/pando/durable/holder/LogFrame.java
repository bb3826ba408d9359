package pando.durable.holder;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import pando.fabric.ComputeServer;
import pando.fabric.Worker;
import pando.journal.LogFullException;

/**
 * The bytes of a request to a {@link LogService}, and of its response. Little endian.
 *
 * <pre>
 *  0      4        8       16      24     32      36      40    44      48
 * +------+--------+-------+-------+------+-------+-------+-----+-------+---------+
 * | kind | writer | epoch | place | head | force | bytes | sum | zeros | records |
 * +------+--------+-------+-------+------+-------+-------+-----+-------+---------+
 * </pre>
 *
 * <p>The sum is CRC32C of all other bytes. What the kinds do:
 *
 * <ul>
 *   <li>{@link #APPEND} adds bytes of records that begin at a place; what is before the head is not
 *       needed any more; {@code force} has a bit for each holder in force. Response: the place up
 *       to which the holder has all (8), and 0, or what has no room for more: 1 its memory, 2 the
 *       disk of its data folder (8). The latter comes early: what is on its way may find room yet.
 *   <li>{@link #LIST} returns what logs there are, from the place on, which counts them in the
 *       order in which they began. Response: how many follow (8), then {@value #COPY_BYTES} bytes
 *       each, see {@link LogCopy}.
 *   <li>{@link #READ} returns the bytes from a place on, as many as fit.
 *   <li>{@link #END} has a log end at a place; what is behind it is void. Can be repeated; does
 *       nothing where there is no such log. Response: as to APPEND; if there is no room, the log
 *       has not ended.
 *   <li>{@link #DROP} forgets a log that has ended.
 *   <li>{@link #COMPLETE} is an APPEND of what another holder has, for a writer that is lost. There
 *       is always room for it, but in the data folder.
 *   <li>{@link #FOLDER} opens the holder's data folder for the kind of entries that follows, see
 *       {@link HolderFolder}. Answer: 1 if a generation was begun with it since the holder started,
 *       else 0 (8); the generation that has its entries (8), entries and removals in its files (8),
 *       the id of the cluster (16), and 1 if its log was not closed in order, else 0 (8). Those
 *       below, but the last, are for open folders. In place of the head, each of the five has the
 *       term of the leader that sends it.
 *   <li>{@link #ENTRIES} answers with the piece of the folder's entries at a place ({@link
 *       EntryBytes}).
 *   <li>{@link #LOAD} has entries that follow replace the folder's: a piece, at its place.
 *   <li>{@link #BEGIN} has the folder take what is appended, for the generation in the place, of
 *       the cluster whose id follows.
 *   <li>{@link #SET_ASIDE} has the folder be empty, for the cluster whose id follows: its files get
 *       other names. Can be repeated. Answer: 1 if a generation was begun with it, else 0 (8).
 * </ul>
 *
 * <p>Responses to the last five, which are about the data folder:
 *
 * <pre>
 *  0              4         8
 * +--------------+---------+---------------------------------+
 * | bytes of why | damaged | answer, or why: a text in UTF-8 |
 * +--------------+---------+---------------------------------+
 * </pre>
 *
 * <p>If it has a text, the folder could not do what it was asked for: damaged is 1 if its files are
 * not as they were written, else 0.
 */
final class LogFrame {
  static final int APPEND = 1;
  static final int LIST = 2;
  static final int READ = 3;
  static final int END = 4;
  static final int DROP = 5;
  static final int COMPLETE = 6;
  static final int FOLDER = 7;
  static final int ENTRIES = 8;
  static final int LOAD = 9;
  static final int BEGIN = 10;
  static final int SET_ASIDE = 11;

  static final int KIND = 0;
  static final int WRITER = 4;
  static final int EPOCH = 8;
  static final int PLACE = 16;
  static final int HEAD = 24;
  static final int TERM = HEAD;
  static final int FORCE = 32;
  static final int BYTES = 36;
  static final int SUM = 40;
  static final int ZEROS = 44;
  static final int RECORDS = 48;

  /** Most bytes of records in one request or response. */
  static final int RECORDS_MAX = Worker.CALL_BYTES_MAX - RECORDS;

  // The response to APPEND, COMPLETE and END.
  static final int KEPT = 0;
  static final int FULL = 8;
  static final int FULL_MEMORY = 1;
  static final int FULL_DISK = 2;
  static final int APPENDED_BYTES = 16;

  // The response to LIST.
  static final int COUNT = 0;
  static final int COPIES = 8;
  static final int COPY_BYTES = 48;
  static final int COPIES_MAX = (Worker.CALL_BYTES_MAX - COPIES) / COPY_BYTES;

  // Responses about the data folder.
  static final int WHY_BYTES = 0;
  static final int DAMAGED = 4;
  static final int WHY = 8;
  static final int ANSWER = WHY;

  // The answers to FOLDER and SET_ASIDE, which has the first of these alone.
  static final int BEGUN = ANSWER;
  static final int GENERATION = BEGUN + Long.BYTES;
  static final int SORTED = GENERATION + Long.BYTES;
  static final int CLUSTER = SORTED + Long.BYTES;
  static final int CUT = CLUSTER + 2 * Long.BYTES;
  static final int FOLDER_BYTES = CUT + Long.BYTES;

  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** In requests that are about no log. */
  static final ComputeServer NOBODY = new ComputeServer(0, 1);

  private LogFrame() {}

  /** Returns whether a request is about the data folder, and no log. */
  static boolean isForFolder(int kind) {
    return kind >= FOLDER;
  }

  /** Writes a request but for its records and its sum. */
  static void set(
      MemorySegment frame,
      int kind,
      ComputeServer log,
      long place,
      long head,
      int force,
      int bytes) {
    frame.set(INT, KIND, kind);
    frame.set(INT, WRITER, log.number());
    frame.set(LONG, EPOCH, log.epoch());
    frame.set(LONG, PLACE, place);
    frame.set(LONG, HEAD, head);
    frame.set(INT, FORCE, force);
    frame.set(INT, BYTES, bytes);
    frame.set(INT, ZEROS, 0);
  }

  /** Writes a request without records that is about one place of a log, but for its sum. */
  static void set(MemorySegment frame, int kind, ComputeServer log, long place) {
    set(frame, kind, log, place, 0, 0, 0);
  }

  /**
   * Checks the response of a holder to APPEND, COMPLETE or END.
   *
   * @throws LogFullException if the disk of its data folder has no room: try again
   */
  static void checkDiskHasRoom(MemorySegment frame, int holder) {
    if (frame.get(LONG, FULL) == FULL_DISK) {
      throw new LogFullException(
          "the data folder of a memory server has no room for the log; make room on its disk:"
              + " memoryServer="
              + holder);
    }
  }

  /** Returns the sum of a request. */
  static int sum(MemorySegment frame, int requestBytes) {
    CRC32C sum = new CRC32C();
    sum.update(frame.asSlice(0, SUM).asByteBuffer());
    sum.update(frame.asSlice(ZEROS, requestBytes - ZEROS).asByteBuffer());
    return (int) sum.getValue();
  }
}
