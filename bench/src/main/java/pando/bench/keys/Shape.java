package pando.bench.keys;

import pando.bench.records.Keys;

/** Where the keys lie: turns places into keys that ascend with them. Immutable. */
interface Shape {
  /** Returns the key at a place. */
  long key(long place);

  /** Returns the place of a key, {@link Keys#NONE} where it has none. */
  long place(long key);
}
