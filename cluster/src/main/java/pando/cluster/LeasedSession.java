package pando.cluster;

import pando.fabric.PandoException;
import pando.fabric.UnknownOutcomeException;
import pando.index.EntryVisitor;
import pando.index.Session;

/**
 * A session that returns what it has found only if the {@link Lease} is held afterwards. What it
 * has changed without is of unknown outcome: another compute server may have taken over before.
 */
final class LeasedSession implements Session {
  private final Session session;
  private final Lease lease;

  LeasedSession(Session session, Lease lease) {
    this.session = session;
    this.lease = lease;
  }

  private boolean found(boolean found) {
    lookAtLease();
    return found;
  }

  private void lookAtLease() {
    if (!PlantedBug.LEASE_UNCHECKED) {
      lease.await();
    }
  }

  /** That there are no further entries is an answer, too. */
  private long counted(long entries) {
    lookAtLease();
    return entries;
  }

  private boolean changed(boolean changed) {
    changed();
    return changed;
  }

  private void changed() {
    if (!lease.isHeld() && !PlantedBug.LEASE_UNCHECKED) {
      awaitAfterChange();
    }
  }

  private void awaitAfterChange() {
    try {
      lease.await();
    } catch (PandoException e) {
      throw new UnknownOutcomeException(
          "a change may be lost, as the lease was not held: " + e.getMessage());
    }
  }

  @Override
  public long key() {
    return session.key();
  }

  @Override
  public long value() {
    return session.value();
  }

  @Override
  public boolean get(long key) {
    return found(session.get(key));
  }

  @Override
  public boolean put(long key, long value) {
    return changed(session.put(key, value));
  }

  @Override
  public boolean putIfAbsent(long key, long value) {
    return changed(session.putIfAbsent(key, value));
  }

  @Override
  public boolean update(long key, long value) {
    return changed(session.update(key, value));
  }

  @Override
  public boolean remove(long key) {
    return changed(session.remove(key));
  }

  @Override
  public boolean replace(long key, long expected, long value) {
    return changed(session.replace(key, expected, value));
  }

  @Override
  public boolean remove(long key, long expected) {
    return changed(session.remove(key, expected));
  }

  @Override
  public void store(long key, long value) {
    session.store(key, value);
    changed();
  }

  @Override
  public void discard(long key) {
    session.discard(key);
    changed();
  }

  @Override
  public int getAll(long[] keys, int from, int count, long[] values, boolean[] found) {
    int there = session.getAll(keys, from, count, values, found);
    lookAtLease();
    return there;
  }

  @Override
  public void putAll(long[] keys, int from, int count, long[] values) {
    session.putAll(keys, from, count, values);
    changed();
  }

  @Override
  public boolean floor(long key) {
    return found(session.floor(key));
  }

  @Override
  public boolean ceiling(long key) {
    return found(session.ceiling(key));
  }

  @Override
  public boolean lower(long key) {
    return found(session.lower(key));
  }

  @Override
  public boolean higher(long key) {
    return found(session.higher(key));
  }

  @Override
  public boolean first() {
    return found(session.first());
  }

  @Override
  public boolean last() {
    return found(session.last());
  }

  @Override
  public long scan(long from, long to, long limit, EntryVisitor visitor) {
    return counted(session.scan(from, to, limit, checked(visitor)));
  }

  @Override
  public long scanDown(long from, long to, long limit, EntryVisitor visitor) {
    return counted(session.scanDown(from, to, limit, checked(visitor)));
  }

  /** Returns a visitor that sees an entry only if the lease is held after it was read. */
  private EntryVisitor checked(EntryVisitor visitor) {
    return (key, value) -> {
      lookAtLease();
      return visitor.visit(key, value);
    };
  }

  @Override
  public long servedSizeEstimate() {
    return counted(session.servedSizeEstimate());
  }

  @Override
  public long sizeEstimate() {
    return session.sizeEstimate();
  }

  @Override
  public void alone(Runnable action) {
    session.alone(action);
  }

  @Override
  public void close() {
    session.close();
  }
}
