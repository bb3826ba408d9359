package pando.journal;

import java.lang.foreign.MemorySegment;

/** Hears of the records of a log, in their order. */
@FunctionalInterface
public interface RecordVisitor {
  /** What a record says. */
  enum Kind {
    /** A key has a value. */
    PUT,

    /** A key is gone. */
    REMOVE,

    /** Nothing; its bytes are skipped. */
    PAD,

    /** All up to a place, its value, was on the disk. */
    SYNCED,

    /** As {@link #SYNCED}, and nothing follows. */
    CLOSED,

    /** The changes that follow, with the same place, count together. */
    GROUP
  }

  /**
   * Hears of a record, or of a change of a group.
   *
   * @param place of the record in the log
   * @param key empty but of changes. Its bytes are there until this returns, as those of the value
   * @param value 8 bytes, little-endian, of {@link Kind#SYNCED} and {@link Kind#CLOSED}; empty of
   *     all others that are no {@link Kind#PUT}
   */
  void visit(long place, Kind kind, MemorySegment key, MemorySegment value);
}
