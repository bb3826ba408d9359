package pando.baselines.rolex;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.random.RandomGenerator;
import pando.fabric.Fabric;
import pando.index.Meters;
import pando.index.Session;
import pando.index.TaskCounts;
import pando.index.host.HostedIndex;
import pando.index.host.LockingSession;
import pando.index.host.Replaced;
import pando.index.load.Loader;
import pando.index.pool.Arguments;
import pando.index.pool.PoolChange;

/**
 * ROLEX or XStore-D: a learned index, with one or more compute servers in this process. A fabric
 * connects them to memory servers, which may serve other processes, too.
 *
 * <p>Every compute server serves every key. New sessions go to the compute servers of this process
 * in turn. Background tasks of each compute server retrain the models that its sessions find due.
 */
@SuppressWarnings("exports") // The base is the module's own; what it makes public is this class's.
public final class RolexIndex extends HostedIndex<RolexServer, RolexWorker> {
  private final RolexOptions options;
  private final List<RolexServer> servers = new CopyOnWriteArrayList<>();

  RolexIndex(Fabric fabric, RolexOptions options, int first, int count) {
    super(fabric, options, first, count, (server, session) -> open(server, fabric, session));
    this.options = options;
    if (options.writesByCall()) {
      Arguments.checkHandlers(fabric, name(), RolexWrites.FUNCTION);
    }
  }

  private static RolexWorker open(RolexServer server, Fabric fabric, int session) {
    RolexContext context = new RolexContext(server, fabric, session);
    return new RolexWorker(server, context, session);
  }

  /**
   * Makes an empty index in a pool that has none, with every compute server in this process.
   *
   * @throws IllegalStateException if the pool holds an index already
   * @throws IllegalArgumentException if the fabric lacks what the options need
   */
  public static RolexIndex create(Fabric fabric, RolexOptions options) {
    return options.create(fabric, 0, options.computeServers());
  }

  @Override
  protected Session session(int home) {
    return new LockingSession<>(this, home);
  }

  @Override
  protected int system() {
    return RolexServer.system(options);
  }

  @Override
  protected String kind() {
    return name() + " with epsilon=" + options.epsilon() + ", delta=" + options.delta();
  }

  /** Runs of every length, synonym leaves, and pages of models. */
  @Override
  protected int[] nodeSizes() {
    return RunAllocator.sizes(options);
  }

  @Override
  protected RolexServer server(int number, RandomGenerator random) {
    RolexServer server = new RolexServer(number, fabric(), options, random);
    servers.add(server);
    return server;
  }

  /** Returns how retraining has gone at the compute servers of this process. */
  public TaskCounts retrainings() {
    return servers.stream().map(RolexServer::retrainings).reduce(TaskCounts.NONE, TaskCounts::plus);
  }

  @Override
  public void meters(Meters to) {
    super.meters(to);
    to.tasks("retrain", this::retrainings);
  }

  @Override
  protected Loader loader(RolexServer server, double fill) {
    return new RolexLoader(server, fabric(), fill);
  }

  @Override
  protected void bury(PoolChange change, int lost) {
    RolexBurial.bury(anyServer(), fabric(), lost);
  }

  @Override
  protected Replaced replaced(PoolChange change, RolexServer server) {
    return new RolexReplaced(change, server);
  }
}
