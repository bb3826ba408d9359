package pando.index.dex;

import pando.index.dex.cache.CacheContext;

/**
 * What uses which of a context's places for keys outside nodes. Only keys of more than 8 bytes need
 * them.
 */
final class KeyPlaces {
  /** The key of the operation, which stays until its end. */
  static final int WANTED = 0;

  /** The last key of a scan. */
  static final int LAST = 1;

  /** The key from which a search goes on in the next leaf. */
  static final int PROBE = 2;

  /** The fence at which a leaf was left. */
  static final int RESUME = 3;

  /** The key that was found. */
  static final int FOUND = 4;

  /** The fences of a missing node. */
  static final int MISSING_LOW = 5;

  static final int MISSING_HIGH = 6;

  /** The least key of an orphan that is attached. */
  static final int ORPHAN = 7;

  /** The least key of the server's range. */
  static final int RANGE_LOW = 8;

  /** Keys of the neighbours of a node that is merged, and the new bound between them. */
  static final int BELOW = 9;

  static final int ABOVE = 10;
  static final int BOUNDARY = 11;

  /** The fences of a node that is read under its remote lock. */
  static final int LOCKED_LOW = 12;

  static final int LOCKED_HIGH = 13;

  /** A key in a node whose entries are counted, and a bound of the range. */
  static final int COUNTED = 14;

  static final int COUNTED_BOUND = 15;

  static {
    if (COUNTED_BOUND != CacheContext.KEYS - 1) {
      throw new AssertionError("places: " + CacheContext.KEYS);
    }
  }

  private KeyPlaces() {}
}
