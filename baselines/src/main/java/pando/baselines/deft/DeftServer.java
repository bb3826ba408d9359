package pando.baselines.deft;

import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.baselines.blink.BLinkServer;
import pando.baselines.blink.IndexCache;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.fabric.memory.Closing;
import pando.index.bugs.PlantedBug;
import pando.index.pool.Catalogue;

/** One compute server of DEFT: its caches, free nodes and stamps, which its sessions share. */
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
  final Drains drains;

  private final AtomicLong stamps;

  /** Of the first compute server of a process. */
  private @Nullable Drainer drainer;

  /**
   * Creates a compute server.
   *
   * @param drains of the process
   */
  DeftServer(
      int number,
      Fabric fabric,
      DeftOptions options,
      DeftValidation validation,
      RandomGenerator random,
      Drains drains) {
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
    this.locks = new LockWords(fabric);
    this.drains = drains;
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

  /** Takes part in drains for {@code count} compute servers of this process, from this one on. */
  void takePartInDrains(Fabric fabric, int count) {
    drainer = new Drainer(this, fabric, drains, number, count, this::gate);
  }

  @Override
  protected void open(Catalogue catalogue, long root) {
    if (drainer != null) {
      drainer.join();
    }
  }

  /** {@inheritDoc} Those of drains are no operation's: none. */
  @Override
  protected VerbCounters verbs() {
    return new VerbCounters();
  }

  @Override
  public void close() {
    Drainer own = drainer;
    Closing.all(
        () -> {
          if (own != null) {
            own.leave();
          }
        },
        super::close);
  }

  /** Returns a stamp that no leaf has had before. */
  long nextStamp() {
    return PlantedBug.FIXED_VERSION ? 1 : stamps.incrementAndGet();
  }
}
