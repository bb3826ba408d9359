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

  /** Takes note of how keys are divided. Here nothing: every compute server serves every key. */
  protected void own(Partitioning partitioning) {}

  /** Forgets the index: another has taken its place. */
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

  /** Returns what its caches have let go of to make room. */
  protected abstract long evictions();

  /** Returns the verbs that it has issued by itself, beside its workers. Here none. */
  protected VerbCounters verbs() {
    return new VerbCounters();
  }

  /** Waits for what it does by itself, and begins nothing until {@link #resume}. */
  protected void pause(Backoff backoff) {}

  /** Goes on, with an index that is a new one. */
  protected void resume() {}

  /**
   * Ends what it does by itself, and waits until that has ended. Called once, before its workers
   * end; throws nothing, as all else is to end behind it. Here nothing: sessions do all that is
   * done.
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

  /** Lets go of its memory. Does nothing where that was done before. */
  @Override
  public abstract void close();
}
