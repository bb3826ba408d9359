package pando.bench.peers;

import java.util.Iterator;
import java.util.Map;
import org.mapdb.BTreeMap;
import org.mapdb.DB;
import org.mapdb.DBMaker;
import org.mapdb.Serializer;

/** A tree of MapDB in memory outside of the heap. */
final class MapDbPeer implements Peer {
  private final DB base = DBMaker.memoryDirectDB().make();
  private final BTreeMap<byte[], Long> store =
      base.treeMap("strings", Serializer.BYTE_ARRAY, Serializer.LONG).create();
  private final BTreeMap<Long, Long> words =
      base.treeMap("words", Serializer.LONG, Serializer.LONG).create();

  @Override
  public PeerSession session() {
    return new PeerSession() {
      @Override
      public void put(byte[] key, long value) {
        store.put(key, value);
      }

      @Override
      public boolean get(byte[] key) {
        return store.get(key) != null;
      }

      @Override
      public int scan(byte[] from, int limit) {
        return count(store.entryIterator(from, true, null, false), limit);
      }

      @Override
      public void put(long key, long value) {
        words.put(key, value);
      }

      @Override
      public boolean get(long key) {
        return words.get(key) != null;
      }

      @Override
      public int scan(long from, int limit) {
        return count(words.entryIterator(from, true, null, false), limit);
      }

      @Override
      public void close() {}
    };
  }

  private static <K> int count(Iterator<Map.Entry<K, Long>> entries, int limit) {
    int count = 0;
    while (count < limit && entries.hasNext()) {
      count += entries.next().getValue() == null ? 0 : 1;
    }
    return count;
  }

  @Override
  public void close() {
    base.close();
  }
}
