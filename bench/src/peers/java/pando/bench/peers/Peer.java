package pando.bench.peers;

import java.io.IOException;
import java.nio.file.Path;

/** A store of words on a disk. Thread-safe; each thread has a session of its own. */
interface Peer extends AutoCloseable {
  /** One thread's access. */
  interface PeerSession extends AutoCloseable {
    void put(long key, long value);

    boolean get(long key);

    /** Visits entries from a key on; returns how many there were. */
    int scan(long from, int limit);

    @Override
    void close();
  }

  /** What is compared. */
  enum Kind {
    PANDO {
      @Override
      Peer open(Path folder, boolean waits) throws IOException {
        return new PandoPeer(folder, waits);
      }
    },
    ROCKSDB {
      @Override
      Peer open(Path folder, boolean waits) {
        return new RocksPeer(folder, waits);
      }
    },
    LMDB {
      @Override
      Peer open(Path folder, boolean waits) {
        return new LmdbPeer(folder, waits);
      }
    };

    /**
     * Opens a store.
     *
     * @param waits whether a change waits until it is on the disk
     */
    abstract Peer open(Path folder, boolean waits) throws IOException;
  }

  PeerSession session();

  @Override
  void close();
}
