package pando.bench.subject;

import pando.index.EntryVisitor;
import pando.index.Session;

/** A session. */
record SessionAccess(Session session) implements Access {
  @Override
  public long value() {
    return session.value();
  }

  @Override
  public boolean get(long key) {
    return session.get(key);
  }

  @Override
  public boolean update(long key, long value) {
    return session.update(key, value);
  }

  @Override
  public boolean insert(long key, long value) {
    return session.putIfAbsent(key, value);
  }

  @Override
  public void store(long key, long value) {
    session.store(key, value);
  }

  @Override
  public void getAll(long[] keys, int from, int count, long[] values, boolean[] found) {
    session.getAll(keys, from, count, values, found);
  }

  @Override
  public void putAll(long[] keys, int from, int count, long[] values) {
    session.putAll(keys, from, count, values);
  }

  @Override
  public long scan(long from, long to, long limit, EntryVisitor visitor) {
    return session.scan(from, to, limit, visitor);
  }

  @Override
  public void close() {
    session.close();
  }
}
