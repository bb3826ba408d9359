package pando.cluster;

import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.CacheCounters;
import pando.index.EntrySource;
import pando.index.Meters;
import pando.index.Partitioning;
import pando.index.PoolSpace;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.Unwritten;

/** An index whose sessions answer only while a {@link Lease} is held. */
final class LeasedIndex implements RangeIndex {
  private final RangeIndex index;
  private final Lease lease;

  LeasedIndex(RangeIndex index, Lease lease) {
    this.index = index;
    this.lease = lease;
  }

  @Override
  public Session session() {
    return new LeasedSession(index.session(), lease);
  }

  @Override
  public long bulkLoad(EntrySource entries, double fill) {
    return index.bulkLoad(entries, fill);
  }

  @Override
  public String name() {
    return index.name();
  }

  @Override
  public Fabric fabric() {
    return index.fabric();
  }

  @Override
  public VerbCounters verbs() {
    return index.verbs();
  }

  @Override
  public CacheCounters cache() {
    return index.cache();
  }

  @Override
  public Partitioning partitioning() {
    return index.partitioning();
  }

  @Override
  public boolean serves(long key) {
    return index.serves(key);
  }

  @Override
  public boolean isShared() {
    return index.isShared();
  }

  @Override
  public long poolBytes() {
    return index.poolBytes();
  }

  @Override
  public PoolSpace space() {
    return index.space();
  }

  @Override
  public long cachedBytes() {
    return index.cachedBytes();
  }

  @Override
  public boolean isClosed() {
    return index.isClosed();
  }

  @Override
  public void meters(Meters to) {
    index.meters(to);
  }

  @Override
  public void flush() {
    index.flush();
  }

  @Override
  public Unwritten unwritten() {
    return index.unwritten();
  }

  @Override
  public void close() {
    index.close();
  }
}
