package pando.index.sherman;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.index.Partitioning;
import pando.index.blink.BLinkServer;
import pando.index.blink.Totals;

/** What the sessions of one compute server share: its caches, its local locks, its free nodes. */
final class ShermanServer extends BLinkServer {
  private static final int SYSTEM = 0x5AE0_0000;
  private static final int TOP_FRAMES = 1_024;
  private static final int INCARNATION_SHIFT = 36;
  private static final int SERVER_SHIFT = 56;
  private static final int INCARNATION_BITS = 20;

  final ShermanOptions options;

  /** Whether each key belongs to one compute server. */
  final boolean partitioned;

  /** How torn nodes are told. */
  final Validation validation;

  final BLinkLayout layout;
  final LockTables locks;

  /** Copies of nodes of level 1. */
  final IndexCache lower;

  /** Copies of nodes a level below the root. */
  final IndexCache upper;

  /** A copy of the root. */
  final IndexCache top;

  private final AtomicLong stamps;
  private volatile long low = Long.MIN_VALUE;
  private volatile long high = Long.MAX_VALUE;

  ShermanServer(
      int number,
      Fabric fabric,
      ShermanOptions options,
      BLinkLayout layout,
      Validation validation,
      RandomGenerator random) {
    super(
        number,
        system(options, validation),
        fabric,
        layout.nodeBytes(),
        ShermanOptions.SESSIONS_MAX);
    this.options = options;
    this.partitioned = options.isPartitioned();
    this.layout = layout;
    this.validation = validation;
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

  @Override
  protected void clearUpper(Backoff backoff) {
    upper.clear(backoff);
    top.clear(backoff);
  }

  @Override
  protected void clearLower(Backoff backoff) {
    lower.clear(backoff);
  }

  @Override
  protected void count(Totals totals) {
    for (IndexCache cache : List.of(lower, upper, top)) {
      totals.addCache(cache.admissions(), cache.evictions());
    }
  }

  /** Takes over the keys of a partition. */
  @Override
  protected void own(Partitioning partitioning) {
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

  @Override
  public void close() {
    lower.close();
    upper.close();
    top.close();
  }
}
