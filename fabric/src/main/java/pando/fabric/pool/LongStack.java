package pando.fabric.pool;

import java.util.Arrays;

/** A growable stack of longs. Not thread-safe. */
final class LongStack {
  private long[] elements = new long[16];
  private int size;

  int size() {
    return size;
  }

  /** Returns an element by its number, from 0 for the one that was pushed first. */
  long get(int number) {
    return elements[number];
  }

  void push(long element) {
    if (size == elements.length) {
      elements = Arrays.copyOf(elements, 2 * size);
    }
    elements[size++] = element;
  }

  long pop() {
    return elements[--size];
  }

  /** Removes and returns up to {@code limit} elements: those that were pushed first. */
  long[] takeOldest(int limit) {
    int count = Math.min(limit, size);
    long[] oldest = Arrays.copyOf(elements, count);
    System.arraycopy(elements, count, elements, 0, size - count);
    size -= count;
    return oldest;
  }
}
