package pando.index.blink;

import java.util.BitSet;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.pool.NodeAllocator;
import pando.index.Partitioning;
import pando.index.cache.IndexCache;
import pando.index.pool.NodePlaces;

/**
 * What the sessions of one compute server share: its free nodes, the root as it was last seen, and
 * copies of inner nodes. Thread-safe.
 */
public abstract class BLinkServer implements AutoCloseable {
  /** Tells it from the other compute servers of the index. */
  public final int number;

  /** Tells a pool with this kind of tree in it. */
  public final int system;

  /** Knows where a node can be. */
  public final NodePlaces places;

  /** Has nodes to give, and takes them back. */
  public final NodeAllocator allocator;

  /** Copies of level 1. */
  public final IndexCache lower;

  /** Copies of the level below the root. */
  public final IndexCache upper;

  /** A copy of the root. */
  public final IndexCache top;

  private final int sessionsMax;
  private final BitSet sessions = new BitSet();
  private volatile long root;

  /**
   * Creates a compute server that has seen no root yet.
   *
   * @param system number of the system whose index it is
   * @param sessionsMax sessions that it can have at a time
   * @param lower to hold copies of level 1; this and the others are closed with the compute server
   * @param upper to hold copies of the level below the root
   * @param top to hold a copy of the root
   */
  protected BLinkServer(
      int number,
      int system,
      Fabric fabric,
      int nodeBytes,
      int sessionsMax,
      IndexCache lower,
      IndexCache upper,
      IndexCache top) {
    this.number = number;
    this.system = system;
    this.places = new NodePlaces(fabric, nodeBytes);
    this.allocator = new NodeAllocator(fabric.memoryServers(), nodeBytes);
    this.sessionsMax = sessionsMax;
    this.lower = lower;
    this.upper = upper;
    this.top = top;
  }

  /** Takes note of how keys are divided. Here nothing: every compute server serves every key. */
  protected void own(Partitioning partitioning) {}

  /** Returns the root pointer as it was last seen, 0 where it is not known. */
  public final long root() {
    return root;
  }

  /** Takes note of the root pointer; 0 has the next descent read it. */
  public final void setRoot(long seen, Backoff backoff) {
    if (seen != root) {
      root = seen;
      // What was below the root before may be two levels below it now.
      upper.clear(backoff);
      top.clear(backoff);
    }
  }

  /** Forgets the tree: another has taken its place. */
  final void forget(Backoff backoff) {
    setRoot(0, backoff);
    lower.clear(backoff);
  }

  /**
   * Gives a new session the least number that is free.
   *
   * @throws IllegalStateException where there are as many sessions as there can be
   */
  public final synchronized int openSession() {
    int session = sessions.nextClearBit(0);
    if (session >= sessionsMax) {
      throw new IllegalStateException(
          "too many sessions: computeServer=" + number + ", maximum=" + sessionsMax);
    }
    sessions.set(session);
    return session;
  }

  /** Takes a session's number back. */
  public final synchronized void closeSession(int session) {
    sessions.clear(session);
  }

  /** Lets go of its caches. Does nothing where that was done before. */
  @Override
  public final void close() {
    lower.close();
    upper.close();
    top.close();
  }
}
