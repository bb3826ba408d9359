package pando.map;

import java.lang.foreign.MemorySegment;
import java.util.AbstractMap;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.index.bytes.ByteIndex;
import pando.map.codec.PrefixRange;

/**
 * A range of a map's keys, upwards or downwards; the whole map is one, too. {@code compute}, {@code
 * merge} and the like are the default methods of {@link java.util.concurrent.ConcurrentMap}: they
 * call the function between operations, while no session is claimed.
 */
class RangeMap<K, V> extends AbstractMap<K, V> implements ConcurrentNavigableMap<K, V> {
  private final MapIndex<K, V> index;
  private final SessionPool<K, V> sessions;
  private final Bounds bounds;
  private final boolean descending;

  RangeMap(MapIndex<K, V> index, SessionPool<K, V> sessions, Bounds bounds, boolean descending) {
    this.index = index;
    this.sessions = sessions;
    this.bounds = bounds;
    this.descending = descending;
  }

  // Operations on one key are references to methods, as a lambda that captures would be allocated.

  /** Stores the value of a key. */
  private interface Storing<K, V> {
    @Nullable V in(Entries<K, V> entries, V value);
  }

  /** Compares the value of a key with one that is expected. */
  private interface Comparing<K, V> {
    boolean in(Entries<K, V> entries, V expected);
  }

  /** Searches for the entry of a key or that next to it. */
  private interface Search<K, V, R> {
    @Nullable R in(
        Entries<K, V> entries, @Nullable K key, boolean down, boolean included, Bounds bounds);
  }

  private @Nullable V store(K key, V value, Storing<K, V> storing) {
    K wanted = key(key);
    V stored = value(value);
    int place = sessions.claim();
    try {
      Entries<K, V> entries = sessions.get(place);
      seekInside(entries, wanted);
      return storing.in(entries, stored);
    } finally {
      sessions.release(place);
    }
  }

  /** Goes to a key; returns whether it is one of this view. */
  private boolean seek(Entries<K, V> entries, K key) {
    entries.seek(key);
    return bounds.areAll() || entries.isWithin(bounds);
  }

  private void seekInside(Entries<K, V> entries, K key) {
    if (!seek(entries, key)) {
      throw new IllegalArgumentException(
          "key is not inside of the view: key=%s, view: %s".formatted(key, bounds));
    }
  }

  private boolean compare(Object key, Object expected, Comparing<K, V> comparing) {
    K wanted = key(key);
    V value = value(expected);
    int place = sessions.claim();
    try {
      Entries<K, V> entries = sessions.get(place);
      return seek(entries, wanted) && comparing.in(entries, value);
    } finally {
      sessions.release(place);
    }
  }

  private <R> @Nullable R search(
      @Nullable K key, boolean down, boolean included, Search<K, V, R> search) {
    int place = sessions.claim();
    try {
      return search.in(sessions.get(place), key, down, included, bounds);
    } finally {
      sessions.release(place);
    }
  }

  @SuppressWarnings("unchecked") // A key of another class is a ClassCastException of its codec.
  private K key(@Nullable Object key) {
    return (K) Objects.requireNonNull(key, "key");
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // as key
  private static <T> T value(@Nullable Object value) {
    return (T) Objects.requireNonNull(value, "value");
  }

  /** Returns the encoding of a key. */
  private MemorySegment bytes(@Nullable K key) {
    return index.keys().of(key(key));
  }

  /** Checks that the map is open. */
  final void checkOpen() {
    sessions.checkOpen();
  }

  @Override
  public @Nullable V get(Object key) {
    K wanted = key(key);
    int place = sessions.claimToRead();
    try {
      Entries<K, V> entries = sessions.get(place);
      return seek(entries, wanted) ? entries.get() : null;
    } finally {
      sessions.release(place);
    }
  }

  @Override
  public boolean containsKey(Object key) {
    K wanted = key(key);
    int place = sessions.claimToRead();
    try {
      Entries<K, V> entries = sessions.get(place);
      return seek(entries, wanted) && entries.contains();
    } finally {
      sessions.release(place);
    }
  }

  /** Returns whether there is an entry with this key and value. */
  final boolean contains(Object key, Object value) {
    return compare(key, value, Entries::contains);
  }

  @Override
  public @Nullable V put(K key, V value) {
    return store(key, value, Entries::put);
  }

  @Override
  public @Nullable V putIfAbsent(K key, V value) {
    return store(key, value, Entries::putIfAbsent);
  }

  @Override
  public @Nullable V replace(K key, V value) {
    return store(key, value, Entries::replace);
  }

  @Override
  public boolean replace(K key, V expected, V value) {
    K wanted = key(key);
    V before = value(expected);
    V stored = value(value);
    int place = sessions.claim();
    try {
      Entries<K, V> entries = sessions.get(place);
      seekInside(entries, wanted);
      return entries.replace(before, stored);
    } finally {
      sessions.release(place);
    }
  }

  @Override
  public @Nullable V remove(Object key) {
    K wanted = key(key);
    int place = sessions.claim();
    try {
      Entries<K, V> entries = sessions.get(place);
      return seek(entries, wanted) ? entries.remove() : null;
    } finally {
      sessions.release(place);
    }
  }

  @Override
  public boolean remove(Object key, Object expected) {
    return compare(key, expected, Entries::remove);
  }

  /** Removes the entry of a key of the view. */
  final void discard(K key) {
    int place = sessions.claim();
    try {
      Entries<K, V> entries = sessions.get(place);
      entries.seek(key);
      entries.discard();
    } finally {
      sessions.release(place);
    }
  }

  /** Stores batches, as {@link pando.index.Session#putAll} does: each entry by itself. */
  @Override
  public void putAll(Map<? extends K, ? extends V> entries) {
    putAll(entries, this::putAll);
  }

  /** Stores batches by a session of the caller's. */
  final void putAll(Map<? extends K, ? extends V> entries, Entries<K, V> session) {
    putAll(entries, (EntryBatch<K, V> batch) -> putAll(batch, session));
  }

  private void putAll(Map<? extends K, ? extends V> entries, Consumer<EntryBatch<K, V>> storing) {
    EntryBatch<K, V> batch = new EntryBatch<>(EntryBatch.Content.ENTRIES);
    for (Map.Entry<? extends K, ? extends V> entry : entries.entrySet()) {
      batch.setValue(batch.size(), value(entry.getValue()));
      batch.add(key(entry.getKey()));
      if (batch.size() == batch.capacity()) {
        storing.accept(batch);
        batch.clear();
      }
    }
    storing.accept(batch);
  }

  private void putAll(EntryBatch<K, V> batch) {
    int place = sessions.claim();
    try {
      putAll(batch, sessions.get(place));
    } finally {
      sessions.release(place);
    }
  }

  private void putAll(EntryBatch<K, V> batch, Entries<K, V> entries) {
    for (int i = 0; i < batch.size(); i++) {
      seekInside(entries, batch.key(i));
    }
    entries.putAll(batch);
  }

  @Override
  public boolean containsValue(Object value) {
    return super.containsValue(value(value));
  }

  @Override
  public boolean isEmpty() {
    return end(false, Entries::nearKey) == null;
  }

  /** Counts the entries, by a scan; {@link Integer#MAX_VALUE} if there are more. */
  @Override
  public int size() {
    return (int) Math.min(Integer.MAX_VALUE, cursor(EntryBatch.Content.COUNT).count());
  }

  @Override
  public void clear() {
    for (Cursor<K, V> cursor = cursor(EntryBatch.Content.KEYS); cursor.hasNext(); ) {
      cursor.advance();
      cursor.remove();
    }
  }

  /** Makes a cursor in front of the first entry. */
  final Cursor<K, V> cursor(EntryBatch.Content content) {
    checkOpen();
    return new Cursor<>(this, descending, content, bounds);
  }

  /** Fills a batch with the first entries within bounds, or the last ones if it goes down. */
  final void copy(Bounds within, boolean down, EntryBatch<K, V> batch) {
    int place = sessions.claim();
    try {
      sessions.get(place).copy(within, down, batch);
    } finally {
      sessions.release(place);
    }
  }

  /** Returns whether this is a view of the same map. */
  final boolean isOf(RangeMap<?, ?> other) {
    return index.equals(other.index);
  }

  /** Copies the entries that are there at one moment; {@code null} if there are too many. */
  final @Nullable NavigableMap<K, V> snapshot(int max) {
    NavigableMap<K, V> copied = new TreeMap<>(comparator());
    int place = sessions.claim();
    try {
      boolean all = sessions.get(place).snapshot(bounds, descending, max, copied);
      return all ? copied : null;
    } finally {
      sessions.release(place);
    }
  }

  /** Returns a key within bounds before which a partition ends; {@code null} if there is none. */
  final @Nullable MemorySegment middle(Bounds within) {
    return index.middle(within);
  }

  @Override
  public @Nullable Comparator<? super K> comparator() {
    Comparator<? super K> order = index.keys().codec().order();
    return descending ? Collections.reverseOrder(order) : order;
  }

  /** Returns the order of the keys, also if it is their natural one. */
  @SuppressWarnings("unchecked") // Keys without an order of their codec are comparable.
  final Comparator<K> order() {
    Comparator<? super K> order = comparator();
    return (Comparator<K>) (order != null ? order : Comparator.naturalOrder());
  }

  private <R> @Nullable R near(K key, boolean below, boolean included, Search<K, V, R> search) {
    return search(key(key), below != descending, included, search);
  }

  private <R> @Nullable R end(boolean last, Search<K, V, R> search) {
    return search(null, last != descending, true, search);
  }

  private static <R> R present(@Nullable R found) {
    if (found == null) {
      throw new NoSuchElementException("no entries");
    }
    return found;
  }

  @Override
  public Map.@Nullable Entry<K, V> lowerEntry(K key) {
    return this.<Map.Entry<K, V>>near(key, true, false, Entries::near);
  }

  @Override
  public Map.@Nullable Entry<K, V> floorEntry(K key) {
    return this.<Map.Entry<K, V>>near(key, true, true, Entries::near);
  }

  @Override
  public Map.@Nullable Entry<K, V> ceilingEntry(K key) {
    return this.<Map.Entry<K, V>>near(key, false, true, Entries::near);
  }

  @Override
  public Map.@Nullable Entry<K, V> higherEntry(K key) {
    return this.<Map.Entry<K, V>>near(key, false, false, Entries::near);
  }

  @Override
  public @Nullable K lowerKey(K key) {
    return this.<K>near(key, true, false, Entries::nearKey);
  }

  @Override
  public @Nullable K floorKey(K key) {
    return this.<K>near(key, true, true, Entries::nearKey);
  }

  @Override
  public @Nullable K ceilingKey(K key) {
    return this.<K>near(key, false, true, Entries::nearKey);
  }

  @Override
  public @Nullable K higherKey(K key) {
    return this.<K>near(key, false, false, Entries::nearKey);
  }

  @Override
  public Map.@Nullable Entry<K, V> firstEntry() {
    return this.<Map.Entry<K, V>>end(false, Entries::near);
  }

  @Override
  public Map.@Nullable Entry<K, V> lastEntry() {
    return this.<Map.Entry<K, V>>end(true, Entries::near);
  }

  @Override
  public K firstKey() {
    return present(this.<K>end(false, Entries::nearKey));
  }

  @Override
  public K lastKey() {
    return present(this.<K>end(true, Entries::nearKey));
  }

  @Override
  public Map.@Nullable Entry<K, V> pollFirstEntry() {
    return end(false, Entries::poll);
  }

  @Override
  public Map.@Nullable Entry<K, V> pollLastEntry() {
    return end(true, Entries::poll);
  }

  private ConcurrentNavigableMap<K, V> view(Bounds other) {
    checkOpen();
    return new RangeMap<>(index, sessions, other, descending);
  }

  /** Returns a view of the keys whose encodings are in a range. */
  final ConcurrentNavigableMap<K, V> view(PrefixRange range) {
    MemorySegment from = index.keys().atOrAbove(range.from());
    byte[] end = range.to();
    return view(
        end == null
            ? bounds.from(from, true)
            : bounds.narrow(from, true, index.keys().atOrAbove(end), false));
  }

  @Override
  public ConcurrentNavigableMap<K, V> subMap(
      K from, boolean fromIncluded, K to, boolean toIncluded) {
    MemorySegment first = bytes(from);
    MemorySegment last = bytes(to);
    int order = ByteIndex.compare(first, last);
    if (descending ? order < 0 : order > 0) {
      throw new IllegalArgumentException(
          "range is reversed: from=%s, to=%s%s"
              .formatted(
                  index.keys().text(first),
                  index.keys().text(last),
                  descending ? ", in descending order" : ""));
    }
    return view(
        descending
            ? bounds.narrow(last, toIncluded, first, fromIncluded)
            : bounds.narrow(first, fromIncluded, last, toIncluded));
  }

  @Override
  public ConcurrentNavigableMap<K, V> headMap(K to, boolean included) {
    MemorySegment bytes = bytes(to);
    return view(descending ? bounds.from(bytes, included) : bounds.to(bytes, included));
  }

  @Override
  public ConcurrentNavigableMap<K, V> tailMap(K from, boolean included) {
    MemorySegment bytes = bytes(from);
    return view(descending ? bounds.to(bytes, included) : bounds.from(bytes, included));
  }

  @Override
  public ConcurrentNavigableMap<K, V> subMap(K from, K to) {
    return subMap(from, true, to, false);
  }

  @Override
  public ConcurrentNavigableMap<K, V> headMap(K to) {
    return headMap(to, false);
  }

  @Override
  public ConcurrentNavigableMap<K, V> tailMap(K from) {
    return tailMap(from, true);
  }

  @Override
  public ConcurrentNavigableMap<K, V> descendingMap() {
    checkOpen();
    return new RangeMap<>(index, sessions, bounds, !descending);
  }

  @Override
  public NavigableSet<K> navigableKeySet() {
    checkOpen();
    return new MapKeySet<>(this);
  }

  @Override
  public NavigableSet<K> keySet() {
    return navigableKeySet();
  }

  @Override
  public NavigableSet<K> descendingKeySet() {
    return descendingMap().navigableKeySet();
  }

  @Override
  public Collection<V> values() {
    checkOpen();
    return new Values<>(this);
  }

  @Override
  public Set<Map.Entry<K, V>> entrySet() {
    checkOpen();
    return new EntrySet<>(this);
  }
}
