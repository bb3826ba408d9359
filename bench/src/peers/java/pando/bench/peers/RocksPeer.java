package pando.bench.peers;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.rocksdb.CompressionType;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteOptions;

/** RocksDB, with its defaults for a disk. */
final class RocksPeer implements Peer {
  static {
    RocksDB.loadLibrary();
  }

  private final Options options;
  private final WriteOptions writes;
  private final RocksDB store;

  RocksPeer(Path folder, boolean waits) {
    this(folder, new Options(), new WriteOptions().setSync(waits));
  }

  /**
   * Opens a store in a folder that is in memory: without a log and compression, and files are read
   * where they are.
   */
  static RocksPeer inMemory(Path folder) {
    Options options =
        new Options()
            .setAllowMmapReads(true)
            .setCompressionType(CompressionType.NO_COMPRESSION)
            .setBottommostCompressionType(CompressionType.NO_COMPRESSION);
    return new RocksPeer(folder, options, new WriteOptions().setDisableWAL(true));
  }

  private RocksPeer(Path folder, Options options, WriteOptions writes) {
    this.options = options.setCreateIfMissing(true);
    this.writes = writes;
    try {
      store = RocksDB.open(options, folder.toString());
    } catch (RocksDBException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public PeerSession session() {
    byte[] valueBytes = new byte[Long.BYTES];
    ByteBuffer value = ByteBuffer.wrap(valueBytes);
    ReadOptions reads = new ReadOptions();
    return new PeerSession() {
      @Override
      public void put(byte[] wanted, long stored) {
        value.putLong(0, stored);
        try {
          store.put(writes, wanted, valueBytes);
        } catch (RocksDBException e) {
          throw new IllegalStateException(e);
        }
      }

      @Override
      public boolean get(byte[] wanted) {
        try {
          return store.get(reads, wanted, valueBytes) == Long.BYTES;
        } catch (RocksDBException e) {
          throw new IllegalStateException(e);
        }
      }

      @Override
      public int scan(byte[] from, int limit) {
        int count = 0;
        try (RocksIterator entries = store.newIterator(reads)) {
          for (entries.seek(from); entries.isValid() && count < limit; entries.next()) {
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
  public void settle() {
    try (FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
      store.flush(flush);
      store.compactRange();
    } catch (RocksDBException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    store.close();
    writes.close();
    options.close();
  }
}
