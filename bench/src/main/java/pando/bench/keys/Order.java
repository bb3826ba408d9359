package pando.bench.keys;

import pando.bench.records.Keys;

/** Gives each record a place of its own among all keys that there can be. Immutable. */
interface Order {
  /** Returns a record's place, 0 or more. */
  long place(long record);

  /** Returns the record of a place, {@link Keys#NONE} where it has none. */
  long record(long place);
}
