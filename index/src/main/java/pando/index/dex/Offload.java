package pando.index.dex;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import pando.fabric.GlobalAddress;
import pando.fabric.UnknownOutcomeException;
import pando.index.CorruptNodeException;
import pando.index.dex.cache.CacheContext;
import pando.index.dex.node.NodeLayout;
import pando.index.host.AnsweredCalls;
import pando.index.session.Operation;
import pando.index.session.Request;
import pando.index.session.Retry;

/**
 * The compute side of offloading: asks the memory server that holds a subtree to finish one
 * operation in it (DEX section 6). Belongs to one worker.
 *
 * <pre>
 *  request   | process 8 | worker 8 | number 8 |
 *            | operation 8 | key 8 | value 8 | node 8 | level 8 | sizes 8 |
 *            | expected 8, if the operation compares |
 *            | or, where keys have more than 8 bytes: expected 8 | key |
 *  question  | process 8 | worker 8 | number 8 |
 *  response  | status 8  | value 8 | changed node 8 | entries left in the leaf 8 |
 * </pre>
 *
 * <p>If the CALL of a request is not answered, the worker asks by another CALL, the question, what
 * became of the request with its number. The answer is the response to the request, or that it was
 * not executed; then it never will be. So the claim on the subtree can end.
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

  static final int NAME = 0;
  static final int QUESTION_BYTES = AnsweredCalls.NAME_BYTES;

  static final int OPERATION = 24;
  static final int KEY = 32;
  static final int VALUE = 40;
  static final int NODE = 48;
  static final int LEVEL = 56;

  /** Size of a node, and above it how much longer than a word a key is. */
  static final int SIZES = 64;

  static final int REQUEST_BYTES = 72;
  static final int EXPECTED = REQUEST_BYTES;

  /** Where a key of more than a word is. */
  private static final int LONG_KEY = EXPECTED + Long.BYTES;

  private static final int KEY_SHIFT = 32;

  static final int STATUS = 0;
  static final int FOUND_VALUE = 8;
  static final int CHANGED = 16;
  static final int ENTRIES = 24;
  static final int RESPONSE_BYTES = 32;

  static final ValueLayout.OfLong LONG = JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final CacheContext context;
  private final MemorySegment memory;
  private final long message;
  private final NodeLayout layout;
  private final long process;
  private final long worker;
  private boolean offered;
  private Request request = new Request();
  private long key;
  private long number;
  private boolean uncertain;

  /** Operations that a memory server finished. */
  long offloads;

  /** Operations that the memory server returned without an effect. */
  long fallbacks;

  Offload(DexServer server, CacheContext context) {
    this.context = context;
    this.memory = context.worker().memory();
    this.message = context.message();
    this.layout = server.layout;
    this.process = server.process;
    this.worker = AnsweredCalls.worker(server.number, context.number());
  }

  /** Returns the bytes of a request. */
  static int requestBytes(Operation operation, NodeLayout layout) {
    if (layout.keyWords() > 1) {
      return LONG_KEY + layout.keyBytes();
    }
    return operation.compares() ? REQUEST_BYTES + Long.BYTES : REQUEST_BYTES;
  }

  /** Returns where the key of a request is. */
  static int keyPlace(NodeLayout layout) {
    return layout.keyWords() > 1 ? LONG_KEY : KEY;
  }

  /** Returns the sizes that determine a layout. */
  private static long sizes(NodeLayout layout) {
    return layout.nodeBytes() | ((long) (layout.keyBytes() - Long.BYTES) << KEY_SHIFT);
  }

  /** Returns the layout of these sizes. */
  static NodeLayout layout(long sizes) {
    return NodeLayout.of((int) sizes, (int) (sizes >>> KEY_SHIFT) + Long.BYTES);
  }

  /** Offers an operation on a key for offloading. */
  void offer(Request wanted, long itsKey) {
    offered = true;
    uncertain = false;
    request = wanted;
    key = itsKey;
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
   * @throws UnknownOutcomeException if it is not known whether it did, as for any {@link Error}:
   *     {@link #settle} finds out
   */
  boolean call(long node, int level) {
    number = AnsweredCalls.nextNumber();
    setName();
    set(OPERATION, request.operation().code);
    layout.store(memory, message + keyPlace(layout), key);
    set(VALUE, request.stored());
    set(EXPECTED, request.expected());
    set(NODE, node);
    set(LEVEL, level);
    set(SIZES, sizes(layout));
    try {
      post(node, requestBytes(request.operation(), layout));
    } catch (UnknownOutcomeException | Error e) {
      uncertain = request.operation() != Operation.GET;
      throw e;
    }
    return isDone();
  }

  /**
   * Asks the memory server of a node what became of the last {@link #call}, until it answers.
   *
   * @return whether it finished the operation; if not, the operation had no effect and will have
   *     none, and is no longer offered
   * @throws CorruptNodeException if it had no effect, as a node is damaged
   * @throws pando.fabric.PandoException if it does not answer; it may be an {@link Error} instead.
   *     If {@link #mayHaveChanged}, it may still finish the operation.
   */
  boolean settle(long node) {
    Retry.untilDone(
        context.worker(),
        () -> {
          setName();
          post(node, QUESTION_BYTES);
        });
    boolean executed = get(STATUS) == FOUND || get(STATUS) == ABSENT;
    uncertain &= executed && changedNode() != GlobalAddress.NULL;
    return isDone();
  }

  private void setName() {
    AnsweredCalls.setName(memory, message + NAME, process, worker, number);
  }

  private void post(long node, int requestBytes) {
    int server = GlobalAddress.server(node);
    int bytes = context.worker().call(server, DexOffload.FUNCTION, message, requestBytes);
    if (bytes != RESPONSE_BYTES) {
      throw new IllegalStateException(
          "offloading got a response of the wrong length: bytes=%s, expected=%s"
              .formatted(bytes, RESPONSE_BYTES));
    }
  }

  private boolean isDone() {
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

  /**
   * Returns whether the offered operation may have changed its entry though {@link #call} failed.
   */
  boolean mayHaveChanged() {
    return uncertain;
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
