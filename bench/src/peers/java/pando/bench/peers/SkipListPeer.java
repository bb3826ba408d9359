package pando.bench.peers;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;

/** The JDK's skip list, of byte strings. */
final class SkipListPeer implements Peer {
  private final ConcurrentSkipListMap<byte[], Long> store =
      new ConcurrentSkipListMap<>(Arrays::compareUnsigned);

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
        int count = 0;
        for (Map.Entry<byte[], Long> entry : store.tailMap(from, true).entrySet()) {
          if (count == limit) {
            break;
          }
          count += entry.getValue() == null ? 0 : 1;
        }
        return count;
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void close() {
    store.clear();
  }
}
