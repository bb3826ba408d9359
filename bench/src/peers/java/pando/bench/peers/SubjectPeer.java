package pando.bench.peers;

import pando.bench.subject.Access;
import pando.bench.subject.Subject;

/** What the benchmarks of this module run against: ORCA, a B+-tree, a skip list. Of words. */
record SubjectPeer(Subject subject) implements Peer {
  @Override
  public PeerSession session() {
    Access access = subject.access();
    return new WordSession() {
      @Override
      public void put(long key, long value) {
        boolean _ = access.update(key, value);
      }

      @Override
      public void insert(long key, long value) {
        access.store(key, value);
      }

      @Override
      public boolean get(long key) {
        return access.get(key);
      }

      @Override
      public int scan(long from, int limit) {
        return (int) access.scan(from, Long.MAX_VALUE, limit, (_, _) -> true);
      }

      @Override
      public void close() {
        access.close();
      }
    };
  }

  @Override
  public void close() {
    subject.close();
  }
}
