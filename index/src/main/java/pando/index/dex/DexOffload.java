package pando.index.dex;

import static pando.index.dex.Offload.LONG;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import pando.fabric.GlobalAddress;
import pando.fabric.server.CallHandler;
import pando.index.dex.node.NodeCheck;
import pando.index.dex.node.NodeLayout;
import pando.index.host.AnsweredCalls;
import pando.index.session.Operation;

/**
 * The memory server's side of offloading: finishes a get, put, update or remove in a subtree that
 * it holds (DEX section 6). The calling worker has claimed the subtree's root, so no other worker
 * reads or writes below it meanwhile. Falls back, without an effect, if a leaf would have to be
 * split or a path leaves this memory server.
 *
 * <p>Takes no lock in the pool, and accesses no word that verbs change by atomics. Keeps the last
 * response to each worker, for the question what became of a request. Thread-safe.
 */
public final class DexOffload implements CallHandler {
  static final int FUNCTION = FIRST_FUNCTION;

  private final Map<Long, NodeLayout> layouts = new ConcurrentHashMap<>();
  private final AnsweredCalls answered = new AnsweredCalls();

  /** Creates the handler. */
  public DexOffload() {}

  @Override
  public int function() {
    return FUNCTION;
  }

  /** Serves a request; one of no bytes finds out that the handler is there. */
  @Override
  public int handle(int server, MemorySegment dram, MemorySegment message, int requestBytes) {
    if (requestBytes == 0) {
      return 0;
    }
    boolean asks = requestBytes == Offload.QUESTION_BYTES;
    if (!asks) {
      checkLength(message, requestBytes);
    }
    AnsweredCalls.Caller caller = answered.caller(server, message, Offload.NAME);
    // A question waits for a request that is executed now.
    synchronized (caller) {
      if (caller.isNext(message, Offload.NAME) && !asks) {
        execute(server, dram, message);
        return caller.keep(message, Offload.RESPONSE_BYTES);
      }
      if (caller.repeat(message, Offload.NAME) == 0) {
        message.set(LONG, Offload.STATUS, Offload.FALLBACK);
      }
      return Offload.RESPONSE_BYTES;
    }
  }

  private void checkLength(MemorySegment message, int requestBytes) {
    int expected =
        requestBytes < Offload.REQUEST_BYTES
            ? Offload.REQUEST_BYTES
            : Offload.requestBytes(
                Operation.of(message.get(LONG, Offload.OPERATION)), layout(message));
    if (requestBytes != expected) {
      throw new IllegalArgumentException(
          "request of the wrong length: bytes=%s, expected=%s or %s"
              .formatted(requestBytes, expected, Offload.QUESTION_BYTES));
    }
  }

  private void execute(int server, MemorySegment dram, MemorySegment message) {
    new Subtree(layout(message).withKeysIn(message), server, dram, message).execute();
  }

  private NodeLayout layout(MemorySegment message) {
    return layouts.computeIfAbsent(message.get(LONG, Offload.SIZES), Offload::layout);
  }

  /** One operation in one subtree. */
  private static final class Subtree {
    private final NodeLayout layout;
    private final int server;
    private final MemorySegment dram;
    private final MemorySegment message;
    private final Operation operation;
    private final long key;
    private final long value;

    Subtree(NodeLayout layout, int server, MemorySegment dram, MemorySegment message) {
      this.layout = layout;
      this.server = server;
      this.dram = dram;
      this.message = message;
      this.operation = Operation.of(message.get(LONG, Offload.OPERATION));
      this.key = layout.load(message, Offload.keyPlace(layout));
      this.value = message.get(LONG, Offload.VALUE);
    }

    void execute() {
      long address = message.get(LONG, Offload.NODE);
      int level = Math.toIntExact(message.get(LONG, Offload.LEVEL));
      while (true) {
        if (!isHere(address)) {
          respond(Offload.FALLBACK, 0, GlobalAddress.NULL, 0);
          return;
        }
        long node = GlobalAddress.offset(address);
        if (NodeCheck.image(layout, dram, node, address, level) != null
            || !layout.covers(dram, node, key)) {
          respond(Offload.CORRUPT, 0, address, 0);
          return;
        }
        int index = layout.floor(dram, node, key);
        if (level == 0) {
          finish(address, node, index);
          return;
        }
        address = layout.slot(dram, node, index);
        level--;
      }
    }

    private boolean isHere(long address) {
      return GlobalAddress.server(address) == server
          && !GlobalAddress.isSwizzled(address)
          && !GlobalAddress.isOnChip(address)
          && GlobalAddress.offset(address) <= dram.byteSize() - layout.nodeBytes();
    }

    private void finish(long address, long node, int index) {
      int count = NodeLayout.count(dram, node);
      boolean found = layout.holds(dram, node, index, key);
      long before = found ? layout.slot(dram, node, index) : 0;
      // What stands there means something only to an operation that compares.
      boolean matches = before == message.get(LONG, Offload.EXPECTED);
      boolean stores = operation.stores(found, matches);
      boolean removes = operation.removes(found, matches);
      if (stores && !found && count == layout.capacity()) {
        respond(Offload.FALLBACK, 0, GlobalAddress.NULL, 0);
        return;
      }
      if (removes) {
        layout.delete(dram, node, index);
      } else if (stores && found) {
        layout.setSlot(dram, node, index, value);
      } else if (stores) {
        layout.insert(dram, node, index + 1, key, value);
      }
      boolean changed = stores || removes;
      if (changed) {
        layout.seal(dram, node);
      }
      respond(
          found ? Offload.FOUND : Offload.ABSENT,
          before,
          changed ? address : GlobalAddress.NULL,
          NodeLayout.count(dram, node));
    }

    private void respond(long status, long found, long changed, int entries) {
      message.set(LONG, Offload.STATUS, status);
      message.set(LONG, Offload.FOUND_VALUE, found);
      message.set(LONG, Offload.CHANGED, changed);
      message.set(LONG, Offload.ENTRIES, entries);
    }
  }
}
