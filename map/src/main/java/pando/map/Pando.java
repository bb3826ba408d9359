package pando.map;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.client.ClientOptions;
import pando.client.PandoClient;
import pando.fabric.memory.Closing;
import pando.index.IndexOptions;
import pando.index.Systems;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteStrings;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/**
 * Opens a memory pool and makes a map in it, or connects to the map of a cluster:
 *
 * <pre>{@code
 * try (Pando pando = Pando.open("local:pages"); // a data folder; client:HOST:PORT for a cluster
 *     PandoMap<String, String> pages = pando.map(KeyCodec.strings(), ValueCodec.strings())) {
 *   pages.put("/docs", "what it is");
 *   pages.put("/docs/map", "keys and values of any length");
 *   pages.merge("/docs", ", in short", String::concat); // atomic
 *   System.out.println("before /docs/z: " + pages.lowerKey("/docs/z"));
 *   pages.headMap("/e").forEach((path, page) -> System.out.println(path + ": " + page));
 * }
 * }</pre>
 *
 * <p>What a map of a data folder has acknowledged is there when the folder is opened again, however
 * the process ended. Without a folder, {@code local:}, it is lost with the process.
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
  private @Nullable NamedMaps named;
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
   *     taken as it is used; {@code local:DIR} for the same with a data folder, which is made if it
   *     is not there, and whose entries are loaded by the first map; or {@code shm:NAME[,NAME...]}
   *     for those that run on this machine under these names, in the order of their numbers. Behind
   *     it may come {@code ?} and settings with {@code &} between them: {@code size=2GiB}, the
   *     bytes of a local pool; {@code cache=256MiB}, the cache of each compute server; {@code
   *     sync=always}, {@code everysec} or {@code no}, when a data folder {@linkplain
   *     pando.journal.SyncPolicy keeps a change}. {@code GiB} is 2^30 bytes, and {@code GB} 10^9.
   *     Without the first, a local pool has half of the memory that this process may use: the
   *     machine's, or its container's if that is less
   * @param options of the index that {@link #map} makes, of any system
   * @throws IllegalArgumentException if there is no such pool, or the options do not go together
   * @throws pando.fabric.shm.RegistryException if a memory server does not run
   * @throws pando.journal.DataFolderException if the folder is in use, or cannot be used
   * @throws pando.journal.DamagedFolderException if a file of the folder is damaged
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

  /**
   * Takes byte strings that the program has opened itself: of this process, such as those that
   * {@link ByteIndex#open} finds in a pool, or of a client. They stay the caller's; close them
   * after this.
   */
  public static Pando of(ByteStrings strings) {
    return new Pando(strings.name(), new StringsBacking(strings));
  }

  private static boolean isOfClient(String pool) {
    return pool.startsWith(CLIENT);
  }

  /**
   * Makes the map without a name: of a new index, with all its compute servers in this process, or
   * of that of the client. There is one, as nothing in the index says what its keys and values are.
   * If they are byte strings, {@linkplain #map(String, KeyCodec, ValueCodec) named maps} may be
   * beside it; it shows none of their entries.
   *
   * <p>In a pool, with {@value Systems#DEFAULT} and keys that have not always the same number of 1
   * to 8 bytes, the index is a {@link ByteIndex}, which caches as much as one compute server of the
   * options does. It is one for any keys if a named map has been opened before.
   *
   * @throws IllegalArgumentException as {@link PandoMap#of} does
   * @throws IllegalStateException at the second call, after {@link #close}, or if the pool has an
   *     index already
   */
  public synchronized <K, V> PandoMap<K, V> map(KeyCodec<K> keys, ValueCodec<V> values) {
    Objects.requireNonNull(keys, "keys");
    Objects.requireNonNull(values, "values");
    checkOpen();
    if (map != null) {
      throw new IllegalStateException(
          "this Pando has its map without a name already: give another map a name");
    }
    PandoMap<K, V> made = backing.map(keys, values);
    map = made;
    return made;
  }

  /**
   * Opens a map by its name, and makes it if there is none. Any number of maps share an index of
   * byte strings, each with keys and values of its own. All processes that open a name of the same
   * pool have the same map. It lasts until it is {@linkplain #drop dropped}; to close it ends this
   * way to it.
   *
   * <p>The names of its codecs ({@link ValueCodec#name}) are stored with it. Keys have up to {@link
   * ByteStrings#keyBytesMax} - 13 bytes.
   *
   * @param name 1 to 255 bytes in UTF-8, and no more than a key has
   * @throws IllegalArgumentException if it is no such name, the map has codecs of other names, or
   *     all keys are too long
   * @throws IllegalStateException if the index is one of words, this is closed, or as {@link
   *     #map(KeyCodec, ValueCodec)}
   */
  public <K, V> PandoMap<K, V> map(String name, KeyCodec<K> keys, ValueCodec<V> values) {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(keys, "keys");
    Objects.requireNonNull(values, "values");
    return named().map(name, keys, values);
  }

  /**
   * Returns the names of the maps that there are, in the order of their UTF-8.
   *
   * @throws IllegalStateException as {@link #map(String, KeyCodec, ValueCodec)} does
   */
  public List<String> names() {
    return named().names();
  }

  /**
   * Removes a named map with all its entries. From then on, calls on the map, its views and its
   * iterators throw {@link IllegalStateException}, if it was opened by this object. Another process
   * that has it open finds no entries in it, and what it puts is lost, but takes room in the pool:
   * close the map there first. If this ends in an exception, or the process ends, the next {@code
   * drop} or {@link #map(String, KeyCodec, ValueCodec)} with this name goes on, and so does the
   * first use of names by another process.
   *
   * @return whether there was such a map
   * @throws IllegalArgumentException if it is no name
   * @throws IllegalStateException as {@link #map(String, KeyCodec, ValueCodec)} does
   */
  public boolean drop(String name) {
    Objects.requireNonNull(name, "name");
    return named().drop(name);
  }

  /**
   * Makes an empty batch: changes of named maps, and of the map without a name, that others see all
   * at once.
   *
   * @throws IllegalStateException as {@link #map(String, KeyCodec, ValueCodec)} does
   */
  public Batch batch() {
    return named().batch();
  }

  private synchronized NamedMaps named() {
    checkOpen();
    NamedMaps made = named;
    if (made == null) {
      made = new NamedMaps(backing.strings());
      named = made;
    }
    return made;
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("this Pando is closed");
    }
  }

  /**
   * Flushes the maps, if there are any, as {@link PandoMap#flush} does.
   *
   * @throws IllegalStateException after {@link #close}
   */
  public void flush() {
    PandoMap<?, ?> made;
    NamedMaps madeNamed;
    synchronized (this) {
      checkOpen();
      made = map;
      madeNamed = named;
    }
    if (madeNamed != null) {
      madeNamed.flush();
    } else if (made != null) {
      made.flush();
    }
  }

  /**
   * Returns once all that was acknowledged before this call is on the disk. With {@code
   * sync=always} it is there anyway.
   *
   * @throws IllegalStateException after {@link #close}, or if the pool has no data folder
   * @throws pando.journal.LogFailedException if the disk fails
   */
  public void sync() {
    synchronized (this) {
      checkOpen();
    }
    backing.sync();
  }

  /**
   * Copies the data folder; other threads may use the maps meanwhile. The copy has the entries of
   * one moment, among them all changes that were acknowledged before this call. It can be opened as
   * a data folder. Nobody else may write to the copy until this returns.
   *
   * @param to folder that is not there, or has no files
   * @throws IllegalArgumentException if it has files
   * @throws IllegalStateException after {@link #close}, or if there is no data folder yet
   * @throws pando.journal.DataFolderException if the system does not let this process copy it
   */
  public void backup(Path to) {
    Objects.requireNonNull(to, "to");
    synchronized (this) {
      checkOpen();
    }
    backing.backup(to);
  }

  /** Returns where the pool is, the system of the maps if there are any, and whether it is open. */
  @Override
  public synchronized String toString() {
    String maps =
        map != null
            ? "map of " + map.name()
            : named != null ? "maps of " + named.system() : "no map yet";
    return "Pando[%s, %s, %s]".formatted(place, maps, closed ? "closed" : "open");
  }

  /** Closes the maps, the index and the connection; a pool in this process is lost. */
  @Override
  public synchronized void close() {
    closed = true;
    List<Runnable> closings = new ArrayList<>();
    if (named != null) {
      closings.add(named::close);
    }
    if (map != null) {
      closings.add(map::close);
    }
    closings.add(backing::close);
    Closing.all(closings);
  }
}
