package pando.index.host;

import java.util.BitSet;
import pando.fabric.Backoff;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.index.Partitioning;
import pando.index.session.Gate;

/** What the sessions of one compute server share. Thread-safe. */
public abstract class HostedServer implements AutoCloseable {
  /** Tells it from the other compute servers of the index. */
  public final int number;

  /** Tells a pool with this kind of index in it. */
  public final int system;

  /** Shut while the index is changed as a whole; the same for all its compute servers. */
  Gate gate = new Gate();

  private final int sessionsMax;
  private final BitSet sessions = new BitSet();

  /**
   * Creates a compute server without sessions.
   *
   * @param system number of the system whose index it is
   * @param sessionsMax sessions that it can have at a time
   */
  protected HostedServer(int number, int system, int sessionsMax) {
    this.number = number;
    this.system = system;
    this.sessionsMax = sessionsMax;
  }

  /** Notes how keys are divided. Default: nothing, as every compute server serves every key. */
  protected void own(Partitioning partitioning) {}

  /** Forgets all copies of the index, after another has replaced it. */
  protected abstract void forget(Backoff backoff);

  /** Returns the bytes of the pool that hold its nodes, freed ones that wait not counted. */
  protected abstract long poolBytes();

  /** Returns the bytes that it holds in caches of nodes, models and tables, open or closed. */
  protected abstract long cachedBytes();

  /**
   * Gives back to the pool what it has allocated and does not use.
   *
   * @param message local offset of room for the message of a CALL
   */
  protected abstract void trim(Worker worker, long message);

  /** Returns what its caches have taken in. */
  protected abstract long admissions();

  /** Returns what its caches have evicted to make room. */
  protected abstract long evictions();

  /** Returns the verbs of its background tasks. Default: none. */
  protected VerbCounters verbs() {
    return new VerbCounters();
  }

  /**
   * Waits for the step of each background task that is under way; none begins before {@link
   * #resume}.
   */
  protected void pause(Backoff backoff) {}

  /** Lets background tasks go on, after a {@link #pause} or without one. */
  protected void resume() {}

  /**
   * Stops background tasks and waits for them. Called once, before workers close. Must not throw.
   * Default: no tasks.
   */
  protected void stop() {}

  /**
   * Gives a new session the least number that is free.
   *
   * @throws IllegalStateException where there are as many sessions as there can be
   */
  final synchronized int openSession() {
    int session = sessions.nextClearBit(0);
    if (session >= sessionsMax) {
      throw new IllegalStateException(
          "too many sessions: computeServer=" + number + ", maximum=" + sessionsMax);
    }
    sessions.set(session);
    return session;
  }

  /** Takes a session's number back. */
  final synchronized void closeSession(int session) {
    sessions.clear(session);
  }

  /** Frees its local memory. Does nothing the second time. */
  @Override
  public abstract void close();
}
