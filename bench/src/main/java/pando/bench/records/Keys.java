package pando.bench.records;

/**
 * The keys of an endless supply of records, which are scattered over the order of keys: neighbours
 * in number are strangers in that order, whatever the keys are. Immutable.
 */
public interface Keys {
  /** What {@link #record} gives for a word that is no record's key. */
  long NONE = -1;

  /**
   * Returns the key of a record, another for each.
   *
   * @param record 0 or more
   */
  long key(long record);

  /** Returns the record of a key; {@link #NONE}, or another negative number, where it has none. */
  long record(long key);
}
