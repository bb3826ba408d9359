package pando.fabric.base;

/** What masked atomics make of a word. */
public final class MaskedWords {
  private MaskedWords() {}

  /** Returns whether a word is, under the mask, what a masked CAS compares with. */
  public static boolean matches(long word, long compare, long compareMask) {
    return ((word ^ compare) & compareMask) == 0;
  }

  /** Returns what a masked CAS stores in place of a word. */
  public static long swapped(long word, long swap, long swapMask) {
    return (word & ~swapMask) | (swap & swapMask);
  }

  /**
   * Returns what a masked FAA stores in place of a word.
   *
   * @param boundaries the highest bit of each field, beyond which nothing is carried
   */
  public static long sum(long word, long addend, long boundaries) {
    // Adding without the highest bits cannot carry out of a field; those are then added by xor.
    return (word & ~boundaries) + (addend & ~boundaries) ^ ((word ^ addend) & boundaries);
  }
}
