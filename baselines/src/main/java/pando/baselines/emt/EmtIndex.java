package pando.baselines.emt;

import java.util.random.RandomGenerator;
import pando.fabric.Fabric;
import pando.index.Session;
import pando.index.host.HostedIndex;
import pando.index.host.LockingSession;
import pando.index.host.Replaced;
import pando.index.load.Loader;
import pando.index.pool.Arguments;
import pando.index.pool.PoolChange;

/**
 * EMT-D, with one or more compute servers in this process: a tree in each memory server, for a range
 * of keys. Every compute server serves every key, by CALLs to the memory server that has it.
 */
@SuppressWarnings("exports") // The base is the module's own; what it makes public is this class's.
public final class EmtIndex extends HostedIndex<EmtServer, EmtWorker> {
  private static final int SYSTEM = 0x80E7_0000;

  private final EmtOptions options;

  EmtIndex(Fabric fabric, EmtOptions options, int first, int count) {
    super(fabric, options, first, count, (server, session) -> open(server, fabric, session));
    this.options = options;
    Arguments.checkHandlers(fabric, name(), EmtHandler.FUNCTION);
  }

  private static EmtWorker open(EmtServer server, Fabric fabric, int session) {
    return new EmtWorker(server, new EmtContext(server, fabric, session), session);
  }

  /** Returns the number of the system. */
  static int number() {
    return SYSTEM;
  }

  @Override
  protected Session session(int home) {
    return new LockingSession<>(this, home);
  }

  @Override
  protected int system() {
    return SYSTEM;
  }

  @Override
  protected String kind() {
    return name();
  }

  @Override
  protected EmtServer server(int number, RandomGenerator random) {
    return new EmtServer(number, fabric(), options);
  }

  @Override
  protected Loader loader(EmtServer server, double fill) {
    return new EmtLoader(server, fabric(), fill);
  }

  @Override
  protected Replaced replaced(PoolChange change, EmtServer server) {
    return new EmtReplaced(change, server);
  }
}
