package pando.fabric.pool;

import static pando.fabric.layout.SpaceMessage.bytes;

import java.util.Arrays;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.Worker;
import pando.fabric.layout.SpaceMessage;
import pando.fabric.memory.Words;
import pando.fabric.server.CallFailedException;

/**
 * Allocates and frees nodes of one size for the workers of one compute server. A new node holds
 * arbitrary bytes; one that {@linkplain #lasting lasts} holds zeros, or what the nodes before it at
 * the same place left.
 *
 * <p>Memory servers are asked, by CALL, only for a chunk or a batch at a time. Freed nodes are
 * reused before new ones; when there are many, a batch is returned to the memory server, for other
 * compute servers and other node sizes. Thread-safe; no lock is held across a verb.
 */
public final class NodeAllocator {
  /** Freed nodes that are kept per memory server before a batch is returned, if they are small. */
  public static final int FREE_NODES_MAX = 2048;

  /** Bytes of freed nodes that are kept per memory server before a batch is returned. */
  public static final int FREE_BYTES_MAX = 8 << 20;

  private static final String FULL =
      "memory pool is full (remove entries, or use a pool with more memory: size= of local:,"
          + " --bytes-per-server of pando serve, --size of pando memory-server)";

  /** There are chunks that nobody has, and that a memory server does not give out. */
  private static final String REFUSED =
      "the system has no memory for more of the pool (give the machine or the container of the"
          + " memory server more, end other programs there, or remove entries)";

  private static final int NODE_BYTES_MIN = 64;
  private static final int NODE_ALIGNMENT = 64;

  /**
   * Pauses after which a worker no longer waits for another worker's refill, which may never end.
   */
  private static final int WAITS_MAX = 1000;

  private static final int BATCH_NODES = 500;

  private final int nodeBytes;
  private final long type;
  private final int freeNodesMax;
  private final Shelf[] shelves;

  /**
   * Creates an allocator that holds nothing yet.
   *
   * @param memoryServers number of memory servers of the fabric
   * @param nodeBytes size of a node, a multiple of 64, from 64 to the size of a chunk
   */
  public NodeAllocator(int memoryServers, int nodeBytes) {
    this(memoryServers, nodeBytes, false);
  }

  /**
   * Creates an allocator of nodes that last, for those that compute servers may still read or lock
   * after they were freed: what once was such a node never becomes anything else.
   *
   * @param memoryServers number of memory servers of the fabric
   * @param nodeBytes size of a node, a multiple of 64, from 64 to the size of a chunk
   */
  public static NodeAllocator lasting(int memoryServers, int nodeBytes) {
    return new NodeAllocator(memoryServers, nodeBytes, true);
  }

  private NodeAllocator(int memoryServers, int nodeBytes, boolean lasts) {
    if (memoryServers < 1 || memoryServers > GlobalAddress.SERVERS_MAX) {
      throw new IllegalArgumentException("out of range: memoryServers=" + memoryServers);
    }
    if (nodeBytes < NODE_BYTES_MIN || nodeBytes % NODE_ALIGNMENT != 0) {
      throw new IllegalArgumentException(
          "no such node size: nodeBytes="
              + nodeBytes
              + ", minimum="
              + NODE_BYTES_MIN
              + ", alignment="
              + NODE_ALIGNMENT);
    }
    this.nodeBytes = nodeBytes;
    this.type = SpaceMessage.type(nodeBytes, lasts);
    this.freeNodesMax = Math.clamp(FREE_BYTES_MAX / nodeBytes, 1, FREE_NODES_MAX);
    this.shelves = new Shelf[memoryServers];
    for (int i = 0; i < memoryServers; i++) {
      shelves[i] = new Shelf(nodeBytes);
    }
  }

  /**
   * Checks, before an index is made, that a pool has room for it: at each compute server and for
   * each size of node, a chunk, or a part of one if chunks are given out in parts.
   *
   * @param worker issues the CALLs
   * @param callMessage local offset, a multiple of 8, of {@link Worker#CALL_BYTES_MAX} bytes that
   *     CALLs may overwrite
   * @param memoryServers number of memory servers of the fabric
   * @param computeServers number of compute servers that allocate nodes
   * @param nodeSizes sizes of nodes that each of them needs
   * @throws PoolFullException if there is less room
   */
  public static void checkRoom(
      Worker worker, long callMessage, int memoryServers, int computeServers, int[] nodeSizes) {
    long needed = 0;
    long present = 0;
    for (int server = 0; server < memoryServers; server++) {
      worker.call(server, SpaceMessage.USAGE, callMessage, 0);
      long[] usage = fields(worker, callMessage, 5);
      present += usage[0] - usage[1];
      // The memory servers of a pool have chunks of one size.
      needed = 0;
      for (int nodeBytes : nodeSizes) {
        needed += computeServers * (nodeBytes <= usage[4] ? usage[4] : usage[3]);
      }
    }
    if (present < needed) {
      throw new PoolFullException(
          "the pool has less room than an index needs (use one with more memory, or fewer compute"
              + " servers): neededBytes="
              + needed
              + ", presentBytes="
              + present
              + ", computeServers="
              + computeServers
              + ", nodeSizes="
              + Arrays.toString(nodeSizes)
              + ", memoryServers="
              + memoryServers);
    }
  }

  /**
   * Returns the size of a chunk, which is the same at all memory servers of a pool.
   *
   * @param worker issues a CALL
   * @param callMessage local offset, a multiple of 8, of {@link Worker#CALL_BYTES_MAX} bytes that
   *     the CALL may overwrite
   */
  public static int chunkBytes(Worker worker, long callMessage) {
    worker.call(0, SpaceMessage.USAGE, callMessage, 0);
    return Math.toIntExact(Words.get(worker.memory(), callMessage + bytes(3)));
  }

  /** Returns the size of a node. */
  public int nodeBytes() {
    return nodeBytes;
  }

  /**
   * Allocates a node.
   *
   * @param worker issues the CALLs
   * @param callMessage local offset, a multiple of 8, of {@link Worker#CALL_BYTES_MAX} bytes that
   *     CALLs may overwrite
   * @param preferredServer memory server to use as long as it has room
   * @return the global address
   * @throws PoolFullException if no memory server has room
   */
  public long allocate(Worker worker, long callMessage, int preferredServer) {
    if (preferredServer < 0 || preferredServer >= shelves.length) {
      throw new IllegalArgumentException(
          "no such memory server: server=" + preferredServer + ", memoryServers=" + shelves.length);
    }
    long address = allocateAround(worker, callMessage, preferredServer, true);
    if (address == Shelf.NONE) {
      address = allocateAround(worker, callMessage, preferredServer, false);
    }
    if (address == Shelf.NONE) {
      throw full(worker, callMessage);
    }
    return address;
  }

  /**
   * Frees a node that was allocated here or on another compute server. No worker may use it any
   * more.
   *
   * @param worker issues the CALLs
   * @param callMessage local offset, a multiple of 8, of {@link Worker#CALL_BYTES_MAX} bytes that
   *     CALLs may overwrite
   * @param address global address of the node
   */
  public void free(Worker worker, long callMessage, long address) {
    int server = checkNode(address);
    int waiting = shelves[server].put(GlobalAddress.offset(address));
    if (waiting > freeNodesMax) {
      releaseNodes(worker, callMessage, server, Math.clamp(freeNodesMax / 4, 1, BATCH_NODES));
    }
  }

  /**
   * Returns all nodes that are not in use, freed or never used, to the memory servers. The next
   * allocation issues a CALL again. If a memory server is lost, the others get theirs anyway.
   *
   * @param worker issues the CALLs
   * @param callMessage local offset, a multiple of 8, of {@link Worker#CALL_BYTES_MAX} bytes that
   *     CALLs may overwrite
   */
  public void trim(Worker worker, long callMessage) {
    Losses losses = new Losses();
    for (int server = 0; server < shelves.length; server++) {
      int each = server;
      losses.defer(() -> trim(worker, callMessage, each));
    }
    losses.rethrow();
  }

  private void trim(Worker worker, long callMessage, int server) {
    while (releaseNodes(worker, callMessage, server, BATCH_NODES)) {}
    while (releaseRun(worker, callMessage, server)) {}
  }

  /**
   * Returns the number of nodes allocated minus those freed here; negative if this compute server
   * frees nodes that others allocated.
   */
  public long nodesInUse() {
    long sum = 0;
    for (Shelf shelf : shelves) {
      sum += shelf.nodesInUse();
    }
    return sum;
  }

  /**
   * Returns the first memory server, from one on and round, of which freed nodes wait here for
   * reuse; that one if there is none. Allocations that prefer it take no new node while any node
   * waits.
   */
  public int serverOfFreed(int from) {
    for (int i = 0; i < shelves.length; i++) {
      int server = (from + i) % shelves.length;
      if (shelves[server].freedNodes() > 0) {
        return server;
      }
    }
    return from;
  }

  /** Returns the number of freed nodes that wait here for reuse. */
  public long freedNodes() {
    long sum = 0;
    for (Shelf shelf : shelves) {
      sum += shelf.freedNodes();
    }
    return sum;
  }

  /** Returns the number of nodes that are here and were never used. */
  public long newNodes() {
    long sum = 0;
    for (Shelf shelf : shelves) {
      sum += shelf.newNodes();
    }
    return sum;
  }

  /** Tries each memory server once; returns {@link Shelf#NONE} if all are full. */
  private long allocateAround(
      Worker worker, long callMessage, int preferredServer, boolean passBy) {
    for (int i = 0; i < shelves.length; i++) {
      int server = (preferredServer + i) % shelves.length;
      if (!(passBy && shelves[server].passBy())) {
        long offset = allocateOn(worker, callMessage, server);
        if (offset != Shelf.NONE) {
          return GlobalAddress.of(server, offset);
        }
      }
    }
    return Shelf.NONE;
  }

  private long allocateOn(Worker worker, long callMessage, int server) {
    Shelf shelf = shelves[server];
    for (int attempt = 0; ; attempt++) {
      long offset = shelf.take();
      if (offset != Shelf.NONE) {
        return offset;
      }
      boolean first = shelf.startRefill();
      if (!first && attempt < WAITS_MAX) {
        worker.backoff().pause(attempt);
      } else if (!refill(worker, callMessage, server)) {
        return Shelf.NONE;
      }
    }
  }

  /** Fetches a chunk or a batch of nodes; returns whether the memory server had any. */
  private boolean refill(Worker worker, long callMessage, int server) {
    Shelf shelf = shelves[server];
    try {
      Words.set(worker.memory(), callMessage, type);
      Words.set(worker.memory(), callMessage + bytes(1), shelf.nodesInUse() * nodeBytes);
      int responseBytes = worker.call(server, SpaceMessage.ALLOCATE, callMessage, bytes(2));
      long kind = Words.get(worker.memory(), callMessage);
      long count = Words.get(worker.memory(), callMessage + bytes(1));
      if (kind == SpaceMessage.FULL) {
        shelf.noteFull();
        return false;
      }
      if (kind == SpaceMessage.CHUNK && responseBytes == bytes(3) && count >= nodeBytes) {
        long start = Words.get(worker.memory(), callMessage + bytes(2));
        shelf.addRun(start, start + count);
        return true;
      }
      boolean plausible = count >= 1 && count <= SpaceMessage.NODES_MAX;
      if (kind != SpaceMessage.NODES || !plausible || responseBytes != bytes(2 + (int) count)) {
        throw new CallFailedException(
            "damaged response to ALLOCATE: server="
                + server
                + ", kind="
                + kind
                + ", count="
                + count
                + ", responseBytes="
                + responseBytes);
      }
      shelf.addNodes(fields(worker, callMessage + bytes(2), (int) count));
      return true;
    } finally {
      shelf.endRefill();
    }
  }

  private boolean releaseNodes(Worker worker, long callMessage, int server, int limit) {
    long[] nodes = shelves[server].takeNodes(limit);
    if (nodes.length == 0) {
      return false;
    }
    Words.set(worker.memory(), callMessage, type);
    Words.set(worker.memory(), callMessage + bytes(1), nodes.length);
    for (int i = 0; i < nodes.length; i++) {
      Words.set(worker.memory(), callMessage + bytes(2 + i), nodes[i]);
    }
    int requestBytes = bytes(2 + nodes.length);
    release(
        () -> worker.call(server, SpaceMessage.RELEASE, callMessage, requestBytes),
        () -> shelves[server].addNodes(nodes));
    return true;
  }

  private boolean releaseRun(Worker worker, long callMessage, int server) {
    long[] run = shelves[server].takeRun();
    if (run.length == 0) {
      return false;
    }
    Words.set(worker.memory(), callMessage, type);
    Words.set(worker.memory(), callMessage + bytes(1), (run[1] - run[0]) / nodeBytes);
    Words.set(worker.memory(), callMessage + bytes(2), run[0]);
    release(
        () -> worker.call(server, SpaceMessage.RELEASE_RUN, callMessage, bytes(3)),
        () -> shelves[server].addRun(run[0], run[1]));
    return true;
  }

  /**
   * Gives nodes back, or keeps them where the memory server has not taken them. Where nobody knows,
   * they are not used again: they may be another compute server's by now.
   */
  private static void release(Runnable call, Runnable keep) {
    try {
      call.run();
    } catch (UnknownOutcomeException e) {
      throw e;
    } catch (PandoException e) {
      keep.run();
      throw e;
    }
  }

  private static boolean hasFreeChunk(int server, Worker worker, long callMessage) {
    Words.set(worker.memory(), callMessage, Long.MAX_VALUE); // no node sizes
    worker.call(server, SpaceMessage.SPACE, callMessage, SpaceMessage.bytes(1));
    return fields(worker, callMessage, 1)[0] > 0;
  }

  private PoolFullException full(Worker worker, long callMessage) {
    long[] sums = new long[3];
    boolean isRefused = false;
    for (int server = 0; server < shelves.length; server++) {
      worker.call(server, SpaceMessage.USAGE, callMessage, 0);
      long[] usage = fields(worker, callMessage, 4);
      isRefused |= usage[0] - usage[1] >= usage[3] && hasFreeChunk(server, worker, callMessage);
      for (int i = 0; i < sums.length; i++) {
        sums[i] += usage[i];
      }
    }
    return new PoolFullException(
        (isRefused ? REFUSED : FULL)
            + ": memoryServers="
            + shelves.length
            + ", nodeBytes="
            + nodeBytes
            + ", capacityBytes="
            + sums[0]
            + ", reservedBytes="
            + sums[1]
            + ", usedBytes="
            + sums[2]);
  }

  private int checkNode(long address) {
    int server = GlobalAddress.server(address);
    if (GlobalAddress.isSwizzled(address)
        || GlobalAddress.isOnChip(address)
        || server >= shelves.length
        || GlobalAddress.offset(address) == 0) {
      throw new IllegalArgumentException(
          "not the address of a node: address="
              + GlobalAddress.toString(address)
              + ", memoryServers="
              + shelves.length);
    }
    return server;
  }

  private static long[] fields(Worker worker, long offset, int count) {
    long[] fields = new long[count];
    for (int i = 0; i < count; i++) {
      fields[i] = Words.get(worker.memory(), offset + bytes(i));
    }
    return fields;
  }
}
