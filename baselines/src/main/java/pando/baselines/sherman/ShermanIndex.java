package pando.baselines.sherman;

import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.index.Partitioning;
import pando.index.Session;
import pando.index.host.HostedIndex;
import pando.index.host.LockingSession;
import pando.index.host.Parting;
import pando.index.host.Replaced;
import pando.index.load.Loader;
import pando.index.pool.PoolChange;

/**
 * Sherman, FG+ or P-Sherman: a B-link tree, with one or more compute servers in this process. A
 * fabric connects them to memory servers, which may serve other processes, too.
 *
 * <p>Without partitions, every compute server serves every key, and new sessions go to the compute
 * servers of this process in turn. With partitions, one compute server serves a key, and a session
 * can only operate on keys of this process's compute servers. Ranges then move while operations
 * run.
 */
@SuppressWarnings("exports") // The base is the module's own; what it makes public is this class's.
public final class ShermanIndex extends HostedIndex<ShermanServer, ShermanWorker> {
  private final ShermanOptions options;
  private final ShermanValidation validation;
  private final BLinkLayout layout;

  ShermanIndex(Fabric fabric, ShermanOptions options, int first, int count) {
    super(fabric, options, first, count, (server, session) -> open(server, fabric, session));
    this.options = options;
    this.validation = resolve(fabric, options);
    this.layout = new BLinkLayout(options.nodeBytes());
  }

  /** Prepares an index with one compute server here, as {@link ShermanOptions#createAt} says. */
  ShermanIndex(Fabric fabric, ShermanOptions options, int number) {
    super(fabric, options, number, (server, session) -> open(server, fabric, session));
    this.options = options;
    this.validation = resolve(fabric, options);
    this.layout = new BLinkLayout(options.nodeBytes());
  }

  private static ShermanWorker open(ShermanServer server, Fabric fabric, int session) {
    ShermanContext context = new ShermanContext(server, fabric, session);
    return new ShermanWorker(server, context, session);
  }

  /**
   * Creates an empty index in a pool that has none, with all compute servers in this process.
   *
   * @throws pando.fabric.PoolFullException if the pool has less room than an index needs
   * @throws IllegalStateException if the pool holds an index already
   * @throws IllegalArgumentException if the fabric lacks what the options need
   */
  public static ShermanIndex create(Fabric fabric, ShermanOptions options) {
    return options.create(fabric, 0, options.computeServers());
  }

  /**
   * Returns the validation for a fabric, after checking that the fabric has the capabilities it
   * needs.
   */
  static ShermanValidation resolve(Fabric fabric, ShermanOptions options) {
    return options.validation().on(fabric, options.isPartitioned());
  }

  /** Returns how readers detect torn nodes, with {@link ShermanValidation#AUTO} resolved. */
  public ShermanValidation validation() {
    return validation;
  }

  @Override
  protected Session session(int home) {
    return new LockingSession<>(this, home);
  }

  @Override
  protected int system() {
    return ShermanServer.system(options, validation);
  }

  @Override
  protected String kind() {
    return name() + " with validation=" + validation;
  }

  @Override
  protected ShermanServer server(int number, RandomGenerator random) {
    return new ShermanServer(number, fabric(), options, layout, validation, random);
  }

  @Override
  protected Loader loader(ShermanServer server, double fill) {
    return new ShermanBuilder(server, fabric(), fill);
  }

  @Override
  protected Replaced replaced(PoolChange change, ShermanServer server) {
    return new ShermanEmptyTree(change, server);
  }

  @Override
  protected Parting part(PoolChange change, ShermanServer giver, long key, boolean upper) {
    return Parting.at(() -> new ShermanFences(change, giver).fence(key));
  }

  @Override
  protected Parting partHalf(PoolChange change, ShermanServer giver) {
    return Parting.at(
        () -> new ShermanFences(change, giver).middleFence(giver.low(), giver.high()));
  }

  @Override
  protected Parting partWhole(PoolChange change, ShermanServer giver) {
    return Parting.at(giver::low);
  }

  @Override
  protected long changeBytes() {
    return ShermanBurial.bytes(layout);
  }

  @Override
  protected void bury(PoolChange change, int lost) {
    boolean isPartitioned = options.isPartitioned();
    Partitioning table = partitioning();
    long low = isPartitioned ? table.lowOfServer(lost) : Long.MIN_VALUE;
    long high = isPartitioned ? table.highOfServer(lost) : Long.MAX_VALUE;
    new ShermanBurial(change, anyServer(), fabric(), lost, low, high).bury();
  }

  /** {@inheritDoc} The pool has all there is of them. */
  @Override
  protected Parting partLost(PoolChange change, ShermanServer heir, int lost) {
    return Parting.at(() -> partitioning().lowOfServer(lost));
  }

  /** Opens a worker of a compute server, or returns {@code null} if that is not in this process. */
  @Nullable ShermanWorker worker(int number) {
    return openWorker(number);
  }
}
