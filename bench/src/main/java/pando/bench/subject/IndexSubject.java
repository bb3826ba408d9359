package pando.bench.subject;

import pando.fabric.Fabric;
import pando.fabric.Lane;
import pando.fabric.VerbCounters;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.CacheCounters;
import pando.index.EntrySource;
import pando.index.IndexOptions;
import pando.index.RangeIndex;
import pando.index.Systems;

/** An index, and the fabric under it. */
public final class IndexSubject implements Subject {
  private final Fabric fabric;
  private final RangeIndex index;

  /**
   * Wraps an index.
   *
   * @param fabric closed with this subject
   * @param index closed with this subject
   */
  public IndexSubject(Fabric fabric, RangeIndex index) {
    this.fabric = fabric;
    this.index = index;
  }

  /**
   * Opens an empty index on memory servers in this process.
   *
   * @param bytes maximum size of all nodes
   */
  public static IndexSubject openLocal(
      IndexOptions options, int memoryServers, long bytes, long seed) {
    long bytesPerServer =
        PoolSize.bytesPerServer(
            PoolSize.withKeys(bytes, options.keyBytes()), memoryServers, options.computeServers());
    Fabric fabric =
        LocalFabric.open(
            PoolOptions.defaults()
                .withMemoryServers(memoryServers)
                .withBytesPerServer(bytesPerServer)
                .withSeed(seed)
                .withHandlers(Systems.handlers()));
    return open(options, fabric);
  }

  /**
   * Opens an empty index, with all its compute servers in this process, on memory servers that have
   * none.
   *
   * @param fabric closed with the index, or if it cannot be opened
   * @throws IllegalArgumentException if the index cannot be on this fabric, or one is there
   */
  public static IndexSubject open(IndexOptions options, Fabric fabric) {
    return open(options, fabric, 0, options.computeServers());
  }

  /**
   * Opens an empty index, with some of its compute servers in this process, on memory servers that
   * have none.
   *
   * @param fabric closed with the index, or if it cannot be opened
   * @throws IllegalArgumentException if the index cannot be on this fabric, or one is there
   */
  public static IndexSubject open(
      IndexOptions options, Fabric fabric, int firstServer, int servers) {
    try {
      return new IndexSubject(fabric, options.create(fabric, firstServer, servers));
    } catch (IllegalStateException indexIsThere) {
      fabric.close();
      throw new IllegalArgumentException(indexIsThere.getMessage(), indexIsThere);
    } catch (RuntimeException | Error e) {
      fabric.close();
      throw e;
    }
  }

  /** Returns the fabric that the index is on. */
  public Fabric fabric() {
    return fabric;
  }

  /** Returns the index. */
  public RangeIndex index() {
    return index;
  }

  @Override
  public String name() {
    return index.name();
  }

  @Override
  public void load(EntrySource entries, double fill) {
    index.bulkLoad(entries, fill);
  }

  @Override
  public Access access() {
    return new SessionAccess(index.session());
  }

  @Override
  public Lane lane(String name) {
    return fabric.lane(name);
  }

  @Override
  public VerbCounters verbs() {
    return index.verbs();
  }

  @Override
  public CacheCounters cache() {
    return index.cache();
  }

  @Override
  public long bytes() {
    return index.poolBytes();
  }

  @Override
  public long cachedBytes() {
    return index.cachedBytes();
  }

  @Override
  public void close() {
    try {
      index.close();
    } finally {
      fabric.close();
    }
  }
}
