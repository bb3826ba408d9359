package pando.bench.keys;

import pando.bench.records.Keys;

/** Assigns each record its own place among all possible keys. Immutable. */
interface Order {
  /** Returns a record's place, 0 or more. */
  long place(long record);

  /** Returns the record of a place, {@link Keys#NONE} where it has none. */
  long record(long place);
}
