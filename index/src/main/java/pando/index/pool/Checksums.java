package pando.index.pool;

import java.lang.foreign.MemorySegment;
import pando.fabric.memory.Words;

/**
 * Multipliers for checksums of nodes. A checksum is the sum of the words, each times an odd
 * multiplier of its own.
 */
public final class Checksums {
  private Checksums() {}

  /** Returns odd pseudo-random multipliers, so that changes of several words do not cancel out. */
  public static long[] multipliers(int count) {
    long[] multipliers = new long[count];
    for (int i = 0; i < count; i++) {
      long z = (i + 0x632BE5ABL) * 0x9E3779B97F4A7C15L;
      multipliers[i] = ((z ^ (z >>> 29)) * 0xBF58476D1CE4E5B9L) | 1;
    }
    return multipliers;
  }

  /**
   * Returns the sum of some words of a node, each times its multiplier.
   *
   * @param at offset of the node in the memory
   * @param from offset of the first word in the node
   * @param to offset behind the last one
   * @param multipliers of all words of the node
   */
  public static long sum(MemorySegment memory, long at, int from, int to, long[] multipliers) {
    long sum = 0;
    for (int position = from; position < to; position += Long.BYTES) {
      sum += Words.getUnaligned(memory, at + position) * multipliers[position / Long.BYTES];
    }
    return sum;
  }
}
