package pando.fabric.mapped;

import java.lang.foreign.MemorySegment;
import pando.fabric.memory.Atomic16;
import pando.fabric.memory.Words;

/**
 * Masked CAS of 16 bytes as a loop over the 16-byte compare-exchange. Lock free. Atomic with
 * respect to other masked CAS of 16 bytes; a concurrent READ or 8-byte atomic may see only one of
 * the two 8-byte halves changed.
 *
 * <p>The compare-exchange is a native call on an address, which the JVM does not protect against
 * freeing the memory. So a worker marks that it is inside such a call, and closing the fabric waits
 * for its end.
 */
final class MaskedCas16 {
  private static final int COMPARE = 0;
  private static final int COMPARE_MASK = 16;
  private static final int SWAP = 32;
  private static final int SWAP_MASK = 48;
  private static final int FOUND = 64;
  private static final int HIGH = 8;

  private volatile boolean inNativeCall;

  /** Runs one masked CAS; returns whether the store took place. */
  boolean run(MemoryServerLink link, long position, MemorySegment memory, long operands) {
    MemorySegment segment = link.segment();
    // Also what the compare-exchange expects, and where it puts what it finds.
    long found = operands + FOUND;
    // The halves may be of different values; only a compare-exchange detects that.
    Words.set(memory, found, Words.getAcquire(segment, position));
    Words.set(memory, found + HIGH, Words.getAcquire(segment, position + HIGH));
    while (true) {
      long low = Words.get(memory, found);
      long high = Words.get(memory, found + HIGH);
      boolean equal = matches(low, memory, operands) && matches(high, memory, operands + HIGH);
      if (compareAndExchange(
          link,
          segment.address() + position,
          memory.address() + found,
          equal ? swapped(low, memory, operands) : low,
          equal ? swapped(high, memory, operands + HIGH) : high)) {
        return equal;
      }
    }
  }

  /** Waits for the end of a native call. */
  void awaitIdle() {
    while (inNativeCall) {
      Thread.onSpinWait();
    }
  }

  private boolean compareAndExchange(
      MemoryServerLink link, long address, long expectation, long desiredLow, long desiredHigh) {
    inNativeCall = true;
    try {
      link.checkOpen();
      return Atomic16.compareAndExchange(address, expectation, desiredLow, desiredHigh);
    } finally {
      inNativeCall = false;
    }
  }

  private static boolean matches(long found, MemorySegment memory, long operand) {
    long difference = found ^ Words.get(memory, operand + COMPARE);
    return (difference & Words.get(memory, operand + COMPARE_MASK)) == 0;
  }

  private static long swapped(long found, MemorySegment memory, long operand) {
    long mask = Words.get(memory, operand + SWAP_MASK);
    return (found & ~mask) | (Words.get(memory, operand + SWAP) & mask);
  }
}
