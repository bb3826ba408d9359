package pando.cluster;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteVisitor;

/** As {@link LeasedSession}, of byte strings. */
final class LeasedByteSession implements ByteSession {
  private final ByteSession session;
  private final LeaseCheck lease;

  LeasedByteSession(ByteSession session, Lease lease) {
    this.session = session;
    this.lease = new LeaseCheck(lease);
  }

  @Override
  public MemorySegment key() {
    return session.key();
  }

  @Override
  public MemorySegment value() {
    return session.value();
  }

  @Override
  public boolean get(MemorySegment wanted) {
    return lease.found(session.get(wanted));
  }

  @Override
  public boolean put(MemorySegment wanted, MemorySegment stored) {
    return lease.changed(session.put(wanted, stored));
  }

  @Override
  public boolean putIfAbsent(MemorySegment wanted, MemorySegment stored) {
    return lease.changed(session.putIfAbsent(wanted, stored));
  }

  @Override
  public boolean update(MemorySegment wanted, MemorySegment stored) {
    return lease.changed(session.update(wanted, stored));
  }

  @Override
  public boolean remove(MemorySegment wanted) {
    return lease.changed(session.remove(wanted));
  }

  @Override
  public boolean replace(MemorySegment wanted, MemorySegment expected, MemorySegment stored) {
    return lease.changed(session.replace(wanted, expected, stored));
  }

  @Override
  public boolean remove(MemorySegment wanted, MemorySegment expected) {
    return lease.changed(session.remove(wanted, expected));
  }

  @Override
  public void store(MemorySegment wanted, MemorySegment stored) {
    session.store(wanted, stored);
    lease.changed();
  }

  @Override
  public void discard(MemorySegment wanted) {
    session.discard(wanted);
    lease.changed();
  }

  @Override
  public boolean floor(MemorySegment wanted) {
    return lease.found(session.floor(wanted));
  }

  @Override
  public boolean ceiling(MemorySegment wanted) {
    return lease.found(session.ceiling(wanted));
  }

  @Override
  public boolean lower(MemorySegment wanted) {
    return lease.found(session.lower(wanted));
  }

  @Override
  public boolean higher(MemorySegment wanted) {
    return lease.found(session.higher(wanted));
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
  public long scan(
      MemorySegment from, @Nullable MemorySegment to, long limit, ByteVisitor visitor) {
    return lease.counted(session.scan(from, to, limit, checked(visitor)));
  }

  @Override
  public long scanDown(
      @Nullable MemorySegment from, MemorySegment to, long limit, ByteVisitor visitor) {
    return lease.counted(session.scanDown(from, to, limit, checked(visitor)));
  }

  /** Returns a visitor that sees an entry only if the lease is held after it was read. */
  private ByteVisitor checked(ByteVisitor visitor) {
    Objects.requireNonNull(visitor, "visitor");
    return (key, value) -> {
      lease.look();
      return visitor.visit(key, value);
    };
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
