package pando.fabric.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Access to the 8-byte little-endian words of native memory. The method names contain the access
 * mode as in {@link VarHandle}; a method without one is plain. Offsets must be multiples of 8
 * unless the name says otherwise.
 */
public final class Words {
  private static final VarHandle LONG =
      ValueLayout.JAVA_LONG
          .withOrder(ByteOrder.LITTLE_ENDIAN)
          .varHandle()
          .withInvokeExactBehavior();

  private static final ValueLayout.OfLong UNALIGNED =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Words() {}

  /** Returns a word. */
  public static long get(MemorySegment segment, long offset) {
    return (long) LONG.get(segment, offset);
  }

  /** Stores a word. */
  public static void set(MemorySegment segment, long offset, long value) {
    LONG.set(segment, offset, value);
  }

  /** Returns 8 bytes at any offset, not necessarily atomically. */
  public static long getUnaligned(MemorySegment segment, long offset) {
    return segment.get(UNALIGNED, offset);
  }

  /** Stores 8 bytes at any offset, not necessarily atomically. */
  public static void setUnaligned(MemorySegment segment, long offset, long value) {
    segment.set(UNALIGNED, offset, value);
  }

  /** Returns a word; later accesses are not reordered before it. */
  public static long getAcquire(MemorySegment segment, long offset) {
    return (long) LONG.getAcquire(segment, offset);
  }

  /** Stores a word; earlier accesses are not reordered after it. */
  public static void setRelease(MemorySegment segment, long offset, long value) {
    LONG.setRelease(segment, offset, value);
  }

  /** Stores {@code desired} if the word equals {@code expected}; returns the value found. */
  public static long compareAndExchange(
      MemorySegment segment, long offset, long expected, long desired) {
    return (long) LONG.compareAndExchange(segment, offset, expected, desired);
  }

  /** Stores {@code desired} if the word equals {@code expected}; returns whether it did. */
  public static boolean compareAndSet(
      MemorySegment segment, long offset, long expected, long desired) {
    return (boolean) LONG.compareAndSet(segment, offset, expected, desired);
  }

  /** Adds to a word; returns the value before. */
  public static long getAndAdd(MemorySegment segment, long offset, long addend) {
    return (long) LONG.getAndAdd(segment, offset, addend);
  }

  /** Sets bits of a word; returns the value before. */
  public static long getAndBitwiseOr(MemorySegment segment, long offset, long mask) {
    return (long) LONG.getAndBitwiseOr(segment, offset, mask);
  }

  /** Clears the bits of a word that are 0 in the mask; returns the value before. */
  public static long getAndBitwiseAnd(MemorySegment segment, long offset, long mask) {
    return (long) LONG.getAndBitwiseAnd(segment, offset, mask);
  }
}
