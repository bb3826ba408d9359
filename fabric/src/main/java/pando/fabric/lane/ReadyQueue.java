package pando.fabric.lane;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Continuations of threads that can go on, in order. Allocates only to grow. Not thread-safe. */
final class ReadyQueue {
  /** A ring; its length is a power of two. */
  private @Nullable Runnable[] ring = new Runnable[64];

  private int first;
  private int size;

  boolean isEmpty() {
    return size == 0;
  }

  int size() {
    return size;
  }

  void add(Runnable continuation) {
    if (size == ring.length) {
      grow();
    }
    ring[(first + size) & (ring.length - 1)] = continuation;
    size++;
  }

  /** Removes the first; there must be one. */
  Runnable remove() {
    Runnable continuation = ring[first];
    if (continuation == null) {
      throw new IllegalStateException("nothing is ready");
    }
    ring[first] = null;
    first = (first + 1) & (ring.length - 1);
    size--;
    return continuation;
  }

  private void grow() {
    int length = ring.length;
    @Nullable Runnable[] larger = Arrays.copyOfRange(ring, first, first + 2 * length);
    System.arraycopy(ring, 0, larger, length - first, first);
    ring = larger;
    first = 0;
  }
}
