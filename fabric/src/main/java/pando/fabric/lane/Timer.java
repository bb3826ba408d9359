package pando.fabric.lane;

import org.jspecify.annotations.Nullable;

/**
 * Threads that sleep, by the time when they are to go on: a wheel of 64 slots of 65.5 us each, so a
 * sleep ends up to a slot late. No longer sleeps than {@link #NANOS_MAX}. Allocates nothing. Not
 * thread-safe.
 *
 * <pre>
 *        ticked                  ticked + 63
 *          |                          |
 *   [ ][ ][x][1][2][3] ...           [63]      occupied: a bit for each slot
 *             |
 *             sleeper -> sleeper -> null
 * </pre>
 */
final class Timer {
  private static final int SLOT_SHIFT = 16;
  private static final int SLOTS = Long.SIZE;

  /** Longest sleep. */
  static final long NANOS_MAX = (SLOTS - 2L) << SLOT_SHIFT;

  private final @Nullable Sleeper[] slots = new Sleeper[SLOTS];
  private long occupied;

  /** The last slot of time that has expired. */
  private long ticked;

  boolean isEmpty() {
    return occupied == 0;
  }

  /** Adds the current thread, which sleeps from now on. */
  void add(Sleeper sleeper, long now, long nanos) {
    if (nanos < 0 || nanos > NANOS_MAX) {
      throw new IllegalArgumentException(
          "invalid sleep: nanos=" + nanos + ", maximum=" + NANOS_MAX);
    }
    if (occupied == 0) {
      ticked = now >> SLOT_SHIFT;
    }
    long tick = ((now + nanos) >> SLOT_SHIFT) + 1;
    // The wheel may be behind, never by more than what the loop does between two looks at it.
    int slot = slot(Math.min(tick, ticked + SLOTS - 1));
    sleeper.next = slots[slot];
    sleeper.waiter.begin();
    slots[slot] = sleeper;
    occupied |= 1L << slot;
  }

  /** Lets those go on whose time has come; returns whether there were any. */
  boolean expire(long now) {
    boolean some = false;
    long until = now >> SLOT_SHIFT;
    while (occupied != 0 && until - ticked > 0) {
      // Straight to the next slot that is occupied.
      ticked = Math.min(ticked + ticksLeft(), until);
      some |= empty(slot(ticked));
    }
    return some;
  }

  /** Returns the time until the next goes on, 0 or less if it is over; one must sleep. */
  long nanosLeft(long now) {
    return ((ticked + ticksLeft()) << SLOT_SHIFT) - now;
  }

  private int ticksLeft() {
    return 1 + Long.numberOfTrailingZeros(Long.rotateRight(occupied, slot(ticked + 1)));
  }

  private boolean empty(int slot) {
    Sleeper sleeper = slots[slot];
    slots[slot] = null;
    occupied &= ~(1L << slot);
    boolean some = sleeper != null;
    while (sleeper != null) {
      Sleeper next = sleeper.next;
      sleeper.next = null;
      sleeper.waiter.goOn();
      sleeper = next;
    }
    return some;
  }

  private static int slot(long tick) {
    return (int) (tick & (SLOTS - 1));
  }
}
