package pando.map;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.client.ClientOptions;
import pando.client.PandoClient;
import pando.fabric.memory.Closing;
import pando.index.IndexOptions;
import pando.index.Systems;
import pando.index.bytes.ByteIndex;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/**
 * Opens a memory pool and makes a map in it, or connects to the map of a cluster:
 *
 * <pre>{@code
 * try (Pando pando = Pando.open("local:"); // in this process; client:HOST:PORT for a shared pool
 *     PandoMap<String, String> pages = pando.map(KeyCodec.strings(), ValueCodec.strings())) {
 *   pages.put("/docs", "what it is");
 *   pages.put("/docs/map", "keys and values of any length");
 *   pages.merge("/docs", ", in short", String::concat); // atomic
 *   System.out.println("before /docs/z: " + pages.lowerKey("/docs/z"));
 *   pages.headMap("/e").forEach((path, page) -> System.out.println(path + ": " + page));
 * }
 * }</pre>
 *
 * <p>{@code shm:NAME} in place of {@code local:} takes a memory server of this machine ({@code
 * pando memory-server --name NAME}), for the map of this process alone. Several processes share a
 * map by {@code client:HOST:PORT}: compute servers, of a cluster or of {@code pando serve-clients},
 * have its index. This is the short way: {@link PandoMap#of} takes any index, or a client, that the
 * program has opened itself.
 *
 * <p>Thread-safe.
 */
public final class Pando implements AutoCloseable {
  static final String CLIENT = "client:";

  private final String place;
  private final Backing backing;
  private @Nullable PandoMap<?, ?> map;
  private boolean closed;

  Pando(String place, Backing backing) {
    this.place = place;
    this.backing = backing;
  }

  /**
   * As {@link #open(String, IndexOptions)}, with the system {@value Systems#DEFAULT}, and if no
   * cache is named with one of {@link IndexOptions#cacheBytesOfThisMachine}; or as {@link
   * #open(String, ClientOptions)}, without authentication.
   */
  public static Pando open(String pool) {
    return isOfClient(pool)
        ? open(pool, ClientOptions.defaults())
        : open(
            pool,
            Systems.named(Systems.DEFAULT)
                .defaults()
                .withCacheBytes(IndexOptions.cacheBytesOfThisMachine()));
  }

  /**
   * Opens a pool.
   *
   * @param pool {@code local:} for memory servers in this process, whose memory is reserved, and
   *     taken as it is used; or {@code shm:NAME[,NAME...]} for those that run on this machine under
   *     these names, in the order of their numbers. Behind it may come {@code ?} and settings with
   *     {@code &} between them: {@code size=2GiB}, the bytes of a local pool; {@code cache=256MiB},
   *     the cache of each compute server. {@code GiB} is 2^30 bytes, and {@code GB} 10^9. Without
   *     the first, a local pool has half of the memory that this process may use: the machine's, or
   *     its container's if that is less
   * @param options of the index that {@link #map} makes, of any system
   * @throws IllegalArgumentException if there is no such pool, or the options do not go together
   * @throws pando.fabric.shm.RegistryException if a memory server does not run
   * @throws pando.fabric.PandoException if the system does not reserve the memory
   */
  public static Pando open(String pool, IndexOptions options) {
    options.check();
    if (isOfClient(pool)) {
      throw new IllegalArgumentException(
          "the index of a client has its options already: pool=" + pool);
    }
    return PoolAddress.parse(pool).open(options);
  }

  /**
   * Connects to the compute servers of an index, which is there already, as {@link
   * PandoClient#connect} does.
   *
   * @param servers {@code client:HOST:PORT[,HOST:PORT...]}, one or more of its compute servers
   * @param options how to prove who this client is, and how long to wait
   * @throws IllegalArgumentException if there are no such compute servers, or the authentication's
   *     files are of no use
   * @throws pando.client.ClientException if none of them answers, or accepts this client
   */
  public static Pando open(String servers, ClientOptions options) {
    Objects.requireNonNull(options, "options");
    if (!isOfClient(servers)) {
      throw new IllegalArgumentException(
          "no compute servers: servers=" + servers + ", known: client:HOST:PORT[,HOST:PORT...]");
    }
    String addresses = servers.substring(CLIENT.length());
    return new Pando(servers, new ClientBacking(PandoClient.connect(addresses, options)));
  }

  private static boolean isOfClient(String pool) {
    return pool.startsWith(CLIENT);
  }

  /**
   * Makes the map: of a new index, with all its compute servers in this process, or of that of the
   * client. There is one, since an index has one kind of keys and values.
   *
   * <p>In a pool, with {@value Systems#DEFAULT} and keys that have not always the same number of 1
   * to 8 bytes, the index is a {@link ByteIndex}, which caches as much as one compute server of the
   * options does.
   *
   * @throws IllegalArgumentException as {@link PandoMap#of} does
   * @throws IllegalStateException at the second call, after {@link #close}, or if the pool has an
   *     index already
   */
  public synchronized <K, V> PandoMap<K, V> map(KeyCodec<K> keys, ValueCodec<V> values) {
    Objects.requireNonNull(keys, "keys");
    Objects.requireNonNull(values, "values");
    if (closed) {
      throw new IllegalStateException("this Pando is closed");
    }
    if (map != null) {
      throw new IllegalStateException(
          "this Pando has its map already: open another pool for another map");
    }
    PandoMap<K, V> made = backing.map(keys, values);
    map = made;
    return made;
  }

  /**
   * Flushes the map, if there is one, as {@link PandoMap#flush} does.
   *
   * @throws IllegalStateException after {@link #close}
   */
  public void flush() {
    PandoMap<?, ?> made;
    synchronized (this) {
      if (closed) {
        throw new IllegalStateException("this Pando is closed");
      }
      made = map;
    }
    if (made != null) {
      made.flush();
    }
  }

  /** Returns where the pool is, the system of the map if there is one, and whether this is open. */
  @Override
  public synchronized String toString() {
    return "Pando[%s, %s, %s]"
        .formatted(
            place, map == null ? "no map yet" : "map of " + map.name(), closed ? "closed" : "open");
  }

  /** Closes the map, the index and the connection; a pool in this process is lost. */
  @Override
  public synchronized void close() {
    closed = true;
    PandoMap<?, ?> made = map;
    Closing.all(made == null ? List.of(backing::close) : List.of(made::close, backing::close));
  }
}
