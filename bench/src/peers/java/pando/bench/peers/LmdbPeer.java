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

  /** As LMDB is built by default. */
  private static final int KEY_BYTES_MAX = 511;

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
    ByteBuffer key = ByteBuffer.allocateDirect(KEY_BYTES_MAX);
    ByteBuffer value = ByteBuffer.allocateDirect(Long.BYTES);
    return new PeerSession() {
      @Override
      public void put(byte[] wanted, long stored) {
        key.clear().put(wanted).flip();
        value.putLong(0, stored);
        store.put(key, value);
      }

      @Override
      public boolean get(byte[] wanted) {
        key.clear().put(wanted).flip();
        try (Txn<ByteBuffer> reading = environment.txnRead()) {
          return store.get(reading, key) != null;
        }
      }

      @Override
      public int scan(byte[] from, int limit) {
        key.clear().put(from).flip();
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
