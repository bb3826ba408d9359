package pando.bench.peers;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.lmdbjava.CursorIterable;
import org.lmdbjava.Dbi;
import org.lmdbjava.DbiFlags;
import org.lmdbjava.Env;
import org.lmdbjava.EnvFlags;
import org.lmdbjava.KeyRange;
import org.lmdbjava.Txn;

/** LMDB, with a transaction for each change. */
final class LmdbPeer implements Peer {
  private static final long MAP_BYTES = 16L << 30;
  private static final int READERS = 128;

  private final Env<ByteBuffer> environment;
  private final Dbi<ByteBuffer> store;

  LmdbPeer(Path folder, boolean waits) {
    Env.Builder<ByteBuffer> builder =
        Env.create().setMapSize(MAP_BYTES).setMaxDbs(1).setMaxReaders(READERS);
    environment =
        waits ? builder.open(folder.toFile()) : builder.open(folder.toFile(), EnvFlags.MDB_NOSYNC);
    store = environment.openDbi("words", DbiFlags.MDB_CREATE);
  }

  @Override
  public PeerSession session() {
    ByteBuffer key = ByteBuffer.allocateDirect(Long.BYTES);
    ByteBuffer value = ByteBuffer.allocateDirect(Long.BYTES);
    return new PeerSession() {
      @Override
      public void put(long wanted, long stored) {
        key.putLong(0, wanted);
        value.putLong(0, stored);
        store.put(key, value);
      }

      @Override
      public boolean get(long wanted) {
        key.putLong(0, wanted);
        try (Txn<ByteBuffer> reading = environment.txnRead()) {
          return store.get(reading, key) != null;
        }
      }

      @Override
      public int scan(long from, int limit) {
        key.putLong(0, from);
        int count = 0;
        try (Txn<ByteBuffer> reading = environment.txnRead();
            CursorIterable<ByteBuffer> entries = store.iterate(reading, KeyRange.atLeast(key))) {
          for (CursorIterable.KeyVal<ByteBuffer> entry : entries) {
            if (count == limit) {
              break;
            }
            count += entry.val().remaining() > 0 ? 1 : 0;
          }
        }
        return count;
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void close() {
    store.close();
    environment.close();
  }
}
