package pando.baselines.smart;

import java.util.random.RandomGenerator;
import pando.fabric.Fabric;
import pando.index.Session;
import pando.index.host.Epochs;
import pando.index.host.HostedIndex;
import pando.index.host.LockingSession;
import pando.index.host.Parting;
import pando.index.host.Replaced;
import pando.index.load.Loader;
import pando.index.pool.PoolChange;

/**
 * SMART or P-SMART: a radix tree, with one or more compute servers in this process. A fabric
 * connects them to memory servers, which may serve other processes, too.
 */
@SuppressWarnings("exports") // The base is the module's own; what it makes public is this class's.
public final class SmartIndex extends HostedIndex<SmartServer, SmartWorker> {
  private final SmartOptions options;

  SmartIndex(Fabric fabric, SmartOptions options, int first, int count) {
    super(fabric, options, first, count, (server, session) -> open(server, fabric, session));
    this.options = options;
    checkPool(fabric);
  }

  /** Prepares an index with one compute server here, as {@link SmartOptions#createAt} says. */
  SmartIndex(Fabric fabric, SmartOptions options, int number) {
    super(fabric, options, number, (server, session) -> open(server, fabric, session));
    this.options = options;
    checkPool(fabric);
  }

  private static SmartWorker open(SmartServer server, Fabric fabric, int session) {
    return new SmartWorker(server, new SmartContext(server, fabric, session), session);
  }

  /** Checks that slots can name all places of a pool. */
  private void checkPool(Fabric fabric) {
    long most = 0;
    for (int server = 0; server < fabric.memoryServers(); server++) {
      most = Math.max(most, fabric.dramBytes(server));
    }
    if (fabric.memoryServers() > Slot.SERVERS_MAX || most > Slot.SERVER_BYTES_MAX) {
      throw new IllegalArgumentException(
          "a pool that slots of %s cannot name: memoryServers=%s, greatest=%s, bytes=%s, greatest=%s"
              .formatted(
                  name(), fabric.memoryServers(), Slot.SERVERS_MAX, most, Slot.SERVER_BYTES_MAX));
    }
  }

  /**
   * Creates an empty index in a pool that has none, with all compute servers in this process.
   *
   * @throws pando.fabric.PoolFullException if the pool has less room than an index needs
   * @throws IllegalStateException if the pool holds an index already
   */
  public static SmartIndex create(Fabric fabric, SmartOptions options) {
    return options.create(fabric, 0, options.computeServers());
  }

  @Override
  protected Session session(int home) {
    return new LockingSession<>(this, home);
  }

  @Override
  protected int system() {
    return SmartServer.system(options);
  }

  @Override
  protected String kind() {
    return "%s with reserve=%s, check=%s".formatted(name(), options.reserve(), options.copyCheck());
  }

  @Override
  protected int[] nodeSizes() {
    return Reserve.sizes();
  }

  @Override
  protected int rootBytes() {
    return NodeLayout.BYTES_MAX;
  }

  @Override
  protected long changeBytes() {
    return SmartReplaced.LOCAL_BYTES;
  }

  @Override
  protected SmartServer server(int number, RandomGenerator random) {
    return new SmartServer(number, fabric(), options, random);
  }

  @Override
  protected Loader loader(SmartServer server, double fill) {
    return new SmartLoader(server, fabric());
  }

  @Override
  protected Replaced replaced(PoolChange change, SmartServer server) {
    return new SmartReplaced(change, server);
  }

  @Override
  protected Parting part(PoolChange change, SmartServer giver, long key, boolean upper) {
    return Parting.at(() -> key);
  }

  @Override
  protected Parting partHalf(PoolChange change, SmartServer giver) {
    return Parting.at(() -> new SmartBounds(change, giver).middle(giver.low(), giver.high()));
  }

  @Override
  protected Parting partWhole(PoolChange change, SmartServer giver) {
    return Parting.at(giver::low);
  }

  @Override
  protected void bury(PoolChange change, int lost) {
    SmartServer server = anyServer();
    Epochs.bury(change, lost);
    // One that joins has not been opened yet.
    server.open(change.catalogue(), change.catalogue().root());
    long low = options.isPartitioned() ? partitioning().lowOfServer(lost) : Long.MIN_VALUE;
    long high = options.isPartitioned() ? partitioning().highOfServer(lost) : Long.MAX_VALUE;
    SmartBurial.bury(server, fabric(), lost, low, high);
  }

  /** {@inheritDoc} The pool has all there is of them. */
  @Override
  protected Parting partLost(PoolChange change, SmartServer heir, int lost) {
    return Parting.at(() -> partitioning().lowOfServer(lost));
  }
}
