package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.NativeMemory;
import pando.fabric.verbs.Abi.IbvSendWr;
import pando.fabric.verbs.Abi.IbvSge;
import pando.fabric.verbs.Abi.Mlx5WqeCtrlSeg;

/**
 * Verbs that are posted together, of which the last alone makes a completion. Made once and filled
 * again and again. Not thread-safe.
 *
 * <p>The library takes verbs as a chain. Masked atomics go as raw requests of the card, which a
 * chain cannot have: each row of them ends one chain, and another one begins behind it.
 *
 * <pre>
 *   request 0 --next--> request 1        raw 2, raw 3        request 4 --next--> ... (signalled)
 *      |                   |                 |                  |
 *      v                   v                 v                  v
 *   element 0           element 1        (in itself)        element 4: local bytes
 * </pre>
 */
final class WorkRequests implements AutoCloseable {
  private static final int STRIDE = MaskedRequest.ROOM + IbvSendWr.BYTES + IbvSge.BYTES;

  /** Takes verbs in the order in which they are posted. */
  interface Poster {
    /** Posts a chain, by the address of its first verb. */
    void postChain(WorkRequests requests, long chain);

    /** Posts raw requests, from one place to before another. */
    void postRaw(WorkRequests requests, int start, int end);
  }

  private final NativeMemory memory;
  private final MemorySegment bytes;
  private final int capacity;
  private final boolean[] raw;
  private int size;
  private int rawCount;

  /** What is posted with these, behind them. */
  private @Nullable WorkRequests next;

  /**
   * Creates it.
   *
   * @param capacity verbs that it can hold
   */
  WorkRequests(int capacity) {
    this.capacity = capacity;
    this.raw = new boolean[capacity];
    // Behind the requests is room for the address of one that was refused.
    this.memory = NativeMemory.allocate((long) capacity * STRIDE + Long.BYTES);
    this.bytes = memory.segment();
    for (int i = 0; i < capacity; i++) {
      bytes.set(ValueLayout.JAVA_LONG, request(i) + IbvSendWr.SG_LIST, address(element(i)));
    }
  }

  /** Removes all verbs. */
  void clear() {
    size = 0;
    rawCount = 0;
    next = null;
  }

  int size() {
    return size;
  }

  boolean isFull() {
    return size == capacity;
  }

  /**
   * Adds a READ or a WRITE.
   *
   * @param operation {@link IbvSendWr#READ} or {@link IbvSendWr#WRITE}
   * @param flags of {@link IbvSendWr}
   */
  void transfer(
      int operation, int flags, long local, int localKey, int length, long remote, int remoteKey) {
    long at = add(operation, flags, local, localKey, length);
    bytes.set(ValueLayout.JAVA_LONG, at + IbvSendWr.RDMA_REMOTE_ADDR, remote);
    bytes.set(ValueLayout.JAVA_INT, at + IbvSendWr.RDMA_RKEY, remoteKey);
  }

  /** Adds a CAS, whose value found goes to 8 local bytes. */
  void cas(
      int flags,
      long local,
      int localKey,
      long remote,
      int remoteKey,
      long expected,
      long desired) {
    long at = add(IbvSendWr.COMPARE_AND_SWAP, flags, local, localKey, Long.BYTES);
    atomic(at, remote, remoteKey, expected, desired);
  }

  /** Adds an FAA, whose value before goes to 8 local bytes. */
  void faa(int flags, long local, int localKey, long remote, int remoteKey, long addend) {
    long at = add(IbvSendWr.FETCH_AND_ADD, flags, local, localKey, Long.BYTES);
    atomic(at, remote, remoteKey, addend, 0);
  }

  /** Adds a masked CAS, whose value found goes to 8 local bytes. */
  void maskedCas(
      int flags,
      long local,
      int localKey,
      long remote,
      int remoteKey,
      long compare,
      long compareMask,
      long swap,
      long swapMask) {
    MaskedRequest.cas(bytes, raw(size), compare, compareMask, swap, swapMask);
    addRaw(flags, local, localKey, remote, remoteKey);
  }

  /** Adds a masked FAA, whose value before goes to 8 local bytes. */
  void maskedFaa(
      int flags,
      long local,
      int localKey,
      long remote,
      int remoteKey,
      long addend,
      long boundaries) {
    MaskedRequest.faa(bytes, raw(size), addend, boundaries);
    addRaw(flags, local, localKey, remote, remoteKey);
  }

  /**
   * Adds a masked CAS of 16 bytes, whose value found goes to 16 local bytes.
   *
   * @param operands as {@link pando.fabric.Worker#maskedCas16} takes them, from an offset on
   */
  void maskedCas16(
      int flags,
      long local,
      int localKey,
      long remote,
      int remoteKey,
      MemorySegment operands,
      long offset) {
    MaskedRequest.cas16(bytes, raw(size), operands, offset);
    addRaw(flags, local, localKey, remote, remoteKey);
  }

  private void addRaw(int flags, long local, int localKey, long remote, int remoteKey) {
    MaskedRequest.setPlaces(bytes, raw(size), local, localKey, remote, remoteKey);
    if ((flags & IbvSendWr.FENCE) != 0) {
      MaskedRequest.addFlags(bytes, raw(size), Mlx5WqeCtrlSeg.FENCE);
    }
    raw[size] = true;
    rawCount++;
    size++;
  }

  /** Adds a SEND of a message, with 4 bytes beside it. */
  void send(long local, int localKey, int length, int immediate) {
    long at = add(IbvSendWr.SEND_WITH_IMM, 0, local, localKey, length);
    bytes.set(CompletionQueue.IMMEDIATE, at + IbvSendWr.IMM_DATA, immediate);
  }

  /**
   * Ends it: the last verb makes a completion.
   *
   * @param number of the first verb's completion, should it fail; those of the others follow
   */
  void finish(long number) {
    signal(size - 1);
    for (int i = 0; i < size; i++) {
      bytes.set(ValueLayout.JAVA_LONG, request(i) + IbvSendWr.WR_ID, number + i);
      if (i == size - 1 || raw[i + 1]) {
        bytes.set(ValueLayout.JAVA_LONG, request(i) + IbvSendWr.NEXT, 0L);
      }
    }
  }

  private void signal(int last) {
    if (raw[last]) {
      MaskedRequest.addFlags(bytes, raw(last), Mlx5WqeCtrlSeg.COMPLETION);
    } else {
      int flags = bytes.get(ValueLayout.JAVA_INT, request(last) + IbvSendWr.SEND_FLAGS);
      bytes.set(
          ValueLayout.JAVA_INT, request(last) + IbvSendWr.SEND_FLAGS, flags | IbvSendWr.SIGNALED);
    }
  }

  /** Puts others behind these; both are ended, and are posted together. */
  void setNext(WorkRequests others) {
    next = others;
    if (!raw[size - 1] && !others.raw[0]) {
      bytes.set(ValueLayout.JAVA_LONG, request(size - 1) + IbvSendWr.NEXT, others.address(0));
    }
  }

  /** Posts the verbs, and those behind them, in order. */
  void post(Poster poster) {
    boolean inChain = false;
    for (WorkRequests part = this; part != null; part = part.next) {
      int place = 0;
      while (place < part.size) {
        int end = part.endOfRow(place);
        if (part.raw[place]) {
          poster.postRaw(part, place, end);
        } else if (!inChain) {
          poster.postChain(part, part.address(request(place)));
        }
        inChain = !part.raw[place];
        place = end;
      }
    }
  }

  /** Returns the place behind the verbs of one kind, raw or not, that stand in a row. */
  private int endOfRow(int start) {
    if (rawCount == 0) {
      return size;
    }
    int end = start + 1;
    while (end < size && raw[end] == raw[start]) {
      end++;
    }
    return end;
  }

  /** Returns the number of a verb's completion. */
  long number(int place) {
    return bytes.get(ValueLayout.JAVA_LONG, request(place) + IbvSendWr.WR_ID);
  }

  /** Says by which queue pair a raw request goes. */
  void setQueuePair(int place, int queuePair) {
    MaskedRequest.setQueuePair(bytes, raw(place), queuePair);
  }

  /** Returns the address of a raw request. */
  long rawAddress(int place) {
    return address(raw(place));
  }

  /** Returns the address of room for the address of a verb that was refused. */
  long refusedRoom() {
    return address((long) capacity * STRIDE);
  }

  private long add(int operation, int flags, long local, int localKey, int length) {
    long at = request(size);
    raw[size] = false;
    bytes.set(ValueLayout.JAVA_INT, at + IbvSendWr.OPCODE, operation);
    bytes.set(ValueLayout.JAVA_INT, at + IbvSendWr.SEND_FLAGS, flags);
    // Some cards take a length of 0 for 2 GiB.
    bytes.set(ValueLayout.JAVA_INT, at + IbvSendWr.NUM_SGE, length == 0 ? 0 : 1);
    bytes.set(ValueLayout.JAVA_LONG, at + IbvSendWr.NEXT, address(at + IbvSendWr.BYTES));
    long element = element(size);
    bytes.set(ValueLayout.JAVA_LONG, element + IbvSge.ADDR, local);
    bytes.set(ValueLayout.JAVA_INT, element + IbvSge.LENGTH, length);
    bytes.set(ValueLayout.JAVA_INT, element + IbvSge.LKEY, localKey);
    size++;
    return at;
  }

  private void atomic(long at, long remote, int remoteKey, long compareOrAdd, long swap) {
    bytes.set(ValueLayout.JAVA_LONG, at + IbvSendWr.ATOMIC_REMOTE_ADDR, remote);
    bytes.set(ValueLayout.JAVA_LONG, at + IbvSendWr.ATOMIC_COMPARE_ADD, compareOrAdd);
    bytes.set(ValueLayout.JAVA_LONG, at + IbvSendWr.ATOMIC_SWAP, swap);
    bytes.set(ValueLayout.JAVA_INT, at + IbvSendWr.ATOMIC_RKEY, remoteKey);
  }

  private static long request(int index) {
    return (long) index * IbvSendWr.BYTES;
  }

  private long raw(int index) {
    return (long) capacity * IbvSendWr.BYTES + (long) index * MaskedRequest.ROOM;
  }

  private long element(int index) {
    return raw(capacity) + (long) index * IbvSge.BYTES;
  }

  private long address(long offset) {
    return bytes.address() + offset;
  }

  @Override
  public void close() {
    memory.close();
  }
}
