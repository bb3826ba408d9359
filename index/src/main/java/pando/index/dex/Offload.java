package pando.index.dex;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import pando.fabric.GlobalAddress;
import pando.index.CorruptNodeException;
import pando.index.cache.CacheContext;
import pando.index.session.Operation;

/**
 * The compute side of offloading: asks the memory server that holds a subtree to finish one
 * operation in it (DEX section 6). Belongs to one worker.
 *
 * <pre>
 *  request   | operation 8 | key 8 | value 8 | node 8 | level 8 | node size 8 |
 *  response  | status 8    | value 8 | changed node 8 | entries left in the leaf 8 |
 * </pre>
 */
final class Offload {
  /**
   * Status: not done, as the operation would change the tree's structure or leave the memory
   * server.
   */
  static final long FALLBACK = 0;

  /** Status: done, and the key was there before. */
  static final long FOUND = 1;

  /** Status: done, and the key was not there before. */
  static final long ABSENT = 2;

  /** Status: not done, as a node on the path is damaged; the response has its address. */
  static final long CORRUPT = 3;

  static final int OPERATION = 0;
  static final int KEY = 8;
  static final int VALUE = 16;
  static final int NODE = 24;
  static final int LEVEL = 32;
  static final int NODE_BYTES = 40;
  static final int REQUEST_BYTES = 48;

  static final int STATUS = 0;
  static final int FOUND_VALUE = 8;
  static final int CHANGED = 16;
  static final int ENTRIES = 24;
  static final int RESPONSE_BYTES = 32;

  static final ValueLayout.OfLong LONG = JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final CacheContext context;
  private final MemorySegment memory;
  private final long message;
  private final int nodeBytes;
  private Operation operation = Operation.GET;
  private boolean offered;
  private long key;
  private long value;

  /** Operations that a memory server finished. */
  long offloads;

  /** Operations that the memory server returned without an effect. */
  long fallbacks;

  Offload(CacheContext context, int nodeBytes) {
    this.context = context;
    this.memory = context.worker().memory();
    this.message = context.message();
    this.nodeBytes = nodeBytes;
  }

  /** Offers an operation for offloading. */
  void offer(Operation operation, long key, long value) {
    this.offered = true;
    this.operation = operation;
    this.key = key;
    this.value = value;
  }

  /** Withdraws the offer, if any. */
  void withdraw() {
    offered = false;
  }

  boolean isOffered() {
    return offered;
  }

  /**
   * Asks the memory server of a node to finish the offered operation below it.
   *
   * @return whether it did; if not, the operation had no effect, and is no longer offered
   */
  boolean call(long node, int level) {
    set(OPERATION, operation.code);
    set(KEY, key);
    set(VALUE, value);
    set(NODE, node);
    set(LEVEL, level);
    set(NODE_BYTES, nodeBytes);
    int bytes =
        context
            .worker()
            .call(GlobalAddress.server(node), DexOffload.FUNCTION, message, REQUEST_BYTES);
    if (bytes != RESPONSE_BYTES) {
      throw new IllegalStateException(
          "offloading got a response of the wrong length: bytes=%s, expected=%s"
              .formatted(bytes, RESPONSE_BYTES));
    }
    long status = get(STATUS);
    if (status == CORRUPT) {
      throw new CorruptNodeException(get(CHANGED), "found by its memory server");
    }
    boolean done = status != FALLBACK;
    if (done) {
      offloads++;
    } else {
      fallbacks++;
      withdraw();
    }
    return done;
  }

  /** Returns whether the key was there before. */
  boolean found() {
    return get(STATUS) == FOUND;
  }

  /** Returns the value that was there before. */
  long value() {
    return get(FOUND_VALUE);
  }

  /**
   * Returns the address of the leaf that the memory server changed, {@link GlobalAddress#NULL} if
   * none.
   */
  long changedNode() {
    return get(CHANGED);
  }

  /** Returns the number of entries that the leaf has now. */
  int entriesLeft() {
    return (int) get(ENTRIES);
  }

  private long get(int field) {
    return memory.get(LONG, message + field);
  }

  private void set(int field, long value) {
    memory.set(LONG, message + field, value);
  }
}
