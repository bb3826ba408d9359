package pando.index.host;

import pando.fabric.Backoff;
import pando.index.CacheCounters;
import pando.index.EntryVisitor;
import pando.index.session.Failures;
import pando.index.session.KeyGroups;
import pando.index.session.LeafScan;
import pando.index.session.NeighbourSearch;
import pando.index.session.Operation;
import pando.index.session.Request;

/**
 * One session's operations at one compute server, by numbers and under locks of leaves. Only the
 * session's thread may use it.
 */
public abstract class HostedWorker extends GatedWorker {
  /** Most keys that are touched before the first of them is stored. */
  protected static final int TOUCHED = 32;

  private final WorkerContext context;
  private final NeighbourSearch neighbours;
  private final LeafScan scans;
  private final Request request = new Request();

  /** The value that the last operation on a key found. */
  protected long value;

  /**
   * Creates a worker.
   *
   * @param session number of the session at its compute server
   * @param context verbs and local memory; closed with the worker
   */
  protected HostedWorker(
      HostedServer server,
      int session,
      WorkerContext context,
      NeighbourSearch neighbours,
      LeafScan scans) {
    super(server, session, context.worker);
    this.context = context;
    this.neighbours = neighbours;
    this.scans = scans;
  }

  /** Finds the entry of a key; returns whether there is one. */
  protected abstract boolean get(long wanted);

  /** Finds the entries of several keys: one after the other, where a system knows no better. */
  protected void getAll(KeyGroups wanted) {
    for (int i = 0; i < wanted.size(); i++) {
      wanted.set(i, get(wanted.key(i)), value);
    }
  }

  /**
   * Reads from local memory, before keys from one number of a group to another are stored one after
   * the other, what that needs, so that the processor fetches it all at once. Does nothing where a
   * system knows no better.
   */
  protected void touch(KeyGroups wanted, int from, int to) {}

  /**
   * Returns about how many entries have a key from {@code low} to {@code high}, both inclusive: all
   * that there are, or those of the compute server's partition.
   */
  protected abstract double estimateSize(long low, long high);

  /**
   * Changes, adds or removes an entry.
   *
   * @return whether the key was there before; undefined for {@link Operation#STORE} and {@link
   *     Operation#DISCARD}, which need not look
   */
  protected abstract boolean write(Request wanted);

  /** Returns, after {@link #write} has failed, whether the entry may have been changed. */
  protected abstract boolean mayHaveWritten();

  /**
   * Completes a change that {@link #write} began before it failed, while its nodes are still
   * locked. Its own failure is added to that of {@link #write} as suppressed.
   */
  protected abstract void complete();

  /** Returns the value that the last operation on a key found. */
  final long value() {
    return value;
  }

  /** Returns the search for the entry next to a key. */
  public final NeighbourSearch neighbours() {
    return neighbours;
  }

  /** Returns whether the last scan is at its end. */
  final boolean isScanDone() {
    return scans.isDone();
  }

  /** Returns the key from which the last scan goes on, maybe at another compute server. */
  final long scanNext() {
    return scans.next();
  }

  /** Carries out an operation on one key; returns whether the key was there before. */
  final boolean operate(Request wanted) {
    boolean reads = wanted.operation() == Operation.GET;
    try {
      return reads ? get(wanted.key()) : write(wanted);
    } catch (Throwable e) {
      boolean uncertain = !reads && mayHaveWritten();
      if (!reads) {
        completeQuietly(e);
      }
      context.abandon(e);
      if (uncertain) {
        throw Failures.uncertain(wanted.key(), e);
      }
      throw e;
    }
  }

  /** Finds the entries of several keys, or stores their values in the order of keys. */
  final void operate(KeyGroups wanted) {
    if (wanted.areStored()) {
      storeAll(wanted);
      return;
    }
    try {
      getAll(wanted);
    } catch (Throwable e) {
      context.abandon(e);
      throw e;
    }
  }

  @Override
  protected final double sizeOf(long low, long high) {
    try {
      return estimateSize(low, high);
    } catch (Throwable e) {
      context.abandon(e);
      throw e;
    }
  }

  private void storeAll(KeyGroups wanted) {
    for (int i = 0; i < wanted.size(); i++) {
      if (i % TOUCHED == 0) {
        touch(wanted, i, Math.min(i + TOUCHED, wanted.size()));
      }
      operate(wanted.request(i, request));
    }
  }

  private void completeQuietly(Throwable failure) {
    try {
      complete();
    } catch (Throwable e) {
      failure.addSuppressed(e);
    }
  }

  /** Visits entries in order, or against it, as far as they are here; returns their number. */
  final long scan(long from, long to, boolean down, long limit, EntryVisitor visitor) {
    return scans.scan(pass(), server(), from, to, down, limit, visitor);
  }

  /** Unlocks everything that the worker holds, after a failure. */
  final void abandonAll(Throwable failure) {
    neighbours.forget();
    context.abandon(failure);
  }

  @Override
  protected final CacheCounters events() {
    return context.counters.events();
  }

  final Backoff backoff() {
    return context.worker.backoff();
  }

  /** {@inheritDoc} What overrides it ends by this. */
  @Override
  protected void release() {
    context.close();
  }
}
