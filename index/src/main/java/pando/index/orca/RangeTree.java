package pando.index.orca;

/**
 * A tree in the pool that has keys of a range: the owner's own tree, or a gift.
 *
 * @param page global address of its root
 * @param giver compute server that its pages name
 * @param gift number of the gift, {@link #OWN} for the owner's own tree
 * @param low least key that it counts for
 * @param high greatest key that it counts for
 * @param whole whether these are all keys that it has
 */
record RangeTree(long page, int giver, int gift, long low, long high, boolean whole) {
  /** The owner's own tree. */
  static final int OWN = -1;
}
