package pando.index.orca.parts;

/** The hash that says where in the caches a key is. */
public final class KeyHash {
  private KeyHash() {}

  /** Scatters a word, as SplitMix64 does; no two words have the same hash. */
  public static long of(long word) {
    long mixed = (word ^ (word >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    return mixed ^ (mixed >>> 31);
  }
}
