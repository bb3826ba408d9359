package pando.map;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.memory.Closing;
import pando.fabric.server.PoolOptions;
import pando.fabric.shm.ShmFabric;
import pando.index.IndexOptions;
import pando.index.RangeIndex;
import pando.index.Systems;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/**
 * A memory pool with a new index, and a map of it. This is the short way; {@link PandoMap#of} takes
 * an index that was made or joined in any other.
 *
 * <p>Thread-safe.
 */
public final class Pando implements AutoCloseable {
  private static final String LOCAL = "local:";
  private static final String SHM = "shm:";

  private final Fabric fabric;
  private final RangeIndex index;
  private @Nullable PandoMap<?, ?> map;

  private Pando(Fabric fabric, RangeIndex index) {
    this.fabric = fabric;
    this.index = index;
  }

  /** As {@link #open(String, IndexOptions)}, with the system {@value Systems#DEFAULT}. */
  public static Pando open(String pool) {
    return open(pool, Systems.named(Systems.DEFAULT).defaults());
  }

  /**
   * Opens a pool and makes an index in it, with all its compute servers in this process.
   *
   * @param pool {@code local:} for four memory servers in this process of up to 4 GiB each, taken
   *     as it is used; or {@code shm:NAME[,NAME...]} for those that run on this machine under these
   *     names, in the order of their numbers
   * @param options of any system
   * @throws IllegalArgumentException if there is no such pool, or the options do not go together
   * @throws IllegalStateException if the pool has an index already
   * @throws pando.fabric.shm.RegistryException if a memory server does not run
   */
  public static Pando open(String pool, IndexOptions options) {
    Objects.requireNonNull(options, "options");
    Fabric fabric = connect(pool);
    try {
      return new Pando(fabric, options.create(fabric));
    } catch (Throwable e) {
      fabric.close();
      throw e;
    }
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
   * Makes the map of the index. There is one, since an index has one kind of keys and values.
   *
   * @throws IllegalArgumentException as {@link PandoMap#of} does
   * @throws IllegalStateException at the second call, and after {@link #close}
   */
  public synchronized <K, V> PandoMap<K, V> map(KeyCodec<K> keys, ValueCodec<V> values) {
    if (map != null) {
      throw new IllegalStateException("the index has its map already: index=" + index.name());
    }
    PandoMap<K, V> made = PandoMap.of(index, keys, values);
    map = made;
    return made;
  }

  /** Returns the index, which counts its verbs, for example. */
  public RangeIndex index() {
    return index;
  }

  /** Closes the map, the index and the connection; a pool in this process is lost. */
  @Override
  public synchronized void close() {
    PandoMap<?, ?> open = map;
    Closing.all(
        () -> {
          if (open != null) {
            open.close();
          }
        },
        index::close,
        fabric::close);
  }
}
