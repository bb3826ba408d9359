package pando.bench.records;

/**
 * The keys of an unlimited supply of records, scattered over the order of keys: records with
 * consecutive numbers are not neighbours in that order. Immutable.
 */
public interface Keys {
  /** Result of {@link #record} for a word that is no record's key. */
  long NONE = -1;

  /**
   * Returns the key of a record; keys are distinct.
   *
   * @param record 0 or more
   */
  long key(long record);

  /** Returns the record of a key; {@link #NONE}, or another negative number, where it has none. */
  long record(long key);
}
