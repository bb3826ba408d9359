package pando.fabric.mapped;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import pando.fabric.base.MaskedWords;
import pando.fabric.memory.Words;

/**
 * Runs verbs on a memory server's mapped memory, one at a time: for a worker that has the memory
 * mapped, or for a memory server that was sent the verb.
 *
 * <p>The order that a fabric promises needs fences on some processors: no later access may overtake
 * a READ that has returned, no earlier access may become visible after a WRITE, and a later READ
 * must not be served before an earlier WRITE or atomic is visible. Every verb ends with the fence
 * that the verbs after it need.
 *
 * <p>Each method checks the address, see {@link MemoryServerLink#position}; {@code remote} is taken
 * for one of the link's memory server. Not thread-safe: one for each thread.
 */
public final class VerbRunner {
  private final MaskedCas16 maskedCas16 = new MaskedCas16();

  /** Creates a runner. */
  public VerbRunner() {}

  /** READ: copies remote bytes to an offset in a segment. */
  public void read(
      MemoryServerLink link, long remote, MemorySegment target, long offset, int bytes) {
    long position = link.position(remote, bytes);
    if (bytes == Long.BYTES && (position & (Long.BYTES - 1)) == 0) {
      Words.setUnaligned(target, offset, Words.getAcquire(link.segment(), position));
    } else {
      MemorySegment.copy(link.segment(), position, target, offset, bytes);
      VarHandle.acquireFence();
    }
  }

  /** WRITE: copies bytes at an offset in a segment to the memory server. */
  public void write(
      MemoryServerLink link, long remote, MemorySegment source, long offset, int bytes) {
    long position = link.position(remote, bytes);
    if (bytes == Long.BYTES && (position & (Long.BYTES - 1)) == 0) {
      Words.setRelease(link.segment(), position, Words.getUnaligned(source, offset));
    } else {
      VarHandle.releaseFence();
      MemorySegment.copy(source, offset, link.segment(), position, bytes);
    }
    VarHandle.fullFence();
  }

  /** CAS; returns the value found. */
  public long cas(MemoryServerLink link, long remote, long expected, long desired) {
    long position = link.alignedPosition(remote, Long.BYTES);
    long found = Words.compareAndExchange(link.segment(), position, expected, desired);
    VarHandle.fullFence();
    return found;
  }

  /** FAA; returns the value before. */
  public long faa(MemoryServerLink link, long remote, long addend) {
    long position = link.alignedPosition(remote, Long.BYTES);
    long before = Words.getAndAdd(link.segment(), position, addend);
    VarHandle.fullFence();
    return before;
  }

  /** Masked CAS; returns the value found. */
  public long maskedCas(
      MemoryServerLink link,
      long remote,
      long compare,
      long compareMask,
      long swap,
      long swapMask) {
    long position = link.alignedPosition(remote, Long.BYTES);
    long found = Words.getAcquire(link.segment(), position);
    while (MaskedWords.matches(found, compare, compareMask)) {
      long desired = MaskedWords.swapped(found, swap, swapMask);
      long witness = Words.compareAndExchange(link.segment(), position, found, desired);
      if (witness == found) {
        break;
      }
      found = witness;
    }
    VarHandle.fullFence();
    return found;
  }

  /** Masked FAA; returns the value before. */
  public long maskedFaa(MemoryServerLink link, long remote, long addend, long boundaries) {
    long position = link.alignedPosition(remote, Long.BYTES);
    long before = Words.getAcquire(link.segment(), position);
    while (true) {
      long sum = MaskedWords.sum(before, addend, boundaries);
      long witness = Words.compareAndExchange(link.segment(), position, before, sum);
      if (witness == before) {
        break;
      }
      before = witness;
    }
    VarHandle.fullFence();
    return before;
  }

  /**
   * 16-byte masked CAS; the value found goes behind the operands.
   *
   * @param operands offset, 16-byte aligned, of the operands in the segment; not checked
   * @return whether the store took place
   */
  public boolean maskedCas16(
      MemoryServerLink link, long remote, MemorySegment memory, long operands) {
    long position = link.alignedPosition(remote, 2 * Long.BYTES);
    boolean stored = maskedCas16.run(link, position, memory, operands);
    VarHandle.fullFence();
    return stored;
  }

  /** Waits until this runner is not inside a native call that accesses the memory. */
  public void awaitNoNativeCall() {
    maskedCas16.awaitIdle();
  }
}
