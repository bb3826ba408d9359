package pando.bench.peers;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * A store of words, or of byte strings with words. Thread-safe; each thread has a session of its
 * own.
 */
interface Peer extends AutoCloseable {
  /** One thread's access. Keys are strings of bytes, or words. */
  interface PeerSession extends AutoCloseable {
    /** Stores a value; the key may be there. */
    void put(byte[] key, long value);

    boolean get(byte[] key);

    /** Visits entries from a key on; returns how many there were. */
    int scan(byte[] from, int limit);

    default void put(long key, long value) {
      put(bytes(key), value);
    }

    /** Stores a value of a key that is not there. */
    default void insert(long key, long value) {
      put(key, value);
    }

    default boolean get(long key) {
      return get(bytes(key));
    }

    /** Visits entries from a key on; returns how many there were. */
    default int scan(long from, int limit) {
      return scan(bytes(from), limit);
    }

    /** Returns bytes in whose order words are. */
    private static byte[] bytes(long word) {
      return ByteBuffer.allocate(Long.BYTES).putLong(word ^ Long.MIN_VALUE).array();
    }

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

  /** Ends what the store does by itself after many puts. */
  default void settle() {}

  @Override
  void close();
}
