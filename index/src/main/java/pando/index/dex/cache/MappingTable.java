package pando.index.dex.cache;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import pando.fabric.Backoff;
import pando.fabric.WaitLimit;

/**
 * Where each cached node is: a concurrent hash table from global addresses to frames (DEX section
 * 5.1). A node that is being fetched, or that a memory server works on, has an entry as well, which
 * stands for its I/O flag. Entries are numbered: the cache's frames come first, then the I/O flags.
 *
 * <pre>
 *   heads[hash(address)]   lock bit | first entry + 1
 *   next[entry]            following entry + 1, 0 at the end
 *   addresses[entry]       the node's global address
 * </pre>
 *
 * <p>Each chain has a lock of one bit, held for a few instructions and never across a verb.
 * Thread-safe.
 */
final class MappingTable {
  /** No entry. */
  static final int ABSENT = -1;

  private static final int LOCK = 1 << 31;
  private static final VarHandle HEADS = MethodHandles.arrayElementVarHandle(int[].class);

  private final int[] heads;
  private final int[] next;
  private final long[] addresses;
  private final int shift;

  MappingTable(int entries) {
    int buckets = Integer.highestOneBit(Math.max(2, entries - 1)) << 1;
    heads = new int[buckets];
    next = new int[entries];
    addresses = new long[entries];
    shift = Long.numberOfLeadingZeros(buckets) + 1;
  }

  /** Returns the entry of an address, or {@link #ABSENT}. */
  int find(Backoff backoff, long address) {
    int bucket = bucket(address);
    int head = lock(backoff, bucket);
    int entry = search(head, address);
    unlock(bucket, head);
    return entry;
  }

  /**
   * Adds an entry for an address that has none.
   *
   * @return {@link #ABSENT} if the entry was added, else the entry that is there
   */
  int insertIfAbsent(Backoff backoff, long address, int entry) {
    int bucket = bucket(address);
    int head = lock(backoff, bucket);
    int found = search(head, address);
    if (found == ABSENT) {
      addresses[entry] = address;
      next[entry] = head;
      head = entry + 1;
    }
    unlock(bucket, head);
    return found;
  }

  /** Removes the entry of an address, which must be {@code entry}. */
  void remove(Backoff backoff, long address, int entry) {
    int bucket = bucket(address);
    int head = lock(backoff, bucket);
    unlock(bucket, unlink(head, address, entry));
  }

  /** Replaces the entry of an address, which must be {@code before}. */
  void replace(Backoff backoff, long address, int before, int after) {
    int bucket = bucket(address);
    int head = unlink(lock(backoff, bucket), address, before);
    addresses[after] = address;
    next[after] = head;
    unlock(bucket, after + 1);
  }

  /** Forgets every entry. No other thread may use the table meanwhile. */
  void clear() {
    Arrays.fill(heads, 0);
  }

  private int bucket(long address) {
    return (int) ((address * 0x9E3779B97F4A7C15L) >>> shift);
  }

  private int search(int head, long address) {
    int link = head;
    while (link != 0) {
      int entry = link - 1;
      if (addresses[entry] == address) {
        return entry;
      }
      link = next[entry];
    }
    return ABSENT;
  }

  private int unlink(int head, long address, int entry) {
    if (head == entry + 1) {
      return next[entry];
    }
    int link = head;
    while (link != 0) {
      int previous = link - 1;
      if (next[previous] == entry + 1) {
        next[previous] = next[entry];
        return head;
      }
      link = next[previous];
    }
    throw new AssertionError("no such mapping: address=" + address + ", entry=" + entry);
  }

  private int lock(Backoff backoff, int bucket) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      int head = (int) HEADS.getVolatile(heads, bucket);
      if ((head & LOCK) == 0 && HEADS.compareAndSet(heads, bucket, head, head | LOCK)) {
        return head;
      }
      String what = "a chain of the mapping table stayed locked: bucket";
      start = WaitLimit.SHORT.pause(backoff, attempt, start, what, bucket);
    }
  }

  private void unlock(int bucket, int head) {
    HEADS.setRelease(heads, bucket, head);
  }
}
