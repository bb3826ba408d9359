package pando.baselines.deft;

import java.util.random.RandomGenerator;
import pando.fabric.Fabric;
import pando.index.Session;
import pando.index.host.HostedIndex;
import pando.index.host.LockingSession;
import pando.index.host.Replaced;
import pando.index.load.Loader;
import pando.index.pool.PoolChange;

/**
 * DEFT: a B-link tree, with one or more compute servers in this process. A fabric connects them to
 * memory servers, which may serve other processes, too.
 *
 * <p>Every compute server serves every key. New sessions go to the compute servers of this process
 * in turn.
 */
@SuppressWarnings("exports") // The base is the module's own; what it makes public is this class's.
public final class DeftIndex extends HostedIndex<DeftServer, DeftWorker> {
  private final DeftOptions options;
  private final DeftValidation validation;
  final Drains drains = new Drains();
  private final int first;
  private final int count;

  DeftIndex(Fabric fabric, DeftOptions options, int first, int count) {
    super(fabric, options, first, count, (server, session) -> open(server, fabric, session));
    this.options = options;
    this.validation = resolve(fabric, options);
    this.first = first;
    this.count = count;
  }

  private static DeftWorker open(DeftServer server, Fabric fabric, int session) {
    DeftContext context = new DeftContext(server, fabric, session);
    return new DeftWorker(server, context, session, fabric.capabilities().cas16());
  }

  /**
   * Creates an empty index in a pool that has none, with all compute servers in this process.
   *
   * @throws pando.fabric.PoolFullException if the pool has less room than an index needs
   * @throws IllegalStateException if the pool holds an index already
   * @throws IllegalArgumentException if the fabric lacks what the options need
   */
  public static DeftIndex create(Fabric fabric, DeftOptions options) {
    return options.create(fabric, 0, options.computeServers());
  }

  /**
   * Returns the validation for a fabric, after checking that the fabric has the capabilities it
   * needs.
   */
  static DeftValidation resolve(Fabric fabric, DeftOptions options) {
    if (fabric.memoryServers() > ChildPointer.SERVERS_MAX) {
      throw new IllegalArgumentException(
          "pointers name no more memory servers: memoryServers=%s, greatest=%s"
              .formatted(fabric.memoryServers(), ChildPointer.SERVERS_MAX));
    }
    for (int server = 0; server < fabric.memoryServers(); server++) {
      if (fabric.dramBytes(server) > ChildPointer.DRAM_BYTES_MAX) {
        throw new IllegalArgumentException(
            "pointers reach no further: memoryServer=%s, dramBytes=%s, greatest=%s"
                .formatted(server, fabric.dramBytes(server), ChildPointer.DRAM_BYTES_MAX));
      }
    }
    return options.validation().on(fabric, options.sxLocks());
  }

  /** Returns how readers detect torn nodes, with {@link DeftValidation#AUTO} resolved. */
  public DeftValidation validation() {
    return validation;
  }

  @Override
  protected Session session(int home) {
    return new LockingSession<>(this, home);
  }

  @Override
  protected int system() {
    return DeftServer.system(options, validation);
  }

  @Override
  protected String kind() {
    return name() + " with validation=" + validation;
  }

  @Override
  protected DeftServer server(int number, RandomGenerator random) {
    DeftServer server = new DeftServer(number, fabric(), options, validation, random, drains);
    if (number == first) {
      server.takePartInDrains(fabric(), count);
    }
    return server;
  }

  @Override
  protected Loader loader(DeftServer server, double fill) {
    return new DeftBuilder(server, fabric(), fill);
  }

  /** {@inheritDoc} All processes do it together, soon. */
  @Override
  protected void bury(PoolChange change, int lost) {
    try (DrainWords words = new DrainWords(fabric())) {
      words.bury(lost);
    }
    drains.wake();
  }

  @Override
  protected Replaced replaced(PoolChange change, DeftServer server) {
    return new DeftEmptyTree(change, server);
  }
}
