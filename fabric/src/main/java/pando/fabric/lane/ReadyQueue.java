package pando.fabric.lane;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Threads that can go on, in order. Allocates only to grow. Not thread-safe. */
final class ReadyQueue {
  /** A ring; its length is a power of two. */
  private @Nullable CarriedThread[] ring = new CarriedThread[64];

  private int first;
  private int size;

  boolean isEmpty() {
    return size == 0;
  }

  int size() {
    return size;
  }

  void add(CarriedThread thread) {
    if (size == ring.length) {
      grow();
    }
    ring[(first + size) & (ring.length - 1)] = thread;
    size++;
  }

  /** Removes the first thread; there must be one. */
  CarriedThread remove() {
    CarriedThread thread = ring[first];
    if (thread == null) {
      throw new IllegalStateException("nothing is ready");
    }
    ring[first] = null;
    first = (first + 1) & (ring.length - 1);
    size--;
    return thread;
  }

  private void grow() {
    int length = ring.length;
    @Nullable CarriedThread[] larger = Arrays.copyOfRange(ring, first, first + 2 * length);
    System.arraycopy(ring, 0, larger, length - first, first);
    ring = larger;
    first = 0;
  }
}
