package pando.index.blob;

import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.fabric.pool.Losses;
import pando.fabric.pool.NodeAllocator;
import pando.index.host.Totals;

/**
 * The pool's space for the blobs that one process stores: an allocator for each size. Thread-safe;
 * each thread stores and loads through {@link Blobs} of its own.
 */
public final class BlobSpace implements AutoCloseable {
  /** Greatest length of a value in any pool, in bytes. */
  public static final int LENGTH_MAX = 16 << 20;

  private final Fabric fabric;
  private final BlobClasses classes;
  private final NodeAllocator[] allocators;
  private final Totals closedVerbs = new Totals();
  private volatile boolean closed;

  /**
   * Creates a space without blobs.
   *
   * @param fabric with at most 256 memory servers of at most 2 TiB
   */
  public BlobSpace(Fabric fabric) {
    this.fabric = fabric;
    checkNamed(fabric);
    try (RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      this.classes = new BlobClasses(NodeAllocator.chunkBytes(worker, 0));
    }
    this.allocators = new NodeAllocator[classes.count()];
    for (int number = 0; number < allocators.length; number++) {
      allocators[number] = new NodeAllocator(fabric.memoryServers(), classes.bytes(number));
    }
  }

  /** Checks that a word can name every place of a pool. */
  private static void checkNamed(Fabric fabric) {
    if (fabric.memoryServers() > BlobWord.SERVERS_MAX) {
      throw new IllegalArgumentException(
          "too many memory servers for values beside the index: memoryServers=%s, maximum=%s"
              .formatted(fabric.memoryServers(), BlobWord.SERVERS_MAX));
    }
    for (int server = 0; server < fabric.memoryServers(); server++) {
      if (fabric.dramBytes(server) > BlobWord.DRAM_BYTES_MAX) {
        throw new IllegalArgumentException(
            "too much memory for values beside the index: server=%s, dramBytes=%s, maximum=%s"
                .formatted(server, fabric.dramBytes(server), BlobWord.DRAM_BYTES_MAX));
      }
    }
  }

  /** Returns the greatest length of a value in this pool: 16 MiB, less if its chunks are small. */
  public int lengthMax() {
    long partsMax = partMax() / Long.BYTES;
    return (int) Math.min(LENGTH_MAX, partsMax * partMax());
  }

  /** Returns the greatest length of a value, or of a part of one, in a single blob. */
  int partMax() {
    return classes.bytesMax() - BlobLayout.VALUE;
  }

  BlobClasses classes() {
    return classes;
  }

  Fabric fabric() {
    return fabric;
  }

  /**
   * Returns the bytes of the blobs that this process has stored and not freed, with their slack;
   * negative if it frees what others have stored.
   */
  public long bytesInUse() {
    long bytes = 0;
    for (NodeAllocator allocator : allocators) {
      bytes += allocator.nodesInUse() * allocator.nodeBytes();
    }
    return bytes;
  }

  /** Returns the verbs of all closed {@link Blobs}, and of this space itself. */
  public VerbCounters verbsOfClosed() {
    return closedVerbs.verbs();
  }

  void addClosed(VerbCounters verbs) {
    closedVerbs.add(verbs);
  }

  /**
   * Allocates the place of a blob.
   *
   * @throws pando.fabric.PoolFullException if no memory server has room
   * @throws IllegalStateException if the space is closed
   */
  long allocate(Worker worker, long message, int sizeClass) {
    if (closed) {
      throw new IllegalStateException("the space for values is closed");
    }
    int preferred = worker.random().nextInt(fabric.memoryServers());
    return allocators[sizeClass].allocate(worker, message, preferred);
  }

  /** Frees the place of a blob; where the space is closed, gives it back to its memory server. */
  void free(Worker worker, long message, int sizeClass, long address) {
    allocators[sizeClass].free(worker, message, address);
    if (closed) {
      allocators[sizeClass].trim(worker, message);
    }
  }

  /** Returns whether a blob can be where a word says. */
  boolean holds(long word) {
    int server = GlobalAddress.server(BlobWord.address(word));
    int sizeClass = BlobWord.sizeClass(word);
    return sizeClass < classes.count()
        && server < fabric.memoryServers()
        && GlobalAddress.offset(BlobWord.address(word)) + classes.bytes(sizeClass)
            <= fabric.dramBytes(server);
  }

  /**
   * Gives what no blob is in back to the memory servers. Blobs stay in the pool; nothing can be
   * stored any more. A second call gives back what has been freed meanwhile.
   *
   * @throws PandoException if a memory server is lost or does not answer; the others get theirs all
   *     the same if it is lost
   */
  @Override
  public void close() {
    closed = true;
    Losses losses = new Losses();
    try (RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      for (NodeAllocator allocator : allocators) {
        losses.defer(() -> allocator.trim(worker, 0));
      }
      closedVerbs.add(worker.counters());
    }
    losses.rethrow();
  }
}
