package pando.baselines.smart;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.Worker;
import pando.fabric.pool.Losses;
import pando.fabric.pool.NodeAllocator;
import pando.index.PoolPart;
import pando.index.bugs.PlantedBug;
import pando.index.host.Epochs;
import pando.index.pool.KeptNodes;

/**
 * The places of leaves and inner nodes that a compute server allocates, of each size.
 *
 * <p>A leaf goes to the memory server of its node, so that one list of verbs reaches both. Most new
 * nodes go to that of their parents; one in {@link #NODES_TO_A_TURN} goes to the next memory server
 * in turn, so that all get their share.
 *
 * <p>A place that a slot has led to rests ({@link Epochs}) before it is used again, as operations
 * that are running may know it.
 */
final class SmartSpace {
  private static final int NODES_TO_A_TURN = 16;

  private final Fabric fabric;
  private final Reserve reserve;
  private final List<NodeAllocator> allocators = new ArrayList<>();
  private final Epochs epochs;
  private final AtomicInteger nodes;

  SmartSpace(Fabric fabric, Reserve reserve, int server, Epochs epochs) {
    this.fabric = fabric;
    this.reserve = reserve;
    this.epochs = epochs;
    this.nodes = new AtomicInteger(server * NODES_TO_A_TURN);
    for (int bytes : Reserve.sizes()) {
      allocators.add(new NodeAllocator(fabric.memoryServers(), bytes));
    }
  }

  /** Returns the memory server for a node below one at an address. */
  int serverBelow(long parent) {
    int number = nodes.getAndIncrement();
    return number % NODES_TO_A_TURN == 0
        ? inTurn(number / NODES_TO_A_TURN)
        : GlobalAddress.server(parent);
  }

  /** Returns the memory server of the node with a number, where all have as many. */
  int inTurn(int number) {
    return Math.floorMod(number, fabric.memoryServers());
  }

  long allocateLeaf(Worker worker, long message, int memoryServer) {
    return allocate(LeafLayout.PLACE_BYTES, worker, message, memoryServer);
  }

  long allocateNode(int type, Worker worker, long message, int memoryServer) {
    return allocate(reserve.placeBytes(type), worker, message, memoryServer);
  }

  private long allocate(int bytes, Worker worker, long message, int memoryServer) {
    return allocator(bytes).allocate(worker, message, memoryServer);
  }

  private NodeAllocator allocator(int bytes) {
    return allocators.get(Reserve.sizeNumber(bytes));
  }

  /** Frees a leaf to which no slot has led. */
  void freeLeaf(Worker worker, long message, long address) {
    free(LeafLayout.PLACE_BYTES, worker, message, address);
  }

  /** Frees a node to which no slot has led. */
  void freeNode(int type, Worker worker, long message, long address) {
    free(reserve.placeBytes(type), worker, message, address);
  }

  private void free(int bytes, Worker worker, long message, long address) {
    allocator(bytes).free(worker, message, address);
  }

  /** Frees a dead leaf to which no slot leads any more, once no operation can know it. */
  void restLeaf(Worker worker, long message, long address) {
    rest(LeafLayout.PLACE_BYTES, worker, message, address);
  }

  /** Frees a dead node to which no slot leads any more, once no operation can know it. */
  void restNode(int type, Worker worker, long message, long address) {
    rest(reserve.placeBytes(type), worker, message, address);
  }

  private void rest(int bytes, Worker worker, long message, long address) {
    if (PlantedBug.SMART_PLACE_AT_ONCE) {
      free(bytes, worker, message, address);
    } else {
      epochs.rest(allocator(bytes), address);
    }
  }

  /** Returns how many places rest. */
  long resting() {
    return epochs.resting().count();
  }

  /** Returns the bytes in use that were allocated here, less those freed here. */
  long bytesInUse() {
    long bytes = -epochs.resting().bytes();
    for (NodeAllocator allocator : allocators) {
      bytes += allocator.nodesInUse() * allocator.nodeBytes();
    }
    return bytes;
  }

  /** Returns what is kept here for later. */
  List<PoolPart> kept() {
    List<PoolPart> parts = new ArrayList<>();
    parts.add(epochs.resting());
    allocators.forEach(allocator -> parts.addAll(KeptNodes.of(allocator)));
    return parts;
  }

  /** Gives back all that is not in use; no operation of the compute server is under way. */
  void trim(Worker worker, long message) {
    Losses losses = new Losses();
    losses.defer(() -> epochs.freeAll(worker, message));
    for (NodeAllocator allocator : allocators) {
      losses.defer(() -> allocator.trim(worker, message));
    }
    losses.rethrow();
  }
}
