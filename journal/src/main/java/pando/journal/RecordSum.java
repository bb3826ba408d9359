package pando.journal;

import static pando.journal.FileBytes.INT;
import static pando.journal.FileBytes.LONG;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/** Makes the sums of records. Not thread-safe. */
final class RecordSum {
  private final byte[] bytes = new byte[2 * Long.BYTES + Integer.BYTES];
  private final MemorySegment segment = MemorySegment.ofArray(bytes);
  private final CRC32C crc = new CRC32C();

  /**
   * Returns the sum of a record.
   *
   * @param salt of its segment
   * @param lsn its place
   * @param inner CRC32C of its bytes from the kind on
   */
  int of(long salt, long lsn, int inner) {
    segment.set(LONG, 0, salt);
    segment.set(LONG, Long.BYTES, lsn);
    segment.set(INT, 2 * Long.BYTES, inner);
    crc.reset();
    crc.update(bytes, 0, bytes.length);
    return (int) crc.getValue();
  }
}
