package pando.fabric.mapped;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
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
  private static final int WIDTH = 16;
  private static final int HIGH = 8;

  /** Allocated on first use, as most workers never need it. */
  private @Nullable MemorySegment expected;

  private volatile boolean inNativeCall;

  /** Runs one masked CAS; returns whether the store took place. */
  boolean run(MemoryServerLink link, long position, MemorySegment memory, long operands) {
    MemorySegment expectation = expectation();
    MemorySegment segment = link.segment();
    // The halves may be of different values; only a compare-exchange detects that.
    long low = Words.getAcquire(segment, position);
    long high = Words.getAcquire(segment, position + HIGH);
    while (true) {
      boolean equal = matches(low, memory, operands) && matches(high, memory, operands + HIGH);
      Words.set(expectation, 0, low);
      Words.set(expectation, HIGH, high);
      boolean exchanged =
          compareAndExchange(
              link,
              segment.address() + position,
              expectation.address(),
              equal ? swapped(low, memory, operands) : low,
              equal ? swapped(high, memory, operands + HIGH) : high);
      low = Words.get(expectation, 0);
      high = Words.get(expectation, HIGH);
      if (exchanged) {
        Words.set(memory, operands + FOUND, low);
        Words.set(memory, operands + FOUND + HIGH, high);
        return equal;
      }
    }
  }

  private MemorySegment expectation() {
    if (expected == null) {
      expected = Arena.ofAuto().allocate(WIDTH, WIDTH);
    }
    return expected;
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
