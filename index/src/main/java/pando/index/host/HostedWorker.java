package pando.index.host;

import pando.fabric.Backoff;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbCounters;
import pando.index.EntryVisitor;
import pando.index.session.Gate;
import pando.index.session.LeafScan;
import pando.index.session.NeighbourSearch;
import pando.index.session.Operation;

/** One session's operations at one compute server. For the session's thread alone. */
public abstract class HostedWorker {
  private final HostedServer server;
  private final int session;
  private final WorkerContext context;
  private final Gate.Pass pass;

  /**
   * Creates a worker.
   *
   * @param session number of the session at its compute server
   * @param context is closed with the worker
   */
  protected HostedWorker(HostedServer server, int session, WorkerContext context) {
    this.server = server;
    this.session = session;
    this.context = context;
    this.pass = server.gate.pass(context.worker);
  }

  /** Returns how its descents have gone. */
  protected abstract DescentCounters descents();

  /** Finds the entry of a key. */
  protected abstract boolean get(long wanted);

  /**
   * Changes, adds or removes an entry.
   *
   * @return whether the key was there before
   */
  protected abstract boolean write(Operation operation, long wanted, long stored);

  /** Returns the value that the last operation on a key found. */
  protected abstract long value();

  /** Tells, after {@link #write} has failed, whether the entry may have been changed. */
  protected abstract boolean mayHaveWritten();

  /**
   * Completes, after {@link #write} has failed, what was begun, while it is still locked; another
   * failure joins the first.
   */
  protected abstract void complete(Throwable failure);

  /** Unlocks everything after a failure; another failure joins the first. */
  protected abstract void abandon(Throwable failure);

  /** Returns what looks for the entry next to a key. */
  protected abstract NeighbourSearch neighbours();

  /** Returns what visits entries in order. */
  protected abstract LeafScan scans();

  /** Begins an operation. The index is not closed or changed as a whole before {@link #exit}. */
  final void enter() {
    pass.enter();
  }

  /** Ends an operation. */
  final void exit() {
    pass.exit();
  }

  /** Carries out an operation on one key; returns whether the key was there before. */
  final boolean operate(Operation operation, long wanted, long stored) {
    boolean reads = operation == Operation.GET;
    try {
      return reads ? get(wanted) : write(operation, wanted, stored);
    } catch (Throwable e) {
      boolean uncertain = !reads && mayHaveWritten();
      if (!reads) {
        completeQuietly(e);
      }
      abandon(e);
      if (uncertain) {
        throw uncertain(wanted, e);
      }
      throw e;
    }
  }

  private void completeQuietly(Throwable failure) {
    try {
      complete(failure);
    } catch (Throwable e) {
      failure.addSuppressed(e);
    }
  }

  /** An {@link Error} stays what it is. */
  private static UnknownOutcomeException uncertain(long wanted, Throwable failure) {
    String message = "the entry may have been changed: key=" + wanted;
    if (failure instanceof Error error) {
      error.addSuppressed(new UnknownOutcomeException(message));
      throw error;
    }
    return new UnknownOutcomeException(message, failure);
  }

  /** Visits entries in order; returns their number. */
  final long scan(long from, long to, long limit, EntryVisitor visitor) {
    return scans().scan(pass, from, to, limit, visitor);
  }

  /** Unlocks everything that the worker holds after a failure. */
  final void abandonAll(Throwable failure) {
    neighbours().forget();
    abandon(failure);
  }

  final HostedServer server() {
    return server;
  }

  final Backoff backoff() {
    return context.worker.backoff();
  }

  final VerbCounters verbs() {
    return context.worker.counters();
  }

  /** Ends the worker and gives the session's number back. */
  final void close() {
    server.gate.forget(pass);
    try {
      context.close();
    } finally {
      server.closeSession(session);
    }
  }
}
