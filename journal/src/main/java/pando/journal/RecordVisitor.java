package pando.journal;

import java.lang.foreign.MemorySegment;

/** Receives the records of a log, in their order. */
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
   * Receives a record, or a change of a group.
   *
   * @param place of the record in the log
   * @param key of a change; empty if it is none. The bytes of key and value are there until this
   *     returns
   * @param value of a {@link Kind#PUT}; the place, 8 bytes, little-endian, of a {@link Kind#SYNCED}
   *     or {@link Kind#CLOSED}; else empty
   */
  void visit(long place, Kind kind, MemorySegment key, MemorySegment value);
}
