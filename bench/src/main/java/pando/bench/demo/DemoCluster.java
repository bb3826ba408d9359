package pando.bench.demo;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.EntrySource;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.dex.DexIndex;
import pando.index.dex.DexOffload;
import pando.index.dex.DexOptions;

/** A cluster in this process with an index of address ranges, and one session on it. */
final class DemoCluster implements AutoCloseable {
  static final int MEMORY_SERVERS = 4;
  static final int COMPUTE_SERVERS = 4;

  private static final long BYTES_PER_SERVER = 128L << 20;
  private static final double FILL = 0.7;

  private final Fabric fabric;
  private final RangeIndex index;
  private final Session session;
  private final DexOptions options;

  private DemoCluster(DexOptions options) {
    fabric =
        LocalFabric.open(
            PoolOptions.defaults()
                .withMemoryServers(MEMORY_SERVERS)
                .withBytesPerServer(BYTES_PER_SERVER)
                .withHandlers(List.of(new DexOffload())));
    index = DexIndex.create(fabric, options);
    session = index.session();
    this.options = options;
  }

  /** Starts a cluster and loads ranges. */
  static DemoCluster load(DexOptions options, SortedMap<Long, Long> ranges) {
    DemoCluster cluster = new DemoCluster(options.withComputeServers(COMPUTE_SERVERS));
    cluster.index.bulkLoad(new MapEntries(ranges), FILL);
    return cluster;
  }

  RangeIndex index() {
    return index;
  }

  Session session() {
    return session;
  }

  /** Returns the number of nodes in the pool. */
  long nodes() {
    return index.poolBytes() / options.nodeBytes();
  }

  /** Returns the bytes of nodes that all caches together can hold. */
  long cacheBytes() {
    return options.cacheBytes() * COMPUTE_SERVERS;
  }

  @Override
  public void close() {
    session.close();
    index.close();
    fabric.close();
  }

  private static final class MapEntries implements EntrySource {
    private final Iterator<Map.Entry<Long, Long>> entries;
    private final long size;
    private Map.Entry<Long, Long> entry = Map.entry(0L, 0L);

    MapEntries(SortedMap<Long, Long> map) {
      entries = map.entrySet().iterator();
      size = map.size();
    }

    @Override
    public boolean next() {
      if (!entries.hasNext()) {
        return false;
      }
      entry = entries.next();
      return true;
    }

    @Override
    public long key() {
      return entry.getKey();
    }

    @Override
    public long value() {
      return entry.getValue();
    }

    @Override
    public long sizeHint() {
      return size;
    }
  }
}
