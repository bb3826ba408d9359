package pando.baselines.blink;

import java.util.List;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.fabric.pool.NodeAllocator;
import pando.index.CacheCounters;
import pando.index.PoolPart;
import pando.index.host.HostedServer;
import pando.index.pool.KeptNodes;
import pando.index.pool.NodePlaces;

/**
 * What the sessions of one compute server share: its free nodes, the root as it was last seen, and
 * copies of inner nodes. Thread-safe.
 */
public abstract class BLinkServer extends HostedServer {
  /** Checks where a node can be. */
  public final NodePlaces places;

  /** Allocates and frees nodes. */
  public final NodeAllocator allocator;

  /** Copies of level-1 nodes. */
  public final IndexCache lower;

  /** Copies of nodes of the level below the root. */
  public final IndexCache upper;

  /** A copy of the root. */
  public final IndexCache top;

  final int nodeBytes;
  private volatile long root;

  /**
   * Creates a compute server that has seen no root yet.
   *
   * @param system number of the system whose index it is
   * @param sessionsMax maximum number of open sessions
   * @param caches for copies of level 1, of the level below the root, and of the root; closed with
   *     the compute server
   */
  protected BLinkServer(
      int number,
      int system,
      Fabric fabric,
      int nodeBytes,
      int sessionsMax,
      List<IndexCache> caches) {
    super(number, system, sessionsMax);
    this.places = new NodePlaces(fabric, nodeBytes);
    this.allocator = NodeAllocator.lasting(fabric.memoryServers(), nodeBytes);
    this.nodeBytes = nodeBytes;
    this.lower = caches.get(0);
    this.upper = caches.get(1);
    this.top = caches.get(2);
  }

  /** Returns the root pointer as it was last seen, 0 if it is not known. */
  public final long root() {
    return root;
  }

  /** Sets the root pointer as it was seen. After 0, the next descent reads it. */
  public final void setRoot(long seen, Backoff backoff) {
    if (seen != root) {
      root = seen;
      // The level below the old root may be two levels below the new one.
      upper.clear(backoff);
      top.clear(backoff);
    }
  }

  @Override
  protected final void forget(Backoff backoff) {
    setRoot(0, backoff);
    lower.clear(backoff);
  }

  @Override
  protected final long poolBytes() {
    return allocator.nodesInUse() * nodeBytes;
  }

  @Override
  protected final List<PoolPart> kept() {
    return KeptNodes.of(allocator);
  }

  @Override
  protected final long cachedBytes() {
    return lower.bytes() + upper.bytes() + top.bytes();
  }

  @Override
  protected final void trim(Worker worker, long message) {
    allocator.trim(worker, message);
  }

  @Override
  protected final CacheCounters events() {
    return CacheCounters.ofNodes(
        lower.admissions() + upper.admissions() + top.admissions(),
        lower.evictions() + upper.evictions() + top.evictions());
  }

  @Override
  public void close() {
    Closing.all(lower::close, upper::close, top::close);
  }
}
