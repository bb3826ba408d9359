package pando.index.blob;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLongArray;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.fabric.pool.Losses;
import pando.fabric.pool.NodeAllocator;
import pando.index.PoolPart;
import pando.index.PoolSpace;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.pool.KeptNodes;

/**
 * The pool's space for the blobs that one process stores: an allocator for each size. Thread-safe;
 * each thread stores and loads through {@link Blobs} of its own.
 */
public final class BlobSpace implements AutoCloseable {
  /** Greatest length of a value in any pool, in bytes. */
  public static final int LENGTH_MAX = 16 << 20;

  private final Fabric fabric;
  private final boolean isShared;
  private final BlobClasses classes;
  private final NodeAllocator[] allocators;
  private final Reserve reserve;

  /** By class, the blobs that are to be freed by the {@link Blobs} of some thread. */
  private final AtomicLongArray waiting;

  /** All {@link Blobs} that are open; their lock is for the counts of those that are not, too. */
  private final Set<Blobs> open = new HashSet<>();

  private final VerbCounters closedVerbs = new VerbCounters();
  private volatile boolean closed;

  /**
   * Creates a space without blobs, for an index whose blobs are freed by the process that takes
   * their words out: no word comes back.
   *
   * @param fabric with at most 256 memory servers of at most 2 TiB
   */
  public BlobSpace(Fabric fabric) {
    this(fabric, false);
  }

  /**
   * Creates a space without blobs, for the values of an index of words; shared if {@linkplain
   * RangeIndex#isShared the index} is.
   */
  public static BlobSpace of(RangeIndex index) {
    return new BlobSpace(index.fabric(), index.isShared());
  }

  /**
   * Creates a space without blobs.
   *
   * @param fabric with at most 256 memory servers of at most 2 TiB
   * @param isShared whether several processes serve the index. If one of them is lost, words may
   *     come back that it had taken out of entries, and whose blobs it had freed: then such a blob
   *     is not freed twice, nor is what has taken its place. To free one costs a CAS, and a READ if
   *     its value was not loaded just before.
   */
  BlobSpace(Fabric fabric, boolean isShared) {
    this.fabric = fabric;
    this.isShared = isShared;
    checkNamed(fabric);
    try (RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      this.classes = new BlobClasses(NodeAllocator.chunkBytes(worker, 0));
    }
    this.allocators = new NodeAllocator[classes.count()];
    this.reserve = new Reserve(allocators.length);
    this.waiting = new AtomicLongArray(allocators.length);
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
    long partsMax = (long) partMax() / Long.BYTES - 1;
    return (int) Math.min(LENGTH_MAX, partsMax * partMax());
  }

  /** Returns the greatest length of a value that is in one place, and not in parts. */
  public int lengthInOnePlace() {
    return partMax();
  }

  /** Returns the greatest length of a value, or of a part of one, in a single blob. */
  int partMax() {
    return classes.bytesMax() - BlobLayout.VALUE;
  }

  /** Returns whether other processes free blobs of this one, and the other way round. */
  boolean isShared() {
    return isShared;
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
    for (int number = 0; number < allocators.length; number++) {
      long blobs = allocators[number].nodesInUse() - reserve.count(number);
      bytes += blobs * classes.bytes(number);
    }
    return bytes;
  }

  /**
   * Returns how much of the pool a word's value takes, in bytes; 0 if the word has its value. Of a
   * value of several parts, what it may take at the most.
   */
  public long bytesOf(long word) {
    if (!BlobWord.isBlob(word) || !holds(word)) {
      return 0;
    }
    long bytes = classes.bytes(BlobWord.sizeClass(word));
    return BlobWord.hasParts(word) ? bytes / Long.BYTES * classes.bytesMax() : bytes;
  }

  /** Counts a blob that is to be freed later, or takes it back; not where a word is damaged. */
  void countWaiting(long word, int more) {
    if (holds(word)) {
      waiting.addAndGet(BlobWord.sizeClass(word), more);
    }
  }

  /** Returns what is kept for later, and freed blobs that were not given back yet. */
  public List<PoolPart> kept() {
    List<PoolPart> parts = new ArrayList<>();
    for (int number = 0; number < allocators.length; number++) {
      long blobs = waiting.get(number);
      parts.add(
          new PoolPart("freed blobs, kept by sessions", blobs, blobs * classes.bytes(number)));
      long places = reserve.count(number);
      parts.add(
          new PoolPart(
              "places to replace values in a full pool", places, places * classes.bytes(number)));
      parts.addAll(KeptNodes.of(allocators[number]));
    }
    return parts;
  }

  /**
   * Returns where every byte of the pool is, by {@link RangeIndex#space()} and all values. READs
   * how long each is. To the byte while no operation is under way. Of values of several parts that
   * are to be freed, the parts are with others.
   *
   * @param index all of whose entries have words of this space
   */
  public PoolSpace space(RangeIndex index) {
    try (Session session = index.session();
        Blobs blobs = new Blobs(this)) {
      BlobCount count = new BlobCount(this, blobs, "values");
      session.scan(
          Long.MIN_VALUE,
          Long.MAX_VALUE,
          Long.MAX_VALUE,
          (key, word) -> {
            count.add(key, word);
            return true;
          });
      return index.space().withUsed(count.parts()).withUnused(kept());
    }
  }

  /** Returns the verbs of all {@link Blobs}, open or closed, and of this space itself. */
  public VerbCounters verbs() {
    synchronized (open) {
      VerbCounters all = closedVerbs.copy();
      open.forEach(blobs -> all.add(blobs.verbs()));
      return all;
    }
  }

  void opened(Blobs blobs) {
    synchronized (open) {
      open.add(blobs);
    }
  }

  void closed(Blobs blobs) {
    synchronized (open) {
      open.remove(blobs);
      closedVerbs.add(blobs.verbs());
    }
  }

  Reserve reserve() {
    return reserve;
  }

  /**
   * Allocates the place of a blob, and one for the reserve, if that lacks one of the size and there
   * is room for both.
   *
   * @throws pando.fabric.PoolFullException if no memory server has room
   * @throws IllegalStateException if the space is closed
   */
  long allocate(Worker worker, long message, int sizeClass) {
    if (closed) {
      throw new IllegalStateException("the space for values is closed");
    }
    long address = allocateNow(worker, message, sizeClass);
    if (reserve.lacks(sizeClass)) {
      try {
        fillReserve(worker, message, sizeClass);
      } catch (Throwable e) {
        Closing.after(e, () -> allocators[sizeClass].free(worker, message, address));
        throw e;
      }
    }
    return address;
  }

  private void fillReserve(Worker worker, long message, int sizeClass) {
    try {
      free(worker, message, sizeClass, allocateNow(worker, message, sizeClass));
    } catch (PoolFullException _) {
      // There is none then until a value of this size is freed.
    }
  }

  /** Allocates a place for the reserve, if that lacks one of the size and there is room. */
  void keepPlace(Worker worker, long message, int sizeClass) {
    if (!closed && reserve.lacks(sizeClass)) {
      fillReserve(worker, message, sizeClass);
    }
  }

  private long allocateNow(Worker worker, long message, int sizeClass) {
    NodeAllocator allocator = allocators[sizeClass];
    int preferred = allocator.serverOfFreed(worker.random().nextInt(fabric.memoryServers()));
    return allocator.allocate(worker, message, preferred);
  }

  /** Frees the place of a blob; where the space is closed, gives it back to its memory server. */
  void free(Worker worker, long message, int sizeClass, long address) {
    if (!reserve.keep(sizeClass, address)) {
      allocators[sizeClass].free(worker, message, address);
    }
    if (closed) {
      trim(worker, message, sizeClass);
    }
  }

  /** Frees the place of a blob as {@link #free}, to end a loan of the reserve. */
  void repay(Worker worker, long message, int sizeClass, long address) {
    reserve.repay(sizeClass, address);
    if (closed) {
      trim(worker, message, sizeClass);
    }
  }

  private void trim(Worker worker, long message, int sizeClass) {
    long place = closed ? reserve.take(sizeClass) : Reserve.NONE;
    if (place != Reserve.NONE) {
      allocators[sizeClass].free(worker, message, place);
    }
    allocators[sizeClass].trim(worker, message);
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
    giveBack();
  }

  /**
   * Gives places that no blob is in back to the memory servers, except those to replace values in a
   * full pool.
   *
   * @throws PandoException as {@link #close}
   */
  public void giveBack() {
    Losses losses = new Losses();
    try (RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      for (int number = 0; number < allocators.length; number++) {
        int sizeClass = number;
        losses.defer(() -> trim(worker, 0, sizeClass));
      }
      synchronized (open) {
        closedVerbs.add(worker.counters());
      }
    }
    losses.rethrow();
  }
}
