package pando.baselines.emt;

import pando.fabric.GlobalAddress;
import pando.fabric.PoolFullException;
import pando.fabric.memory.Closing;
import pando.fabric.pool.NodeAllocator;
import pando.index.session.Failures;

/**
 * Gives trees nodes of their memory servers, as those cannot allocate any, and takes back what they
 * do not need. Belongs to one worker.
 */
final class TreeNodes {
  private final EmtServer server;
  private final NodeAllocator allocator;
  private final TreeCalls calls;
  private final long[] nodes = new long[EmtMessage.NODES_MAX];
  private int count;
  private long most;
  private final Runnable given = this::setGiven;
  private final Runnable wanted = this::setMost;

  TreeNodes(EmtServer server, TreeCalls calls) {
    this.server = server;
    this.allocator = server.allocator;
    this.calls = calls;
  }

  /**
   * Gives a tree as many free nodes as it needs, unless another session of this compute server is
   * about to: so those that find the tree without nodes do not all give it some.
   *
   * @return whether it did
   * @throws PoolFullException as {@link #give}
   */
  boolean tryToGive(long tree, long needed) {
    int memoryServer = GlobalAddress.server(tree);
    if (!server.giving.compareAndSet(memoryServer, 0, 1)) {
      return false;
    }
    try {
      give(tree, needed);
      return true;
    } finally {
      server.giving.set(memoryServer, 0);
    }
  }

  /**
   * Gives a tree as many free nodes as it needs, and some more if there are any.
   *
   * @throws PoolFullException if its memory server has fewer
   */
  void give(long tree, long needed) {
    if (needed < 1 || needed > nodes.length) {
      throw new IllegalStateException(
          "no such number of nodes: needed=" + needed + ", most=" + nodes.length);
    }
    count = 0;
    try {
      allocate(GlobalAddress.server(tree), (int) needed);
      int bytes = EmtMessage.NAMED_BYTES + count * Long.BYTES;
      calls.send(tree, EmtMessage.GIVE, bytes, given);
    } catch (Throwable e) {
      if (!calls.isUncertain()) {
        Closing.after(e, this::freeAll);
      }
      throw e;
    }
  }

  private void setGiven() {
    for (int i = 0; i < count; i++) {
      calls.set(EmtMessage.NAMED_BYTES + i * Long.BYTES, nodes[i]);
    }
  }

  private void allocate(int memoryServer, int needed) {
    int best = Math.max(needed, server.options.keptNodes());
    try {
      while (count < best) {
        long node = allocate(memoryServer);
        nodes[count++] = node;
      }
    } catch (PoolFullException e) {
      if (count < needed) {
        throw e;
      }
    }
  }

  /**
   * Allocates a node at a memory server.
   *
   * @throws PoolFullException if there is none there
   */
  long allocate(int memoryServer) {
    long node = allocator.allocate(calls.worker(), calls.message(), memoryServer);
    if (GlobalAddress.server(node) == memoryServer) {
      return node;
    }
    allocator.free(calls.worker(), calls.message(), node);
    throw new PoolFullException(
        "no room for a node at the memory server of its keys (remove entries, or use larger"
            + " memory servers): server=%s, capacityBytes=%s"
                .formatted(memoryServer, server.places.dramBytes(memoryServer)));
  }

  /** Takes free nodes from a tree, as far as it has more than it keeps. */
  void takeSome(long tree, long free) {
    take(tree, free - server.options.keptNodes());
  }

  /** Takes all free nodes from a tree. */
  void takeAll(long tree) {
    // As many as there can be: a damaged tree may answer that there are always more.
    long left =
        server.places.dramBytes(GlobalAddress.server(tree)) / server.options.nodeBytes() + 1;
    while (left > 0 && take(tree, nodes.length)) {
      left -= nodes.length;
    }
  }

  /** Frees all nodes of a tree but its header, and damaged ones with what is below them. */
  void drop(long tree) {
    calls.send(tree, EmtMessage.DROP, EmtMessage.NAMED_BYTES, () -> {});
    takeAll(tree);
  }

  /** Takes free nodes from a tree; returns whether there may be more. */
  private boolean take(long tree, long wantedNodes) {
    most = Math.min(wantedNodes, nodes.length);
    calls.send(tree, EmtMessage.TAKE, EmtMessage.MOST + Long.BYTES, wanted);
    count = (int) Math.min(calls.get(EmtMessage.COUNT), most);
    boolean more = count == most;
    for (int i = 0; i < count; i++) {
      nodes[i] = calls.get(EmtMessage.LIST + i * Long.BYTES);
    }
    freeAll();
    return more;
  }

  private void setMost() {
    calls.set(EmtMessage.MOST, most);
  }

  /** Frees nodes; goes on with the others if that of one fails. */
  private void freeAll() {
    Failures failures = new Failures();
    while (count > 0) {
      long node = nodes[--count];
      failures.collect(() -> allocator.free(calls.worker(), calls.message(), node));
    }
    failures.rethrow();
  }
}
