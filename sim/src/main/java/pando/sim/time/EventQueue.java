package pando.sim.time;

import java.util.Arrays;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Events in the order of their times; events at equal times are in an order that depends on the
 * seed. A heap in parallel arrays with four children per node; allocates only to grow.
 */
final class EventQueue {
  private static final int CAPACITY_MIN = 1 << 10;
  private static final int CHILDREN = 4;

  private final RandomGenerator random;
  private long[] times = new long[CAPACITY_MIN];
  private long[] ties = new long[CAPACITY_MIN];
  private @Nullable Runnable[] events = new @Nullable Runnable[CAPACITY_MIN];
  private int size;
  private int added;

  EventQueue(long seed) {
    random = new SplittableRandom(seed);
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** Returns the time of the next event. There must be one. */
  long nextTime() {
    return times[0];
  }

  void add(long time, Runnable event) {
    if (size == times.length) {
      times = Arrays.copyOf(times, 2 * size);
      ties = Arrays.copyOf(ties, 2 * size);
      events = Arrays.copyOf(events, 2 * size);
    }
    // The low half distinguishes even equal draws.
    long tie = (random.nextLong() & ~0xFFFF_FFFFL) | (added++ & 0xFFFF_FFFFL);
    int hole = size++;
    while (hole > 0) {
      int parent = (hole - 1) / CHILDREN;
      if (!isBefore(time, tie, parent)) {
        break;
      }
      move(parent, hole);
      hole = parent;
    }
    place(hole, time, tie, event);
  }

  /** Removes and returns the next event. There must be one. */
  Runnable remove() {
    Runnable first = Objects.requireNonNull(events[0]);
    size--;
    long time = times[size];
    long tie = ties[size];
    Runnable event = Objects.requireNonNull(events[size]);
    int hole = 0;
    while (true) {
      int child = CHILDREN * hole + 1;
      if (child >= size) {
        break;
      }
      int least = child;
      int end = Math.min(child + CHILDREN, size);
      for (int i = child + 1; i < end; i++) {
        if (isBefore(times[i], ties[i], least)) {
          least = i;
        }
      }
      if (isBefore(time, tie, least)) {
        break;
      }
      move(least, hole);
      hole = least;
    }
    place(hole, time, tie, event);
    events[size] = null;
    return first;
  }

  private boolean isBefore(long time, long tie, int other) {
    return time < times[other] || (time == times[other] && tie < ties[other]);
  }

  private void move(int from, int to) {
    times[to] = times[from];
    ties[to] = ties[from];
    events[to] = events[from];
  }

  private void place(int index, long time, long tie, Runnable event) {
    times[index] = time;
    ties[index] = tie;
    events[index] = event;
  }
}
