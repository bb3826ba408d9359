package pando.bench.peers;

import java.nio.file.Path;
import pando.durable.DurableIndex;
import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.Session;
import pando.index.orca.OrcaOptions;
import pando.journal.DataFolder;
import pando.journal.LogOptions;
import pando.journal.SyncPolicy;

/** ORCA over a data folder, with a cache that holds all entries. */
final class PandoPeer implements Peer {
  private static final long POOL_BYTES = 4L << 30;
  private static final long CACHE_BYTES = 1L << 30;

  private final Fabric fabric;
  private final DataFolder folder;
  private final DurableIndex index;

  PandoPeer(Path path, boolean waits) {
    LogOptions options =
        LogOptions.defaults().withSync(waits ? SyncPolicy.ALWAYS : SyncPolicy.EVERYSEC);
    fabric = LocalFabric.open(PoolOptions.defaults().withBytes(POOL_BYTES));
    folder = DataFolder.open(path, DurableIndex.KIND, options);
    index = DurableIndex.open(folder, OrcaOptions.defaults().withCacheBytes(CACHE_BYTES), fabric);
  }

  @Override
  public PeerSession session() {
    Session session = index.session();
    return new WordSession() {
      @Override
      public void put(long key, long value) {
        session.store(key, value);
      }

      @Override
      public boolean get(long key) {
        return session.get(key);
      }

      @Override
      public int scan(long from, int limit) {
        return (int) session.scan(from, Long.MAX_VALUE, limit, (_, _) -> true);
      }

      @Override
      public void close() {
        session.close();
      }
    };
  }

  @Override
  public void close() {
    index.close();
    folder.close();
    fabric.close();
  }
}
