package pando.index.host;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.fabric.pool.NodeAllocator;

/** A growable list of places and the allocators to which they go back. Not thread-safe. */
final class Places {
  private static final int CAPACITY = 64;

  private long[] addresses = new long[CAPACITY];
  private @Nullable NodeAllocator[] allocators = new NodeAllocator[CAPACITY];
  private int size;
  private long bytes;

  boolean isEmpty() {
    return size == 0;
  }

  int size() {
    return size;
  }

  /** Returns the bytes of the places. */
  long bytes() {
    return bytes;
  }

  void add(NodeAllocator allocator, long address) {
    if (size == addresses.length) {
      addresses = Arrays.copyOf(addresses, 2 * size);
      allocators = Arrays.copyOf(allocators, 2 * size);
    }
    addresses[size] = address;
    allocators[size++] = allocator;
    bytes += allocator.nodeBytes();
  }

  /** Returns the allocator of the place that was added last. */
  NodeAllocator lastAllocator() {
    return Objects.requireNonNull(allocators[size - 1]);
  }

  /** Removes the place that was added last, and returns its address. */
  long removeLast() {
    bytes -= lastAllocator().nodeBytes();
    allocators[--size] = null;
    return addresses[size];
  }

  void addAll(Places others) {
    while (!others.isEmpty()) {
      NodeAllocator allocator = others.lastAllocator();
      add(allocator, others.removeLast());
    }
  }
}
