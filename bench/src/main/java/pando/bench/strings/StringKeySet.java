package pando.bench.strings;

/** Strings in ascending order, of characters of one byte each. Immutable. */
public interface StringKeySet {
  /** Returns how many there are. */
  long count();

  /**
   * Returns a string.
   *
   * @param place from 0, in the order of the strings
   */
  String key(long place);
}
