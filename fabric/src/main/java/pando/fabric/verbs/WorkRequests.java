package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import pando.fabric.memory.NativeMemory;
import pando.fabric.verbs.Abi.IbvSendWr;
import pando.fabric.verbs.Abi.IbvSge;

/**
 * Verbs that are posted together, of which the last alone makes a completion. Made once and filled
 * again and again. Not thread-safe.
 *
 * <pre>
 *   request 0 --next--> request 1 --next--> ... (signalled)
 *      |                   |
 *      v                   v
 *   element 0           element 1: local bytes
 * </pre>
 */
final class WorkRequests implements AutoCloseable {
  private static final int STRIDE = IbvSendWr.BYTES + IbvSge.BYTES;

  private final NativeMemory memory;
  private final MemorySegment bytes;
  private final int capacity;
  private int size;

  /**
   * Creates it.
   *
   * @param capacity verbs that it can hold
   */
  WorkRequests(int capacity) {
    this.capacity = capacity;
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
    for (int i = 0; i < size; i++) {
      bytes.set(ValueLayout.JAVA_LONG, request(i) + IbvSendWr.WR_ID, number + i);
    }
    long last = request(size - 1);
    int flags = bytes.get(ValueLayout.JAVA_INT, last + IbvSendWr.SEND_FLAGS);
    bytes.set(ValueLayout.JAVA_INT, last + IbvSendWr.SEND_FLAGS, flags | IbvSendWr.SIGNALED);
    setNext(0);
  }

  /** Puts others behind these; both are ended, and are posted together. */
  void setNext(WorkRequests others) {
    setNext(others.first());
  }

  private void setNext(long address) {
    bytes.set(ValueLayout.JAVA_LONG, request(size - 1) + IbvSendWr.NEXT, address);
  }

  /** Returns the address of the first verb. */
  long first() {
    return address(0);
  }

  /** Returns the address of room for the address of a verb that was refused. */
  long refusedRoom() {
    return address((long) capacity * STRIDE);
  }

  private long add(int operation, int flags, long local, int localKey, int length) {
    long at = request(size);
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

  private long element(int index) {
    return request(capacity) + (long) index * IbvSge.BYTES;
  }

  private long address(long offset) {
    return bytes.address() + offset;
  }

  @Override
  public void close() {
    memory.close();
  }
}
