package pando.journal;

import static pando.journal.FileBytes.INT;

import java.lang.foreign.MemorySegment;

/**
 * The records of a log that is sent from one process to others: one behind the other, each with the
 * bytes that {@code RecordFormat} draws. A place counts all bytes from the log's beginning on, 0.
 * Not thread-safe.
 */
public final class RecordStream {
  private final String name;
  private final long salt;
  private final RecordSum sums = new RecordSum();

  /**
   * Creates a stream.
   *
   * @param name of the log, for messages
   * @param salt of the log: no record of another one passes for one of its own
   */
  public RecordStream(String name, long salt) {
    this.name = name;
    this.salt = salt;
  }

  /**
   * Returns the bytes of a record, until its builder is used again.
   *
   * @param place where it begins
   * @param inner its {@link RecordBuilder#innerSum}
   */
  public MemorySegment bytes(RecordBuilder record, long place, int inner) {
    return record.whole(sums.of(salt, place, inner));
  }

  /**
   * Passes each whole record in some bytes to a builder.
   *
   * @param first place of the first byte, where a record begins
   * @param record has each of them in turn
   * @param each run when it has one
   * @throws DamagedFolderException if a record is damaged
   */
  public void forEach(MemorySegment bytes, long first, RecordBuilder record, Runnable each) {
    RecordWalk walk = walk(bytes, first);
    long end = 0;
    while (walk.next()) {
      record.copy(bytes.asSlice(end, walk.end() - end));
      each.run();
      end = walk.end();
    }
    checkEnd(walk, bytes, first);
  }

  private RecordWalk walk(MemorySegment bytes, long first) {
    return new RecordWalk(name, bytes, salt, first, 0);
  }

  /**
   * Visits the records in some bytes. The last one may lack its end: it does not count.
   *
   * @param first place of the first byte, where a record begins
   * @throws DamagedFolderException if a record is damaged, or a newer Pando wrote it
   */
  public void visit(MemorySegment bytes, long first, RecordVisitor visitor) {
    RecordWalk walk = walk(bytes, first);
    while (walk.next()) {
      walk.visit(visitor);
    }
    checkEnd(walk, bytes, first);
  }

  private void checkEnd(RecordWalk walk, MemorySegment bytes, long first) {
    long left = bytes.byteSize() - walk.end();
    if (left >= RecordFormat.HEAD && bytes.get(INT, walk.end()) <= left) {
      throw new DamagedFolderException(
          "a record of a log is damaged: log=%s, place=%s, end=%s"
              .formatted(name, first + walk.end(), first + bytes.byteSize()));
    }
  }
}
