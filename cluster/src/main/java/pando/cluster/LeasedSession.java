package pando.cluster;

import java.util.Objects;
import pando.index.EntryVisitor;
import pando.index.Session;

/** A session whose results pass a {@link LeaseCheck}. */
final class LeasedSession implements Session {
  private final Session session;
  private final LeaseCheck lease;

  LeasedSession(Session session, Lease lease) {
    this.session = session;
    this.lease = new LeaseCheck(lease);
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
    return lease.found(session.get(key));
  }

  @Override
  public boolean put(long key, long value) {
    return lease.changed(session.put(key, value));
  }

  @Override
  public boolean putIfAbsent(long key, long value) {
    return lease.changed(session.putIfAbsent(key, value));
  }

  @Override
  public boolean update(long key, long value) {
    return lease.changed(session.update(key, value));
  }

  @Override
  public boolean remove(long key) {
    return lease.changed(session.remove(key));
  }

  @Override
  public boolean replace(long key, long expected, long value) {
    return lease.changed(session.replace(key, expected, value));
  }

  @Override
  public boolean remove(long key, long expected) {
    return lease.changed(session.remove(key, expected));
  }

  @Override
  public void store(long key, long value) {
    session.store(key, value);
    lease.changed();
  }

  @Override
  public void discard(long key) {
    session.discard(key);
    lease.changed();
  }

  @Override
  public int getAll(long[] keys, int from, int count, long[] values, boolean[] found) {
    int there = session.getAll(keys, from, count, values, found);
    lease.look();
    return there;
  }

  @Override
  public void putAll(long[] keys, int from, int count, long[] values) {
    session.putAll(keys, from, count, values);
    lease.changed();
  }

  @Override
  public boolean floor(long key) {
    return lease.found(session.floor(key));
  }

  @Override
  public boolean ceiling(long key) {
    return lease.found(session.ceiling(key));
  }

  @Override
  public boolean lower(long key) {
    return lease.found(session.lower(key));
  }

  @Override
  public boolean higher(long key) {
    return lease.found(session.higher(key));
  }

  @Override
  public boolean first() {
    return lease.found(session.first());
  }

  @Override
  public boolean last() {
    return lease.found(session.last());
  }

  @Override
  public long scan(long from, long to, long limit, EntryVisitor visitor) {
    return lease.counted(session.scan(from, to, limit, checked(visitor)));
  }

  @Override
  public long scanDown(long from, long to, long limit, EntryVisitor visitor) {
    return lease.counted(session.scanDown(from, to, limit, checked(visitor)));
  }

  /** Returns a visitor that sees an entry only if the lease is held after it was read. */
  private EntryVisitor checked(EntryVisitor visitor) {
    Objects.requireNonNull(visitor, "visitor");
    return (key, value) -> {
      lease.look();
      return visitor.visit(key, value);
    };
  }

  @Override
  public long servedSizeEstimate() {
    return lease.counted(session.servedSizeEstimate());
  }

  @Override
  public long sizeEstimate() {
    return lease.counted(session.sizeEstimate());
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
