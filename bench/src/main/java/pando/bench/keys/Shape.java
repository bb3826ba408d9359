package pando.bench.keys;

import pando.bench.records.Keys;

/** The distribution of keys: maps places to keys in ascending order. Immutable. */
interface Shape {
  /** Returns the key at a place. */
  long key(long place);

  /** Returns the place of a key, {@link Keys#NONE} where it has none. */
  long place(long key);
}
