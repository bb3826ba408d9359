package pando.bench.records;

/**
 * A bijection of 64-bit words that scatters them: Stafford's thirteenth variant of the finaliser of
 * MurmurHash3, as SplitMix64 uses it.
 */
public final class Mix {
  private Mix() {}

  /** Scatters a word. No two words become the same. */
  public static long mix(long word) {
    long mixed = (word ^ (word >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    return mixed ^ (mixed >>> 31);
  }

  /** Returns the word that {@link #mix} scatters to this one. */
  public static long unmix(long mixed) {
    long word = (mixed ^ (mixed >>> 31) ^ (mixed >>> 62)) * 0x319642b2d24d8ec3L;
    word = (word ^ (word >>> 27) ^ (word >>> 54)) * 0x96de1b173f119089L;
    return word ^ (word >>> 30) ^ (word >>> 60);
  }
}
