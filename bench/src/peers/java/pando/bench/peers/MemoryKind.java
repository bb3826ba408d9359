package pando.bench.peers;

import java.nio.file.Path;
import org.lmdbjava.Env;
import org.lmdbjava.Meta;
import org.mapdb.DB;
import org.rocksdb.RocksDB;
import pando.bench.btree.BTreeSubject;
import pando.bench.strings.LoadedStrings;
import pando.bench.subject.IndexSubject;
import pando.bench.subject.PoolSize;
import pando.bench.subject.SkipListSubject;
import pando.bench.subject.Subject;
import pando.index.orca.OrcaOptions;

/** What is compared in memory. */
enum MemoryKind {
  PANDO("Pando") {
    @Override
    Peer load(Path folder, MemoryKeys keys) {
      if (keys.isStrings()) {
        return new StringsPeer(
            LoadedStrings.of(keys.strings(), STRINGS_FILL, CACHE_SHARE, RECORD_SHARE));
      }
      long cacheBytes = (long) (keys.count() * 2.0 * Long.BYTES * CACHE_SHARE);
      OrcaOptions options =
          OrcaOptions.defaults()
              .withComputeServers(1)
              .withCacheBytes(Math.max(cacheBytes, CACHE_BYTES_MIN));
      return loaded(IndexSubject.openLocal(options, 1, nodeBytes(keys), 1), keys);
    }

    @Override
    String version() {
      return "this build";
    }
  },
  BTREE("B+-tree") {
    @Override
    Peer load(Path folder, MemoryKeys keys) {
      return loaded(new BTreeSubject(nodeBytes(keys)), keys);
    }

    @Override
    boolean hasStrings() {
      return false;
    }

    @Override
    String version() {
      return "bench --peer btree";
    }
  },
  SKIPLIST("ConcurrentSkipListMap") {
    @Override
    Peer load(Path folder, MemoryKeys keys) {
      return keys.isStrings()
          ? keys.putAll(new SkipListPeer())
          : loaded(SkipListSubject.shuffled(1), keys);
    }

    @Override
    String version() {
      return "JDK " + Runtime.version();
    }
  },
  LMDB("LMDB") {
    @Override
    Peer load(Path folder, MemoryKeys keys) {
      return keys.putAll(new LmdbPeer(folder, false));
    }

    @Override
    String version() {
      Meta.Version library = Meta.version();
      String version = library.major + "." + library.minor + "." + library.patch;
      return version + ", lmdbjava " + versionOfJar(Env.class);
    }
  },
  ROCKSDB("RocksDB") {
    @Override
    Peer load(Path folder, MemoryKeys keys) {
      return keys.putAll(RocksPeer.inMemory(folder));
    }

    @Override
    String version() {
      RocksDB.loadLibrary();
      return String.valueOf(RocksDB.rocksdbVersion());
    }
  },
  MAPDB("MapDB") {
    @Override
    Peer load(Path folder, MemoryKeys keys) {
      return keys.putAll(new MapDbPeer());
    }

    @Override
    String version() {
      return versionOfJar(DB.class);
    }
  };

  private static final double FILL = 0.7;
  private static final double STRINGS_FILL = 0.9;
  private static final double CACHE_SHARE = 0.08;
  private static final double RECORD_SHARE = 0.75;
  private static final long CACHE_BYTES_MIN = 4 << 20;

  private final String title;

  MemoryKind(String title) {
    this.title = title;
  }

  /** Returns its name in tables. */
  String title() {
    return title;
  }

  /** Returns what of it is measured. */
  abstract String version();

  /** Returns whether it has byte strings, too. */
  boolean hasStrings() {
    return true;
  }

  /**
   * Opens a store, and loads it.
   *
   * @param folder in memory, for the files of stores that have some
   */
  abstract Peer load(Path folder, MemoryKeys keys);

  private static Peer loaded(Subject subject, MemoryKeys keys) {
    subject.load(keys.sorted(), FILL);
    return new SubjectPeer(subject);
  }

  private static long nodeBytes(MemoryKeys keys) {
    return PoolSize.bytes(keys.count(), keys.count(), FILL);
  }

  /** Returns the version that the name of a library's file has. */
  private static String versionOfJar(Class<?> of) {
    String file = of.getProtectionDomain().getCodeSource().getLocation().getPath();
    return file.replaceAll(".*-(\\d[^/]*)\\.jar$", "$1");
  }
}
