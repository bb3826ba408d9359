package pando.bench.peers;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteOptions;

/** RocksDB with its defaults. */
final class RocksPeer implements Peer {
  private final Options options = new Options().setCreateIfMissing(true);
  private final WriteOptions writes;
  private final RocksDB store;

  RocksPeer(Path folder, boolean waits) {
    RocksDB.loadLibrary();
    writes = new WriteOptions().setSync(waits);
    try {
      store = RocksDB.open(options, folder.toString());
    } catch (RocksDBException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public PeerSession session() {
    byte[] keyBytes = new byte[Long.BYTES];
    byte[] valueBytes = new byte[Long.BYTES];
    ByteBuffer key = ByteBuffer.wrap(keyBytes);
    ByteBuffer value = ByteBuffer.wrap(valueBytes);
    ReadOptions reads = new ReadOptions();
    return new PeerSession() {
      @Override
      public void put(long wanted, long stored) {
        key.putLong(0, wanted);
        value.putLong(0, stored);
        try {
          store.put(writes, keyBytes, valueBytes);
        } catch (RocksDBException e) {
          throw new IllegalStateException(e);
        }
      }

      @Override
      public boolean get(long wanted) {
        key.putLong(0, wanted);
        try {
          return store.get(reads, keyBytes, valueBytes) == Long.BYTES;
        } catch (RocksDBException e) {
          throw new IllegalStateException(e);
        }
      }

      @Override
      public int scan(long from, int limit) {
        key.putLong(0, from);
        int count = 0;
        try (RocksIterator entries = store.newIterator(reads)) {
          for (entries.seek(keyBytes); entries.isValid() && count < limit; entries.next()) {
            count += entries.key().length > 0 && entries.value().length > 0 ? 1 : 0;
          }
        }
        return count;
      }

      @Override
      public void close() {
        reads.close();
      }
    };
  }

  @Override
  public void close() {
    store.close();
    writes.close();
    options.close();
  }
}
