package pando.index.blob;

import java.lang.foreign.MemorySegment;
import pando.fabric.memory.Words;

/** Spreads the bits of numbers, for sums and hashes. */
public final class Spread {
  private static final long ODD = 0x9E3779B97F4A7C15L;
  private static final long OTHER_ODD = 0xBF58476D1CE4E5B9L;

  private Spread() {}

  /**
   * Returns a number of which each bit depends on all bits of another one; no two have the same.
   */
  public static long of(long bits) {
    long spread = (bits ^ bits >>> 29) * OTHER_ODD;
    return (spread ^ spread >>> 32) * ODD;
  }

  /**
   * Returns a sum of bytes, in two halves side by side, as the processor multiplies two numbers in
   * the time of one.
   *
   * @param from offset of the first one
   * @param to offset behind the last one, so that there are a multiple of 8
   * @param seed which all of the sum depends on
   */
  public static long sum(MemorySegment in, long from, long to, long seed) {
    long even = of(seed);
    long odd = of(even);
    long position = from;
    long last = to - Long.BYTES;
    for (; position < last; position += 2 * Long.BYTES) {
      even = (even ^ Words.getUnaligned(in, position)) * ODD;
      even ^= even >>> 32;
      odd = (odd ^ Words.getUnaligned(in, position + Long.BYTES)) * OTHER_ODD;
      odd ^= odd >>> 32;
    }
    if (position == last) {
      even = of(even ^ Words.getUnaligned(in, position));
    }
    return of(even * OTHER_ODD + odd);
  }
}
