package pando.baselines.emt;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.locks.StampedLock;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.server.CallHandler;
import pando.index.bugs.PlantedBug;
import pando.index.host.AnsweredCalls;
import pando.index.session.Operation;

/**
 * The memory server's side of EMT-D: executes operations in the tree that it holds. CALLs that only
 * read share the tree's latch; one that changes something has it alone, and is executed once though
 * it may come again.
 *
 * <p>Only the processors of a memory server read and write the nodes of its tree. Thread-safe:
 * several of them, and several memory servers, may share the handler.
 */
public final class EmtHandler implements CallHandler {
  static final int FUNCTION = FIRST_FUNCTION + 3;

  private static final int LATCH_BITS = 4;
  private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

  private final AnsweredCalls answered = new AnsweredCalls();
  private final Latch[] latches = new Latch[1 << LATCH_BITS];

  /** Protects the trees whose headers have the same hash. */
  private static final class Latch {
    private final StampedLock lock = new StampedLock();
    private final EmtChanges.Scratch scratch = new EmtChanges.Scratch();
  }

  /** Creates the handler. */
  public EmtHandler() {
    Arrays.setAll(latches, _ -> new Latch());
  }

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
    if (requestBytes < EmtMessage.GET_BYTES) {
      throw new IllegalArgumentException("request of the wrong length: bytes=" + requestBytes);
    }
    long operation = get(message, EmtMessage.OPERATION);
    EmtMessage.checkRequest(operation, requestBytes);
    long address = get(message, EmtMessage.TREE);
    Latch latch = latches[(int) ((address * SPREAD) >>> (Long.SIZE - LATCH_BITS))];
    if (!EmtMessage.isNamed(operation)) {
      return read(latch, server, dram, message, operation);
    }
    AnsweredCalls.Caller caller = answered.caller(server, message, EmtMessage.NAME);
    // A repeated request waits for the first one.
    synchronized (caller) {
      if (caller.isNext(message, EmtMessage.NAME) || PlantedBug.EMT_RUNS_TWICE) {
        return caller.keep(message, change(latch, server, dram, message, requestBytes));
      }
      return caller.repeat(message);
    }
  }

  private static int read(
      Latch latch, int server, MemorySegment dram, MemorySegment message, long operation) {
    long stamp = latch.lock.readLock();
    try {
      long header = header(server, dram, message);
      return header == 0
          ? corrupt(message, get(message, EmtMessage.TREE))
          : read(new EmtTree(dram, server, header), message, operation);
    } finally {
      latch.lock.unlockRead(stamp);
    }
  }

  private static int read(EmtTree tree, MemorySegment message, long operation) {
    long key = get(message, EmtMessage.KEY);
    if (operation == Operation.GET.code) {
      return find(tree, message, key);
    } else if (operation == EmtMessage.FLOOR || operation == EmtMessage.CEILING) {
      return findNext(tree, message, key, operation == EmtMessage.FLOOR);
    }
    return scan(tree, message, key, operation == EmtMessage.SCAN_DOWN);
  }

  private static int find(EmtTree tree, MemorySegment message, long key) {
    if (!tree.descend(key)) {
      return corrupt(message, tree.damaged());
    }
    int rank = tree.find(key);
    set(message, EmtMessage.STATUS, rank >= 0 ? EmtMessage.FOUND : EmtMessage.ABSENT);
    set(message, EmtMessage.VALUE, rank >= 0 ? tree.value(rank) : 0);
    return EmtMessage.GOT_BYTES;
  }

  private static int findNext(EmtTree tree, MemorySegment message, long key, boolean down) {
    int rank = tree.findNext(key, down);
    if (tree.damaged() != GlobalAddress.NULL) {
      return corrupt(message, tree.damaged());
    }
    set(message, EmtMessage.STATUS, rank >= 0 ? EmtMessage.FOUND : EmtMessage.ABSENT);
    set(message, EmtMessage.EDITION, tree.get(down ? EmtHeader.LEAST : EmtHeader.GREATEST));
    set(message, EmtMessage.NEXT_KEY, rank >= 0 ? tree.key(rank) : 0);
    set(message, EmtMessage.NEXT_VALUE, rank >= 0 ? tree.value(rank) : 0);
    return EmtMessage.NEXT_BYTES;
  }

  private static int scan(EmtTree tree, MemorySegment message, long from, boolean down) {
    long to = get(message, EmtMessage.TO);
    long rows = Math.min(get(message, EmtMessage.ROWS), EmtMessage.ROWS_MAX);
    int count = 0;
    long next = from;
    boolean ends = false;
    boolean whole = true;
    while (count < rows && !ends) {
      whole = tree.descend(next);
      if (!whole) {
        break;
      }
      count = tree.copy(next, to, down, message, count, (int) rows);
      long fence = tree.fence(down);
      ends = down ? fence <= to : fence >= to;
      ends |= fence == tree.get(down ? EmtHeader.LOW : EmtHeader.HIGH);
      next = down ? fence - 1 : fence + 1;
    }
    // What stands before a damaged node is returned, and the next request finds that.
    if (!whole && count == 0) {
      return corrupt(message, tree.damaged());
    }
    set(message, EmtMessage.STATUS, whole && count < rows ? EmtMessage.ABSENT : EmtMessage.FOUND);
    set(message, EmtMessage.COUNT, count);
    return EmtMessage.LIST + count * EmtMessage.ENTRY_BYTES;
  }

  private static int change(
      Latch latch, int server, MemorySegment dram, MemorySegment message, int requestBytes) {
    long stamp = latch.lock.writeLock();
    try {
      long header = header(server, dram, message);
      return header == 0
          ? corrupt(message, get(message, EmtMessage.TREE))
          : change(
              new EmtChanges(dram, server, header, latch.scratch), message, requestBytes);
    } finally {
      latch.lock.unlockWrite(stamp);
    }
  }

  private static int change(EmtChanges tree, MemorySegment message, int requestBytes) {
    long operation = get(message, EmtMessage.OPERATION);
    if (operation == EmtMessage.LOAD) {
      return load(tree, message, (requestBytes - EmtMessage.LOADED) / EmtMessage.ENTRY_BYTES);
    } else if (operation == EmtMessage.GIVE) {
      return give(tree, message, (requestBytes - EmtMessage.NAMED_BYTES) / Long.BYTES);
    } else if (operation == EmtMessage.TAKE) {
      return take(tree, message);
    } else if (operation == EmtMessage.DROP) {
      tree.drop();
      return status(message, EmtMessage.FOUND);
    }
    return write(tree, message, Operation.of(operation));
  }

  private static int write(EmtChanges tree, MemorySegment message, Operation operation) {
    long key = get(message, EmtMessage.CHANGED_KEY);
    if (!tree.descend(key)) {
      return corrupt(message, tree.damaged());
    }
    int rank = tree.find(key);
    boolean found = rank >= 0;
    long before = found ? tree.value(rank) : 0;
    long stored = get(message, EmtMessage.STORED);
    // What stands there means something only to an operation that compares.
    boolean matches = before == get(message, EmtMessage.EXPECTED);
    if (operation.removes(found, matches)) {
      tree.remove(rank);
    } else if (operation.stores(found, matches) && found) {
      tree.setValue(rank, stored);
    } else if (operation.stores(found, matches)) {
      int needed = tree.nodesToInsert();
      if (needed < 0) {
        return corrupt(message, tree.damaged());
      } else if (!tree.free().has(needed)) {
        return needs(message, needed);
      }
      tree.insert(key, stored);
    }
    set(message, EmtMessage.STATUS, found ? EmtMessage.FOUND : EmtMessage.ABSENT);
    set(message, EmtMessage.VALUE, before);
    set(message, EmtMessage.FREE_NODES, tree.free().count());
    return EmtMessage.CHANGED_BYTES;
  }

  private static int load(EmtChanges tree, MemorySegment message, int count) {
    long room = get(message, EmtMessage.ROOM);
    tree.setRoom(Math.clamp(room, 2, tree.layout.capacity()));
    int needed = tree.nodesFor(count);
    if (!tree.free().has(needed)) {
      return needs(message, needed);
    }
    for (int i = 0; i < count; i++) {
      int at = EmtMessage.LOADED + i * EmtMessage.ENTRY_BYTES;
      if (!tree.descend(get(message, at))) {
        return corrupt(message, tree.damaged());
      }
      tree.insert(get(message, at), get(message, at + Long.BYTES));
    }
    return status(message, EmtMessage.FOUND);
  }

  private static int give(EmtChanges tree, MemorySegment message, int count) {
    for (int i = 0; i < count; i++) {
      long address = get(message, EmtMessage.NAMED_BYTES + i * Long.BYTES);
      if (!tree.isHere(address)) {
        throw new IllegalArgumentException(
            "not a node of this memory server: address=" + GlobalAddress.toString(address));
      }
      tree.free().add(GlobalAddress.offset(address));
    }
    return status(message, EmtMessage.FOUND);
  }

  private static int take(EmtChanges tree, MemorySegment message) {
    long most = Math.min(get(message, EmtMessage.MOST), EmtMessage.NODES_MAX);
    int count = 0;
    while (count < most) {
      long address = tree.free().takeOne();
      if (address == GlobalAddress.NULL) {
        break;
      }
      set(message, EmtMessage.LIST + count * Long.BYTES, address);
      count++;
    }
    set(message, EmtMessage.STATUS, EmtMessage.FOUND);
    set(message, EmtMessage.COUNT, count);
    return EmtMessage.LIST + count * Long.BYTES;
  }

  private static int needs(MemorySegment message, int nodes) {
    set(message, EmtMessage.DETAIL, nodes);
    return status(message, EmtMessage.NEEDS_NODES);
  }

  private static int corrupt(MemorySegment message, long address) {
    set(message, EmtMessage.DETAIL, address);
    return status(message, EmtMessage.CORRUPT);
  }

  /** An answer is never shorter than two words. */
  private static int status(MemorySegment message, long status) {
    set(message, EmtMessage.STATUS, status);
    return EmtMessage.GOT_BYTES;
  }

  /** Returns the offset of the tree's header, 0 if there is none. */
  private static long header(int server, MemorySegment dram, MemorySegment message) {
    long address = get(message, EmtMessage.TREE);
    long offset = GlobalAddress.offset(address);
    boolean here =
        GlobalAddress.server(address) == server
            && !GlobalAddress.isSwizzled(address)
            && !GlobalAddress.isOnChip(address)
            && offset % Long.BYTES == 0
            && offset >= Fabric.CATALOGUE_BYTES
            && offset <= dram.byteSize() - EmtHeader.BYTES;
    return here && EmtHeader.isWhole(dram, offset, address) ? offset : 0;
  }

  private static long get(MemorySegment message, int field) {
    return EmtMessage.get(message, 0, field);
  }

  private static void set(MemorySegment message, int field, long value) {
    EmtMessage.set(message, 0, field, value);
  }
}
