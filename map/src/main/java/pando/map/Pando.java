package pando.map;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.memory.Closing;
import pando.fabric.server.PoolOptions;
import pando.fabric.shm.ShmFabric;
import pando.index.IndexOptions;
import pando.index.RangeIndex;
import pando.index.Systems;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.orca.OrcaOptions;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/**
 * A memory pool, and the map of a new index in it. This is the short way; {@link PandoMap#of} takes
 * an index that was made or joined in any other.
 *
 * <p>Thread-safe.
 */
public final class Pando implements AutoCloseable {
  private static final String LOCAL = "local:";
  private static final String SHM = "shm:";

  private final Fabric fabric;
  private final IndexOptions options;

  /** Closes the map and the index, in this order. */
  private final List<Runnable> closings = new ArrayList<>();

  private boolean closed;

  private Pando(Fabric fabric, IndexOptions options) {
    this.fabric = fabric;
    this.options = options;
  }

  /** As {@link #open(String, IndexOptions)}, with the system {@value Systems#DEFAULT}. */
  public static Pando open(String pool) {
    return open(pool, Systems.named(Systems.DEFAULT).defaults());
  }

  /**
   * Opens a pool.
   *
   * @param pool {@code local:} for four memory servers in this process of up to 4 GiB each, taken
   *     as it is used; or {@code shm:NAME[,NAME...]} for those that run on this machine under these
   *     names, in the order of their numbers
   * @param options of the index that {@link #map} makes, of any system
   * @throws IllegalArgumentException if there is no such pool, or the options do not go together
   * @throws pando.fabric.shm.RegistryException if a memory server does not run
   */
  public static Pando open(String pool, IndexOptions options) {
    options.check();
    return new Pando(connect(pool), options);
  }

  private static Fabric connect(String pool) {
    PoolOptions options = PoolOptions.defaults().withHandlers(Systems.handlers());
    if (pool.equals(LOCAL)) {
      return LocalFabric.open(options);
    }
    if (pool.startsWith(SHM)) {
      return ShmFabric.attach(List.of(pool.substring(SHM.length()).split(",", -1)), options.seed());
    }
    throw new IllegalArgumentException(
        "no such pool: pool=" + pool + ", known: local: and shm:NAME[,NAME...]");
  }

  /**
   * Makes an index, with all its compute servers in this process, and its map. There is one, since
   * an index has one kind of keys and values.
   *
   * <p>With {@value Systems#DEFAULT} and keys that have not always the same number of 1 to 8 bytes,
   * it is a {@link ByteIndex}, which caches as much as one compute server of the options does.
   *
   * @throws IllegalArgumentException as {@link PandoMap#of} does
   * @throws IllegalStateException at the second call, after {@link #close}, or if the pool has an
   *     index already
   */
  public synchronized <K, V> PandoMap<K, V> map(KeyCodec<K> keys, ValueCodec<V> values) {
    Objects.requireNonNull(keys, "keys");
    Objects.requireNonNull(values, "values");
    if (closed) {
      throw new IllegalStateException("the pool is closed");
    }
    if (!closings.isEmpty()) {
      throw new IllegalStateException("the pool has its map already");
    }
    return options instanceof OrcaOptions orca && !Words.fit(keys)
        ? mapOfBytes(orca, keys, values)
        : mapOfWords(keys, values);
  }

  private <K, V> PandoMap<K, V> mapOfWords(KeyCodec<K> keys, ValueCodec<V> values) {
    Words.ofKeys(keys, options.system());
    RangeIndex index = options.create(fabric);
    closings.add(index::close);
    return kept(PandoMap.of(index, keys, values));
  }

  private <K, V> PandoMap<K, V> mapOfBytes(
      OrcaOptions orca, KeyCodec<K> keys, ValueCodec<V> values) {
    ByteIndex index =
        ByteIndex.create(fabric, ByteOptions.defaults().withCacheBytes(orca.cacheBytes()));
    closings.add(index::close);
    return kept(PandoMap.of(index, keys, values));
  }

  private <K, V> PandoMap<K, V> kept(PandoMap<K, V> map) {
    closings.addFirst(map::close);
    return map;
  }

  /** Closes the map, the index and the connection; a pool in this process is lost. */
  @Override
  public synchronized void close() {
    closed = true;
    List<Runnable> steps = new ArrayList<>(closings);
    steps.add(fabric::close);
    Closing.all(steps);
  }
}
