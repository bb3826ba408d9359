package pando.baselines.deft;

import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import pando.baselines.blink.BLinkServer;
import pando.baselines.blink.IndexCache;
import pando.fabric.Fabric;
import pando.index.bugs.PlantedBug;

/**
 * One compute server of DEFT: its caches, free nodes, stamps and abandoned tickets, which its
 * sessions share.
 */
final class DeftServer extends BLinkServer {
  private static final int SYSTEM = 0xDEF7_0000;
  private static final int HASHED = 1 << 8;
  private static final int SX = 1 << 9;
  private static final int TOP_FRAMES = 4_096;

  /*
   * Bits of a stamp: compute server 7, incarnation 16, count 35. The incarnation is drawn at
   * random, so that a later compute server with this number has other stamps.
   */
  private static final int INCARNATION_SHIFT = 35;
  private static final int INCARNATION_BITS = 16;
  private static final int SERVER_SHIFT = INCARNATION_SHIFT + INCARNATION_BITS;

  final DeftOptions options;
  final DeftValidation validation;
  final DeftLeafLayout leaves;
  final InnerLayout inners;
  final LockWords locks;
  final AbandonedTickets abandoned = new AbandonedTickets();

  private final AtomicLong stamps;

  DeftServer(
      int number,
      Fabric fabric,
      DeftOptions options,
      DeftValidation validation,
      RandomGenerator random) {
    this(number, fabric, options, validation, random, new LockWords(fabric));
  }

  private DeftServer(
      int number,
      Fabric fabric,
      DeftOptions options,
      DeftValidation validation,
      RandomGenerator random,
      LockWords locks) {
    super(
        number,
        system(options, validation),
        fabric,
        options.nodeBytes(),
        DeftOptions.SESSIONS_MAX,
        IndexCache.of(options.copyChildren(), options.copies(), TOP_FRAMES, DeftShape.QUARTERS));
    this.options = options;
    this.validation = validation;
    this.inners = new InnerLayout(options.nodeBytes(), options.segments());
    this.leaves = new DeftLeafLayout(options.nodeBytes(), options.hashLeaves());
    this.locks = locks;
    long incarnation = random.nextInt(1 << INCARNATION_BITS);
    this.stamps =
        new AtomicLong(((number + 1L) << SERVER_SHIFT) | (incarnation << INCARNATION_SHIFT));
  }

  /**
   * Returns the number of the system with these options. Compute servers can use one tree together
   * only if it is the same for all.
   */
  static int system(DeftOptions options, DeftValidation validation) {
    return SYSTEM
        | (options.hashLeaves() ? HASHED : 0)
        | (options.sxLocks() ? SX : 0)
        | validation.number();
  }

  /** Returns a stamp that no leaf has had before. */
  long nextStamp() {
    return PlantedBug.FIXED_VERSION ? 1 : stamps.incrementAndGet();
  }
}
