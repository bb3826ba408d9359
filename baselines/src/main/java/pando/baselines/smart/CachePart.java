package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import pando.fabric.Backoff;
import pando.fabric.WaitLimit;
import pando.fabric.memory.NativeMemory;
import pando.fabric.memory.Words;

/**
 * Copies of inner nodes in one queue: those that came first are evicted first. They lie one behind
 * the other in a ring of native memory, and a hash table finds them by their paths.
 *
 * <pre>
 *   0  address   of the node; DROPPED if the copy is no longer found, PAD up to the end of the ring
 *   8  id
 *  16  header
 *  24  slots
 * </pre>
 *
 * <p>Thread-safe. A reader takes no lock: it looks, and looks again if the part was changed
 * meanwhile. A change takes about a microsecond and issues no verb.
 */
final class CachePart implements AutoCloseable {
  private static final int ID = 8;
  private static final int HEADER = 16;
  private static final int SLOTS = 24;
  private static final long DROPPED = 0;
  private static final long PAD = -1;

  /** Bytes that a copy takes beyond those that count. */
  private static final int BESIDE_BYTES = SLOTS - NodeLayout.SLOTS;

  private static final int NOWHERE = -1;

  private final long limit;
  private final long ring;
  private final NativeMemory copies;
  private final MemorySegment memory;

  /** Where the next copy goes, counted from the beginning and never turned back. */
  private long head;

  /** Where the oldest copy is. */
  private long tail;

  /** Bytes of the copies that are found. */
  private volatile long bytes;

  /** Place of a copy in the ring, in words, for each entry of the table. */
  private int[] table = empty(16);

  private int count;

  /** Number of changes, twice; odd during a change. */
  private final AtomicLong version = new AtomicLong();

  /**
   * Creates an empty part.
   *
   * @param limit bytes of copies that it holds, {@link NodeLayout#BYTES_MAX} at least
   */
  CachePart(long limit) {
    this.limit = limit;
    long least = NodeLayout.bytes(0);
    long most = limit / least * (least + BESIDE_BYTES);
    this.ring = (most + 2L * (NodeLayout.BYTES_MAX + BESIDE_BYTES)) / Long.BYTES * Long.BYTES;
    this.copies = NativeMemory.allocate(ring);
    this.memory = copies.segment();
  }

  private static int[] empty(int entries) {
    int[] made = new int[entries];
    Arrays.fill(made, NOWHERE);
    return made;
  }

  /** Returns the bytes of the copies that it holds. */
  long bytes() {
    return bytes;
  }

  /**
   * Searches the copy of the node with a path's first bytes.
   *
   * @param depth number of those bytes
   * @param into receives the copy
   */
  boolean find(long path, int depth, Copy into, Backoff backoff) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      long before = version.get();
      if ((before & 1) == 0) {
        boolean found = look(path, depth, into);
        // The reads before must not be reordered behind the read of the version.
        VarHandle.acquireFence();
        if (version.get() == before) {
          return found;
        }
      }
      start = pause(backoff, attempt, start);
    }
  }

  private boolean look(long path, int depth, Copy into) {
    long at = placeOf(KeyPath.prefix(path, depth), depth);
    if (at < 0) {
      return false;
    }
    into.address = Words.get(memory, at);
    into.id = Words.get(memory, at + ID);
    into.header = Words.get(memory, at + HEADER);
    lookForSlot(at, KeyPath.byteAt(path, depth), into);
    return true;
  }

  private void lookForSlot(long at, int wanted, Copy into) {
    into.index = -1;
    into.slot = Slot.NEVER;
    int capacity = NodeLayout.capacity(NodeLayout.type(into.header));
    if (at + SLOTS + (long) capacity * Long.BYTES > ring) {
      return; // The part is being changed.
    }
    for (int i = 0; i < capacity; i++) {
      // A loaded node that is full has each byte at its own number.
      int index = (wanted + i) % capacity;
      long slot = Words.get(memory, at + SLOTS + (long) index * Long.BYTES);
      if (Slot.byteOf(slot) == wanted && Slot.kind(slot) != Slot.UNUSED) {
        into.index = index;
        into.slot = slot;
        return;
      }
    }
  }

  /**
   * Copies the copy of a node into local memory; returns whether there is one with a certain id.
   *
   * @param into receives it at a local offset, as the node would be there after a READ
   */
  boolean copy(long prefix, int depth, long id, MemorySegment into, long image, Backoff backoff) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      long before = version.get();
      if ((before & 1) == 0) {
        boolean found = tryToCopy(prefix, depth, id, into, image);
        // The reads before must not be reordered behind the read of the version.
        VarHandle.acquireFence();
        if (version.get() == before) {
          return found;
        }
      }
      start = pause(backoff, attempt, start);
    }
  }

  private boolean tryToCopy(long prefix, int depth, long id, MemorySegment into, long image) {
    long at = placeOf(prefix, depth);
    if (at < 0 || Words.get(memory, at + ID) != id) {
      return false;
    }
    int nodeBytes = NodeLayout.bytes(NodeLayout.type(Words.get(memory, at + HEADER)));
    if (at + ID + nodeBytes > ring) {
      return false; // The part is being changed.
    }
    MemorySegment.copy(memory, at + ID, into, image, nodeBytes);
    return true;
  }

  /**
   * Holds a copy of a node that was READ, in place of an earlier one with the same path, if a
   * condition holds while no other change of this part is under way.
   */
  void admit(
      MemorySegment from, long image, long address, Backoff backoff, BooleanSupplier condition) {
    begin(backoff);
    try {
      if (!condition.getAsBoolean()) {
        return;
      }
      long header = NodeLayout.header(from, image);
      int nodeBytes = NodeLayout.bytes(NodeLayout.type(header));
      long before = placeOf(NodeLayout.prefix(header), NodeLayout.depth(header));
      if (before >= 0 && nodeBytesAt(before) == nodeBytes) {
        // It keeps its place in the queue.
        set(before, from, image, address, nodeBytes);
        return;
      }
      dropNow(NodeLayout.prefix(header), NodeLayout.depth(header));
      long at = room(nodeBytes);
      set(at, from, image, address, nodeBytes);
      addBytes(nodeBytes);
      insert(at);
    } finally {
      end();
    }
  }

  private void set(long at, MemorySegment from, long image, long address, int nodeBytes) {
    Words.set(memory, at, address);
    MemorySegment.copy(from, image, memory, at + ID, nodeBytes);
  }

  private int nodeBytesAt(long at) {
    return NodeLayout.bytes(NodeLayout.type(Words.get(memory, at + HEADER)));
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Only changes of the part write it.
  private void addBytes(int more) {
    bytes += more;
  }

  /** Drops the copy with a path, if it has a certain id. */
  void drop(long prefix, int depth, long id, Backoff backoff) {
    begin(backoff);
    try {
      long at = placeOf(prefix, depth);
      if (at >= 0 && Words.get(memory, at + ID) == id) {
        dropNow(prefix, depth);
      }
    } finally {
      end();
    }
  }

  /** Drops all copies. */
  void clear(Backoff backoff) {
    begin(backoff);
    try {
      table = empty(table.length);
      count = 0;
      bytes = 0;
      tail = head;
    } finally {
      end();
    }
  }

  private void begin(Backoff backoff) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      long before = version.get();
      if ((before & 1) == 0 && version.compareAndSet(before, before + 1)) {
        return;
      }
      start = pause(backoff, attempt, start);
    }
  }

  private void end() {
    version.incrementAndGet();
  }

  private static long pause(Backoff backoff, int attempt, long start) {
    return WaitLimit.SHORT.pauseBriefly(
        backoff, attempt, start, "a part of a cache keeps changing");
  }

  /** Makes room at the head of the queue; returns where. */
  private long room(int nodeBytes) {
    int needed = nodeBytes + BESIDE_BYTES;
    while (bytes + nodeBytes > limit) {
      evict();
    }
    long rest = ring - head % ring;
    if (rest < needed) {
      evictUpTo(head + rest);
      Words.set(memory, head % ring, PAD);
      head += rest;
    }
    evictUpTo(head + needed);
    long at = head % ring;
    head += needed;
    return at;
  }

  private void evictUpTo(long end) {
    while (end - tail > ring) {
      evict();
    }
  }

  private void evict() {
    long at = tail % ring;
    long address = Words.get(memory, at);
    if (address == PAD) {
      tail += ring - at;
      return;
    }
    if (address != DROPPED) {
      long header = Words.get(memory, at + HEADER);
      dropNow(NodeLayout.prefix(header), NodeLayout.depth(header));
    }
    tail += nodeBytesAt(at) + BESIDE_BYTES;
  }

  private void dropNow(long prefix, int depth) {
    int entry = entryOf(prefix, depth);
    if (entry < 0) {
      return;
    }
    long at = place(entry);
    addBytes(-nodeBytesAt(at));
    Words.set(memory, at, DROPPED);
    remove(entry);
  }

  // The table: each copy is at the entry of its hash, or at the first free one behind it.

  private long placeOf(long prefix, int depth) {
    int entry = entryOf(prefix, depth);
    return entry < 0 ? -1 : place(entry);
  }

  private long place(int entry) {
    return Math.max(0, (long) table[entry] * Long.BYTES);
  }

  private int entryOf(long prefix, int depth) {
    int[] entries = table;
    int mask = entries.length - 1;
    int entry = hash(prefix, depth) & mask;
    for (int i = 0; i <= mask && entries[entry] != NOWHERE; i++) {
      long header = Words.get(memory, (long) entries[entry] * Long.BYTES + HEADER);
      if (NodeLayout.prefix(header) == prefix && NodeLayout.depth(header) == depth) {
        return entry;
      }
      entry = (entry + 1) & mask;
    }
    return -1;
  }

  private void insert(long at) {
    if (2 * ++count > table.length) {
      grow();
    }
    table[free(table, at)] = (int) (at / Long.BYTES);
  }

  private int free(int[] entries, long at) {
    int mask = entries.length - 1;
    int entry = hashAt(at) & mask;
    while (entries[entry] != NOWHERE) {
      entry = (entry + 1) & mask;
    }
    return entry;
  }

  private void grow() {
    int[] larger = empty(2 * table.length);
    for (int word : table) {
      if (word != NOWHERE) {
        larger[free(larger, (long) word * Long.BYTES)] = word;
      }
    }
    table = larger;
  }

  /** Removes an entry, and moves those behind it up that could not be found otherwise. */
  private void remove(int entry) {
    int mask = table.length - 1;
    int hole = entry;
    int next = entry;
    count--;
    while (true) {
      next = (next + 1) & mask;
      if (table[next] == NOWHERE) {
        break;
      }
      int home = hashAt((long) table[next] * Long.BYTES) & mask;
      if (((next - home) & mask) >= ((next - hole) & mask)) {
        table[hole] = table[next];
        hole = next;
      }
    }
    table[hole] = NOWHERE;
  }

  private int hashAt(long at) {
    long header = Words.get(memory, at + HEADER);
    return hash(NodeLayout.prefix(header), NodeLayout.depth(header));
  }

  /** Returns a hash whose high bits are taken for something else. */
  private static int hash(long prefix, int depth) {
    return (int) (PathCache.hash(prefix, depth) >>> 8) & Integer.MAX_VALUE;
  }

  @Override
  public void close() {
    copies.close();
  }
}
