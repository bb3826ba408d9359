package pando.index.sherman;

import java.util.BitSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.pool.NodeAllocator;
import pando.index.Partitioning;
import pando.index.pool.NodePlaces;

/** What the sessions of one compute server share: its caches, its local locks, its free nodes. */
final class ShermanServer implements AutoCloseable {
  private static final int SYSTEM = 0x5AE0_0000;
  private static final int TOP_FRAMES = 1_024;
  private static final int INCARNATION_SHIFT = 36;
  private static final int SERVER_SHIFT = 56;
  private static final int INCARNATION_BITS = 20;

  final int number;

  /** Tells a pool with this kind of tree in it. */
  final int system;

  final ShermanOptions options;

  /** Whether each key belongs to one compute server. */
  final boolean partitioned;

  final BLinkLayout layout;
  final NodePlaces places;
  final NodeAllocator allocator;
  final LockTables locks;

  /** Copies of nodes of level 1. */
  final IndexCache lower;

  /** Copies of nodes a level below the root. */
  final IndexCache upper;

  /** A copy of the root. */
  final IndexCache top;

  private final AtomicLong stamps;
  private final BitSet sessions = new BitSet();
  private volatile long root;
  private volatile long low = Long.MIN_VALUE;
  private volatile long high = Long.MAX_VALUE;

  ShermanServer(
      int number,
      Fabric fabric,
      ShermanOptions options,
      BLinkLayout layout,
      Validation validation,
      RandomGenerator random) {
    this.number = number;
    this.system = system(options, validation);
    this.options = options;
    this.partitioned = options.isPartitioned();
    this.layout = layout;
    this.places = new NodePlaces(fabric, layout.nodeBytes());
    this.allocator = new NodeAllocator(fabric.memoryServers(), layout.nodeBytes());
    this.locks = new LockTables(fabric, options, validation);
    this.lower = new IndexCache(layout, (int) (options.cacheBytes() / layout.nodeBytes()));
    this.upper = new IndexCache(layout, TOP_FRAMES);
    this.top = new IndexCache(layout, 1);
    // A server that comes back under its number draws another incarnation.
    long incarnation = random.nextInt(1 << INCARNATION_BITS);
    this.stamps =
        new AtomicLong(((number + 1L) << SERVER_SHIFT) | (incarnation << INCARNATION_SHIFT));
  }

  /** Returns a number that differs where trees cannot be used together. */
  static int system(ShermanOptions options, Validation validation) {
    int locks = options.isPartitioned() ? 2 : options.onChipLocks() ? 1 : 0;
    return SYSTEM | (locks << Byte.SIZE) | validation.number();
  }

  /** Returns a stamp that no node ever had. */
  long nextStamp() {
    return stamps.incrementAndGet();
  }

  /** Returns the root pointer as it was last seen, 0 where it is not known. */
  long root() {
    return root;
  }

  /** Takes note of the root pointer. */
  void setRoot(long seen, Backoff backoff) {
    if (seen != root) {
      root = seen;
      // What was below the root before may be two levels below it now.
      upper.clear(backoff);
      top.clear(backoff);
    }
  }

  /** Takes over the keys of a partition. */
  void own(Partitioning partitioning) {
    low = partitioning.lowOfServer(number);
    high = partitioning.highOfServer(number);
  }

  /**
   * Tells whether nobody but this compute server writes nodes that cover these keys, so that no
   * global lock is needed. Once so, it stays so: fences move apart, and no merge crosses a
   * partition.
   */
  boolean owns(long from, long to) {
    return partitioned && from >= low && to <= high;
  }

  /**
   * Tells whether a node that covers these keys may be written under another's local lock alone.
   */
  boolean isForeign(long from, long to) {
    return partitioned && (to < low || from > high);
  }

  /** Gives a new session a number. */
  synchronized int openSession() {
    int session = sessions.nextClearBit(0);
    if (session >= ShermanOptions.SESSIONS_MAX) {
      throw new IllegalStateException(
          "too many sessions: computeServer=" + number + ", maximum=" + session);
    }
    sessions.set(session);
    return session;
  }

  synchronized void closeSession(int session) {
    sessions.clear(session);
  }

  @Override
  public void close() {
    lower.close();
    upper.close();
    top.close();
  }
}
