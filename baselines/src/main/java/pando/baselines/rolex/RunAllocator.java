package pando.baselines.rolex;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import pando.fabric.Fabric;
import pando.fabric.PoolFullException;
import pando.fabric.Worker;
import pando.fabric.pool.Losses;
import pando.fabric.pool.NodeAllocator;
import pando.index.PoolPart;
import pando.index.pool.KeptNodes;

/**
 * The unused runs, synonym leaves and pages of a compute server. Thread-safe; no lock is held
 * across a verb.
 */
final class RunAllocator {
  private final NodeAllocator[] runs;
  private final NodeAllocator synonyms;
  private final NodeAllocator pages;

  RunAllocator(Fabric fabric, RunLayout layout, int pageBytes) {
    runs = new NodeAllocator[RunLayout.lengths(RunLayout.LEAVES_MAX)];
    for (int number = 0; number < runs.length; number++) {
      int bytes = layout.bytes(RunLayout.length(number));
      runs[number] = new NodeAllocator(fabric.memoryServers(), bytes);
    }
    synonyms = new NodeAllocator(fabric.memoryServers(), layout.synonymBytes());
    pages = new NodeAllocator(fabric.memoryServers(), pageBytes);
  }

  /** Returns the sizes of all that is allocated. */
  static int[] sizes(RolexOptions options) {
    RunLayout layout = new RunLayout(new RolexLeafLayout(options.delta()).bytes());
    int lengths = RunLayout.lengths(options.leavesMax());
    int[] sizes = new int[lengths + 2];
    for (int number = 0; number < lengths; number++) {
      sizes[number] = layout.bytes(RunLayout.length(number));
    }
    sizes[lengths] = layout.synonymBytes();
    sizes[lengths + 1] = options.nodeBytes();
    return sizes;
  }

  /** Allocates a run of one of the lengths; returns its place. */
  long allocateRun(Worker worker, long message, int memoryServer, int leaves) {
    return RunLayout.place(allocate(ofLeaves(leaves), worker, message, memoryServer), leaves);
  }

  long allocateSynonym(Worker worker, long message, int memoryServer) {
    return allocate(synonyms, worker, message, memoryServer);
  }

  long allocatePage(Worker worker, long message, int memoryServer) {
    return allocate(pages, worker, message, memoryServer);
  }

  void freeRun(Worker worker, long message, long place) {
    ofLeaves(RunLayout.leaves(place)).free(worker, message, RunLayout.address(place));
  }

  void freeSynonym(Worker worker, long message, long address) {
    synonyms.free(worker, message, address);
  }

  void freePage(Worker worker, long message, long address) {
    pages.free(worker, message, address);
  }

  /** Gives back all that is not in use, but for what a lost memory server has. */
  void trim(Worker worker, long message) {
    trim(worker, message, 0);
  }

  private void trim(Worker worker, long message, int from) {
    Losses losses = new Losses();
    for (int number = from; number < runs.length; number++) {
      NodeAllocator allocator = runs[number];
      losses.defer(() -> allocator.trim(worker, message));
    }
    losses.defer(() -> synonyms.trim(worker, message));
    losses.defer(() -> pages.trim(worker, message));
    losses.rethrow();
  }

  /** Returns the bytes allocated less those freed here. */
  long bytesInUse() {
    long bytes = bytesInUse(synonyms) + bytesInUse(pages);
    for (NodeAllocator allocator : runs) {
      bytes += bytesInUse(allocator);
    }
    return bytes;
  }

  private static long bytesInUse(NodeAllocator allocator) {
    return allocator.nodesInUse() * allocator.nodeBytes();
  }

  /** Returns what is kept here for later. */
  List<PoolPart> kept() {
    Stream<NodeAllocator> all = Stream.concat(Arrays.stream(runs), Stream.of(synonyms, pages));
    return all.flatMap(allocator -> KeptNodes.of(allocator).stream()).toList();
  }

  private NodeAllocator ofLeaves(int leaves) {
    return runs[RunLayout.numberOfLength(leaves)];
  }

  /**
   * Allocates; where the pool is full, after giving back what waits here for other uses. The
   * shortest runs stay: if synonym leaves took their place, no model could be replaced by a smaller
   * one any more, and the pool would stay full.
   */
  private long allocate(NodeAllocator allocator, Worker worker, long message, int memoryServer) {
    try {
      return allocator.allocate(worker, message, memoryServer);
    } catch (PoolFullException full) {
      trim(worker, message, 1);
      return allocator.allocate(worker, message, memoryServer);
    }
  }
}
