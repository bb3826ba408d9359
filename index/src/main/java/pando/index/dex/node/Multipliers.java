package pando.index.dex.node;

/**
 * Odd multipliers of a checksum: a sum of words, each times its own. A change of any one word
 * changes the sum, since multiplication by an odd number is a bijection; changes of several words
 * cancel out with a chance of 2^-64, as the multipliers have no pattern.
 */
final class Multipliers {
  /** Of the words behind a node's header. */
  static final long[] WORDS =
      new long[(NodeLayout.NODE_BYTES_MAX - NodeLayout.HEADER_BYTES) / Long.BYTES];

  static final long ADDRESS = of(-1);
  static final long LOW = of(-2);
  static final long HIGH = of(-3);
  static final long DESCRIPTOR = of(-4);

  static {
    for (int i = 0; i < WORDS.length; i++) {
      WORDS[i] = of(i);
    }
  }

  private Multipliers() {}

  private static long of(int index) {
    long z = (index + 0x632BE5ABL) * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return (z ^ (z >>> 31)) | 1;
  }
}
