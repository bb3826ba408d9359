package pando.baselines.smart;

import java.util.Arrays;
import pando.fabric.Worker;
import pando.fabric.pool.NodeAllocator;

/**
 * Freed places of one size that operations may still know. They rest until the compute server ends,
 * or is empty. Thread-safe.
 */
final class RestingPlaces {
  private final NodeAllocator allocator;
  private long[] places = new long[64];
  private int count;

  RestingPlaces(NodeAllocator allocator) {
    this.allocator = allocator;
  }

  synchronized void add(long address) {
    if (count == places.length) {
      places = Arrays.copyOf(places, 2 * count);
    }
    places[count++] = address;
  }

  synchronized long count() {
    return count;
  }

  private synchronized long take() {
    return count == 0 ? 0 : places[--count];
  }

  /** Frees all; no operation is under way. */
  void free(Worker worker, long message) {
    for (long place = take(); place != 0; place = take()) {
      allocator.free(worker, message, place);
    }
  }
}
