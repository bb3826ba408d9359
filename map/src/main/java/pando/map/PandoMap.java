package pando.map;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.client.PandoClient;
import pando.fabric.Fabric;
import pando.fabric.PoolUsage;
import pando.fabric.VerbCounters;
import pando.fabric.memory.Closing;
import pando.fabric.memory.StackRoom;
import pando.index.Metered;
import pando.index.Meters;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.blob.BlobSpace;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;
import pando.map.codec.KeyCodec;
import pando.map.codec.PrefixRange;
import pando.map.codec.TupleCodec;
import pando.map.codec.ValueCodec;

/**
 * A {@link ConcurrentNavigableMap} whose entries are in a memory pool, outside the heap:
 *
 * <pre>{@code
 * try (Pando pando = Pando.open("local:");
 *     PandoMap<Long, String> events = pando.map(KeyCodec.longs(), ValueCodec.strings())) {
 *   events.put(10L, "opened");
 *   events.put(20L, "read");
 *   events.async().put(30L, "closed").join(); // returns at once; here we wait
 *   System.out.println(events.floorEntry(25L)); // 20=read
 *   System.out.println(events.tailMap(15L).descendingMap()); // {30=closed, 20=read}
 *   System.out.println(events.getAll(List.of(10L, 20L, 99L))); // {10=opened, 20=read}
 *   System.out.println(events.snapshot(events.headMap(25L), 100)); // {10=opened, 20=read}
 * }
 * }</pre>
 *
 * <p>It keeps what {@code ConcurrentNavigableMap} promises, as {@link
 * java.util.concurrent.ConcurrentSkipListMap} does:
 *
 * <ul>
 *   <li>Operations on a key are atomic and linearizable. A function given to {@code compute},
 *       {@code merge} and the like may run more than once, and may use the map.
 *   <li>Iterators, spliterators, {@code size}, {@code clear} and bulk operations are weakly
 *       consistent: they go in order, see no key twice, and see every entry that is there all the
 *       time. They copy up to 256 entries at a time.
 *   <li>{@code setValue} of an entry of an iterator changes the map. Other entries, such as those
 *       of {@link #floorEntry}, cannot be changed.
 *   <li>A {@code null} key or value is refused with a {@link NullPointerException}.
 * </ul>
 *
 * <p>It differs in this: keys and values are copies, encoded by codecs. Conditional operations
 * ({@code replace} and {@code remove} with a value, {@code entrySet().contains}) compare encodings;
 * {@code containsValue} and {@code equals} use {@link Object#equals}. {@code size} scans. The map
 * is not serializable.
 *
 * <p>Each call may throw a {@link pando.fabric.PandoException}, as {@link Session}s do. The call
 * may have taken effect only if that is an {@link pando.fabric.UnknownOutcomeException}. A call
 * that reads a stored word which the codecs cannot have made throws {@link
 * IllegalArgumentException}.
 *
 * <p>An exception of a codec that decodes reaches the caller, and nothing was changed. There is one
 * case in which something was: calls that return the value which they have replaced or removed,
 * such as {@code put}, {@code remove} or {@code pollFirstEntry}, decode it after the change. They
 * throw an {@link pando.fabric.UnknownOutcomeException} that says so, with the codec's exception as
 * its cause; an {@link Error} is thrown as it is, with that exception suppressed.
 *
 * <p>Over a client, a change whose connection is cut before its answer ends in {@link
 * pando.fabric.UnknownOutcomeException}, and is never sent twice; an operation that changes nothing
 * is sent again. The exception also ends {@code merge}, {@code compute} and the like: the change of
 * the attempt that was under way may have happened, once, and none of an earlier one. A call that
 * changes several entries, such as {@code clear}, {@code putAll} or {@code replaceAll}, may have
 * changed some of them.
 *
 * <p>Thread-safe, for virtual threads as well. Calls share sessions: two for each processor and at
 * most 128, over a client always 128. They wait while all are taken. After {@link #close}, every
 * call on the map, its views and their iterators that needs an entry throws {@link
 * IllegalStateException}.
 *
 * @param <K> keys
 * @param <V> values
 */
public final class PandoMap<K, V> extends RangeMap<K, V> implements Metered, AutoCloseable {
  /** Greatest number of entries of a snapshot, as others wait while it is made. */
  public static final int SNAPSHOT_MAX = 10_000;

  private static final int SESSIONS_MAX = 128;

  private final MapIndex<K, V> index;
  private final SessionPool<K, V> sessions;
  private final Bounds all;
  private final Consumer<PandoMap<?, ?>> onClose;
  private @Nullable AsyncMap<K, V> async;
  private boolean closing;

  private PandoMap(
      MapIndex<K, V> index,
      SessionPool<K, V> sessions,
      Bounds all,
      Consumer<PandoMap<?, ?>> onClose) {
    super(index, sessions, all, false);
    this.index = index;
    this.sessions = sessions;
    this.all = all;
    this.onClose = onClose;
  }

  /**
   * Makes a map of what is in an index. The index stays the caller's; close it after the map. A
   * value that has not always the same number of 1 to 8 bytes lies beside the index in its pool, if
   * it has more than 7.
   *
   * @param index with entries that a map with these codecs made, or none
   * @param keys codec of keys, with encodings of 1 to 8 bytes
   * @param values codec of values, with encodings of up to 16 MiB; less in a pool of small chunks
   * @throws IllegalArgumentException if encodings of keys are longer, or of any length
   */
  public static <K, V> PandoMap<K, V> of(RangeIndex index, KeyCodec<K> keys, ValueCodec<V> values) {
    Objects.requireNonNull(keys, "keys");
    Objects.requireNonNull(values, "values");
    return of(WordMapIndex.of(index, keys, values));
  }

  /**
   * Makes a map of what is in an index of byte strings: of this process, or of a client ({@link
   * PandoClient#byteStrings}). The index stays the caller's; close it after the map.
   *
   * <p>Over a client {@link #snapshot} throws {@link IllegalStateException}, as nobody is kept out
   * from here, and {@link #fabric} throws {@link UnsupportedOperationException}.
   *
   * @param strings with entries that these codecs made, or none
   * @param keys codec of keys, with encodings of up to {@link ByteStrings#keyBytesMax} bytes
   * @param values codec of values, with encodings of up to {@link ByteStrings#valueBytesMax} bytes
   * @throws IllegalArgumentException if all encodings of keys are longer
   */
  public static <K, V> PandoMap<K, V> of(
      ByteStrings strings, KeyCodec<K> keys, ValueCodec<V> values) {
    Objects.requireNonNull(keys, "keys");
    Objects.requireNonNull(values, "values");
    return of(strings, KeySpace.UNNAMED, keys, values);
  }

  static <K, V> PandoMap<K, V> of(
      ByteStrings strings, KeySpace space, KeyCodec<K> keys, ValueCodec<V> values) {
    MapIndex<K, V> index = new ByteMapIndex<>(strings, space, keys, values);
    return strings.isRemote() ? of(index, SESSIONS_MAX) : of(index);
  }

  /**
   * Makes a map with the sessions of another one of its index, which is closed later.
   *
   * @param onClose what to do when the map is closed
   */
  static <K, V> PandoMap<K, V> of(
      ByteMapIndex<K, V> index, PandoMap<?, ?> other, Consumer<PandoMap<?, ?>> onClose) {
    SessionPool<K, V> pool = new SessionPool<>(other.sessions, index::sessionBy);
    return new PandoMap<>(index, pool, Bounds.all(index.keys()), onClose);
  }

  /**
   * Makes a map of what is in an index of words that a client reaches. The client stays the
   * caller's; close it after the map. A session of the map is a {@link pando.client.ClientSession},
   * which says what differs. Values that do not fit into an entry lie in the pool, which a client
   * does not reach: where compute servers serve byte strings, they have keys and values of any
   * length.
   *
   * <p>{@link #snapshot} throws {@link IllegalStateException}, as nobody is kept out from here, and
   * {@link #fabric} throws {@link UnsupportedOperationException}.
   *
   * @param client of an index with entries that a map with these codecs made, or none
   * @param keys codec of keys, with encodings of 1 to 8 bytes
   * @param values codec of values, with encodings of 1 to 8 bytes
   * @throws IllegalArgumentException if encodings are longer, or of any length
   */
  public static <K, V> PandoMap<K, V> of(
      PandoClient client, KeyCodec<K> keys, ValueCodec<V> values) {
    Objects.requireNonNull(keys, "keys");
    Objects.requireNonNull(values, "values");
    // A session waits for the network most of its time, not for a processor.
    return of(WordMapIndex.of(client, keys, values), SESSIONS_MAX);
  }

  static <K, V> PandoMap<K, V> of(MapIndex<K, V> index) {
    return of(index, Math.min(SESSIONS_MAX, 2 * Runtime.getRuntime().availableProcessors()));
  }

  private static <K, V> PandoMap<K, V> of(MapIndex<K, V> index, int sessions) {
    SessionPool<K, V> pool = new SessionPool<>(sessions, index::session);
    return new PandoMap<>(index, pool, Bounds.all(index.keys()), _ -> {});
  }

  /** Returns the name of the system that the index is of; {@code client} over a client. */
  @Override
  public String name() {
    return index.index().name();
  }

  /** Returns what the map has of byte strings; {@code null} if its index is one of words. */
  @Nullable ByteMapIndex<K, V> byteIndex() {
    return index instanceof ByteMapIndex<K, V> bytes ? bytes : null;
  }

  /** Does something with a session of the byte strings that the map is in. */
  void withByteSession(Consumer<ByteSession> action) {
    int place = sessions.claim();
    try {
      action.accept(((ByteEntries<K, V>) sessions.get(place)).session());
    } finally {
      sessions.release(place);
    }
  }

  /**
   * Returns the fabric that connects the index to its memory servers.
   *
   * @throws UnsupportedOperationException over a client, which is not connected to them
   */
  @Override
  public Fabric fabric() {
    return index.index().fabric();
  }

  /**
   * Returns the verbs of the index, and of values beside it; none over a client, as its compute
   * servers issue them.
   */
  @Override
  public VerbCounters verbs() {
    VerbCounters all = index.index().verbs();
    BlobSpace space = index.space();
    if (space != null) {
      all.add(space.verbs());
    }
    return all;
  }

  /** Returns whether the map, its index or its client is closed. */
  @Override
  public boolean isClosed() {
    return sessions.isClosed() || index.index().isClosed();
  }

  @Override
  public void meters(Meters to) {
    index.index().meters(to);
    to.count("pando.ops", "Calls that used one of the map's shared sessions.", sessions::ended);
    BlobSpace space = index.space();
    if (space != null) {
      to.gauge(
          "pando.value.bytes",
          "Bytes of the pool that values beside the index take, of this process.",
          space::bytesInUse);
    }
  }

  /**
   * Writes the changes of this process to the pool; over a client, those of all compute servers. On
   * return the pool has every change that was acknowledged before the call, even if the process is
   * lost later. Operations go on meanwhile.
   *
   * @throws IllegalStateException after {@link #close}
   * @throws pando.fabric.PandoException if something could not be written, as a server is lost, has
   *     no room or does not answer; the rest was
   */
  public void flush() {
    if (isClosed()) {
      throw new IllegalStateException("the map is closed");
    }
    index.flush();
  }

  /**
   * Returns how large this map is, without the scan of {@link #size}, and the use of the pool that
   * it is in.
   *
   * @throws IllegalStateException after {@link #close}
   * @throws UnsupportedOperationException over a client, which is not connected to the pool
   * @throws pando.fabric.PandoException if a memory server is lost or does not answer
   */
  public MapUsage usage() {
    checkOpen();
    List<PoolUsage> pool = fabric().usage();
    return new MapUsage(
        index.sizeEstimate(),
        pool.stream().mapToLong(PoolUsage::usedBytes).sum(),
        pool.stream().mapToLong(PoolUsage::capacityBytes).sum());
  }

  /** Returns the bounds of all keys. */
  Bounds all() {
    return all;
  }

  /**
   * Opens a session for one thread, which operates on the map without the look for a free one. It
   * counts among the sessions of the {@linkplain RangeIndex#session index}. Close it before the
   * index.
   *
   * @throws IllegalStateException after {@link #close}, or if it is one too many
   */
  public MapSession<K, V> session() {
    checkOpen();
    return new MapSession<>(this, index.session());
  }

  /**
   * Looks up several keys, with as few round trips as possible. Each is a lookup of its own, as by
   * {@link #get}.
   *
   * @param keys in any order
   * @return those that are there, with their values, in the order of the keys
   */
  public NavigableMap<K, V> getAll(Collection<? extends K> keys) {
    return getAll(keys, this::load);
  }

  /** As {@link #getAll(Collection)}, by a session of the caller's. */
  NavigableMap<K, V> getAll(Collection<? extends K> keys, Entries<K, V> session) {
    return getAll(keys, session::getAll);
  }

  private NavigableMap<K, V> getAll(
      Collection<? extends K> keys, Consumer<EntryBatch<K, V>> loading) {
    NavigableMap<K, V> found = new TreeMap<>(comparator());
    EntryBatch<K, V> batch = new EntryBatch<>(EntryBatch.Content.ENTRIES);
    for (K key : keys) {
      batch.add(Objects.requireNonNull(key, "key"));
      if (batch.size() == batch.capacity()) {
        load(batch, loading, found);
        batch.clear();
      }
    }
    load(batch, loading, found);
    return found;
  }

  private static <K, V> void load(
      EntryBatch<K, V> batch, Consumer<EntryBatch<K, V>> loading, Map<K, V> found) {
    loading.accept(batch);
    for (int i = 0; i < batch.size(); i++) {
      V value = batch.value(i);
      if (value != null) {
        found.put(batch.key(i), value);
      }
    }
  }

  private void load(EntryBatch<K, V> batch) {
    int place = sessions.claim();
    try {
      sessions.get(place).getAll(batch);
    } finally {
      sessions.release(place);
    }
  }

  /**
   * Copies the entries of a range as they are at one moment. The copy has all changes that ended
   * before this call. It has all or nothing of each change that runs at the same time; if one was
   * made after another, the copy does not have the later one alone. All other operations on the
   * index in this process wait while the entries are copied, also those of sessions that the map
   * does not know.
   *
   * <p>With partitions, this process must serve the whole range; without them, all compute servers
   * of the index must be in this process, as others could change the range. A change that ended
   * with an unknown outcome may take effect during the call.
   *
   * @param view this map, or a view of it, such as {@code map.subMap(from, to)}
   * @param max entries at the most, from 0 to {@value #SNAPSHOT_MAX}
   * @return a copy of the caller's own, in the order of the view; {@code null} if there are more
   *     entries
   * @throws IllegalArgumentException if the view is not of this map, or {@code max} is out of range
   * @throws IllegalStateException after {@link #close}, over a client, or if compute servers of an
   *     index without partitions are in another process
   * @throws pando.index.NotServedHereException if a part of the range is served by another process
   * @throws pando.fabric.StalledException if another operation does not end within ten seconds, or
   *     a change of the index as a whole within a hundred
   */
  public @Nullable NavigableMap<K, V> snapshot(ConcurrentNavigableMap<K, V> view, int max) {
    Objects.requireNonNull(view, "view");
    if (!(view instanceof RangeMap<K, V> range && range.isOf(this))) {
      throw new IllegalArgumentException("not a view of this map: view=" + view.getClass());
    }
    if (max < 0 || max > SNAPSHOT_MAX) {
      throw new IllegalArgumentException(
          "no such number of entries: max=%s, greatest=%s".formatted(max, SNAPSHOT_MAX));
    }
    return range.snapshot(max);
  }

  /**
   * Returns the map for operations that return at once; it has a thread and a session of its own
   * from the first call on.
   *
   * @throws IllegalStateException after {@link #close}
   */
  public synchronized AsyncMap<K, V> async() {
    if (closing) {
      throw new IllegalStateException("the map is closed");
    }
    AsyncMap<K, V> started = async;
    if (started == null) {
      started = startAsync();
      async = started;
    }
    return started;
  }

  private AsyncMap<K, V> startAsync() {
    Entries<K, V> session = index.session();
    try {
      return new AsyncMap<>(this, session);
    } catch (Throwable e) {
      session.close();
      throw e;
    }
  }

  /**
   * Returns a view of the keys whose encodings are in a range.
   *
   * @param range of the codec of keys, such as {@link TupleCodec#prefix}
   * @throws IllegalArgumentException if its bounds are longer than a key
   */
  public ConcurrentNavigableMap<K, V> subMap(PrefixRange range) {
    return view(range);
  }

  /**
   * Ends the map: waits until each running call has ended, and closes the sessions that calls
   * share. Asynchronous operations that have not begun fail. The entries stay in the index. A
   * second call does nothing.
   *
   * @throws pando.fabric.StalledException if a call does not end: the map is closed, and can be
   *     closed again
   */
  @Override
  public void close() {
    close("the map is closed");
  }

  /** As {@link #close()}, with a reason that calls get from then on. */
  void close(String why) {
    StackRoom.MAPS.check();
    AsyncMap<K, V> started = endAsync();
    Closing.all(
        () -> {
          if (started != null) {
            started.close();
          }
        },
        () -> sessions.close(why),
        index::close,
        () -> onClose.accept(this));
  }

  private synchronized @Nullable AsyncMap<K, V> endAsync() {
    closing = true;
    return async;
  }
}
