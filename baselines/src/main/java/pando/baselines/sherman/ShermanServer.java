package pando.baselines.sherman;

import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import pando.baselines.blink.BLinkServer;
import pando.baselines.blink.IndexCache;
import pando.baselines.lock.LockTables;
import pando.fabric.Fabric;
import pando.index.Partitioning;
import pando.index.pool.PoolChange;

/**
 * One compute server of Sherman: its caches, local locks, stamps and free nodes, which its sessions
 * share.
 */
final class ShermanServer extends BLinkServer {
  private static final int SYSTEM = 0x5AE0_0000;
  private static final int TOP_FRAMES = 1_024;
  private static final int INCARNATION_SHIFT = 36;
  private static final int SERVER_SHIFT = 56;
  private static final int INCARNATION_BITS = 20;

  final ShermanOptions options;

  /** Whether each key belongs to one compute server. */
  final boolean partitioned;

  /** How readers detect torn nodes; never {@link ShermanValidation#AUTO}. */
  final ShermanValidation validation;

  final BLinkLayout layout;
  final LockTables locks;

  private final AtomicLong stamps;

  ShermanServer(
      int number,
      Fabric fabric,
      ShermanOptions options,
      BLinkLayout layout,
      ShermanValidation validation,
      RandomGenerator random) {
    this(
        number,
        fabric,
        options,
        layout,
        validation,
        random,
        new LockTables(fabric, options.locks(validation)));
  }

  private ShermanServer(
      int number,
      Fabric fabric,
      ShermanOptions options,
      BLinkLayout layout,
      ShermanValidation validation,
      RandomGenerator random,
      LockTables locks) {
    super(
        number,
        system(options, validation),
        fabric,
        layout.nodeBytes(),
        ShermanOptions.SESSIONS_MAX,
        IndexCache.of(
            layout.capacity(), (int) (options.cacheBytes() / layout.nodeBytes()), TOP_FRAMES, 1));
    this.options = options;
    this.partitioned = options.isPartitioned();
    this.layout = layout;
    this.validation = validation;
    this.locks = locks;
    // A later compute server with this number draws another incarnation.
    long incarnation = random.nextInt(1 << INCARNATION_BITS);
    this.stamps =
        new AtomicLong(((number + 1L) << SERVER_SHIFT) | (incarnation << INCARNATION_SHIFT));
  }

  /**
   * Returns the number of the system with these options. Compute servers can use one tree together
   * only if it is the same for all.
   */
  static int system(ShermanOptions options, ShermanValidation validation) {
    int locks = options.isPartitioned() ? 2 : options.onChipLocks() ? 1 : 0;
    return SYSTEM | (locks << Byte.SIZE) | validation.number();
  }

  /** Returns the number of the compute server that made a stamp. */
  static int numberOf(long stamp) {
    return (int) (stamp >>> SERVER_SHIFT) - 1;
  }

  /** Returns a stamp that no node has had before. */
  long nextStamp() {
    return stamps.incrementAndGet();
  }

  /**
   * {@inheritDoc} Drops all copies of inner nodes: an old one may say that a node lies in this
   * compute server's range which has grown beyond it since, when both were another's.
   */
  @Override
  protected void takeOn(PoolChange change, Partitioning table) {
    setRange(table);
    forget(change.worker().backoff());
  }

  /**
   * Returns whether only this compute server writes nodes that cover these keys, so that they need
   * no global lock. That does not change while the partitioning stays: splits narrow the fences,
   * and no merge crosses a partition.
   */
  boolean owns(long from, long to) {
    return partitioned && from >= low() && to <= high();
  }

  /**
   * Returns whether another compute server may write a node that covers these keys under its local
   * lock only.
   */
  boolean isForeign(long from, long to) {
    return partitioned && (to < low() || from > high());
  }
}
