package pando.map;

import java.util.AbstractMap;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Map;
import java.util.NavigableSet;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentNavigableMap;
import org.jspecify.annotations.Nullable;
import pando.index.Partitioning;
import pando.map.codec.KeyRange;

/**
 * A range of a map's keys, upwards or downwards; the whole map is one, too. What is computed by a
 * function ({@code compute}, {@code merge}) is here by the loops of {@link
 * java.util.concurrent.ConcurrentMap}: they call it between operations, while no session is
 * claimed.
 */
class RangeMap<K, V> extends AbstractMap<K, V> implements ConcurrentNavigableMap<K, V> {
  private final Backing<K, V> backing;
  private final Bounds bounds;
  private final boolean descending;

  RangeMap(Backing<K, V> backing, Bounds bounds, boolean descending) {
    this.backing = backing;
    this.bounds = bounds;
    this.descending = descending;
  }

  // Operations on one key are references to methods, as a lambda that captures would be allocated.

  /** Finds or removes the entry of a key. */
  private interface Finding<K, V> {
    @Nullable V in(Entries<K, V> entries, long key);
  }

  /** Stores the value of a key. */
  private interface Storing<K, V> {
    @Nullable V in(Entries<K, V> entries, long key, V value);
  }

  /** Compares the value of a key with one that is expected. */
  private interface Comparing<K, V> {
    boolean in(Entries<K, V> entries, long key, V expected);
  }

  /** Searches for the entry of a key or that next to it. */
  private interface Search<K, V, R> {
    @Nullable R in(Entries<K, V> entries, long key, boolean down, Bounds bounds);
  }

  private @Nullable V find(Object key, Finding<K, V> finding) {
    long word = word(key);
    SessionPool<K, V> sessions = backing.sessions();
    int place = sessions.claim();
    try {
      return bounds.contains(word) ? finding.in(sessions.get(place), word) : null;
    } finally {
      sessions.release(place);
    }
  }

  private @Nullable V store(K key, V value, Storing<K, V> storing) {
    long word = wordInside(key);
    V stored = value(value);
    SessionPool<K, V> sessions = backing.sessions();
    int place = sessions.claim();
    try {
      return storing.in(sessions.get(place), word, stored);
    } finally {
      sessions.release(place);
    }
  }

  private boolean compare(Object key, Object expected, Comparing<K, V> comparing) {
    long word = word(key);
    V wanted = value(expected);
    SessionPool<K, V> sessions = backing.sessions();
    int place = sessions.claim();
    try {
      return bounds.contains(word) && comparing.in(sessions.get(place), word, wanted);
    } finally {
      sessions.release(place);
    }
  }

  private <R> @Nullable R search(long word, boolean down, Search<K, V, R> search) {
    SessionPool<K, V> sessions = backing.sessions();
    int place = sessions.claim();
    try {
      return search.in(sessions.get(place), word, down, bounds);
    } finally {
      sessions.release(place);
    }
  }

  @SuppressWarnings("unchecked") // A key of another class is a ClassCastException of its codec.
  private long word(Object key) {
    return backing.keys().toWord((K) Objects.requireNonNull(key, "key"));
  }

  private long wordInside(K key) {
    long word = word(key);
    if (!bounds.contains(word)) {
      throw new IllegalArgumentException(
          "key is not inside of the view: key=%s, word=%s, view: %s".formatted(key, word, bounds));
    }
    return word;
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // as word
  private static <T> T value(@Nullable Object value) {
    return (T) Objects.requireNonNull(value, "value");
  }

  /** Checks that the map is open. */
  final void checkOpen() {
    backing.sessions().checkOpen();
  }

  /** Returns the key of a word. */
  final K key(long word) {
    return backing.keys().fromWord(word);
  }

  @Override
  public @Nullable V get(Object key) {
    return find(key, Entries::get);
  }

  @Override
  public boolean containsKey(Object key) {
    long word = word(key);
    SessionPool<K, V> sessions = backing.sessions();
    int place = sessions.claim();
    try {
      return bounds.contains(word) && sessions.get(place).contains(word);
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
    long word = wordInside(key);
    V wanted = value(expected);
    V stored = value(value);
    SessionPool<K, V> sessions = backing.sessions();
    int place = sessions.claim();
    try {
      return sessions.get(place).replace(word, wanted, stored);
    } finally {
      sessions.release(place);
    }
  }

  @Override
  public @Nullable V remove(Object key) {
    return find(key, Entries::remove);
  }

  @Override
  public boolean remove(Object key, Object expected) {
    return compare(key, expected, Entries::remove);
  }

  /** Removes an entry by the word of its key. */
  final void discard(long word) {
    SessionPool<K, V> sessions = backing.sessions();
    int place = sessions.claim();
    try {
      sessions.get(place).discard(word);
    } finally {
      sessions.release(place);
    }
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
    return (int) Math.min(Integer.MAX_VALUE, cursor(false).count());
  }

  @Override
  public void clear() {
    for (Cursor<K, V> cursor = cursor(false); cursor.hasNext(); ) {
      cursor.advance();
      cursor.remove();
    }
  }

  /** Makes a cursor in front of the first entry. */
  final Cursor<K, V> cursor(boolean withValues) {
    checkOpen();
    return new Cursor<>(
        this,
        descending,
        withValues,
        descending ? bounds.last() : bounds.first(),
        descending ? bounds.first() : bounds.last());
  }

  /** Fills a batch with entries from a key on, to another. */
  final void copy(long from, long to, boolean down, Batch<V> batch) {
    SessionPool<K, V> sessions = backing.sessions();
    int place = sessions.claim();
    try {
      sessions.get(place).copy(from, to, down, batch);
    } finally {
      sessions.release(place);
    }
  }

  /** Returns a key above one and at or below another that begins a partition, or the former. */
  final long boundBetween(long from, long to) {
    Partitioning partitioning = backing.index().partitioning();
    int below = partitioning.rangeOfKey(from);
    int middle = (below + partitioning.rangeOfKey(to) + 1) >>> 1;
    return middle > below ? partitioning.lowOfRange(middle) : from;
  }

  @Override
  public @Nullable Comparator<? super K> comparator() {
    Comparator<? super K> order = backing.codec().order();
    return descending ? Collections.reverseOrder(order) : order;
  }

  /** Returns the order of the keys, also if it is their natural one. */
  @SuppressWarnings("unchecked") // Keys without an order of their codec are comparable.
  final Comparator<K> order() {
    Comparator<? super K> order = comparator();
    return (Comparator<K>) (order != null ? order : Comparator.naturalOrder());
  }

  private <R> @Nullable R near(K key, boolean below, boolean included, Search<K, V, R> search) {
    boolean down = below != descending;
    long word = word(key);
    if (included) {
      return search(word, down, search);
    }
    if (word == (down ? Long.MIN_VALUE : Long.MAX_VALUE)) {
      checkOpen();
      return null;
    }
    return search(down ? word - 1 : word + 1, down, search);
  }

  private <R> @Nullable R end(boolean last, Search<K, V, R> search) {
    boolean down = last != descending;
    return search(down ? Long.MAX_VALUE : Long.MIN_VALUE, down, search);
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
    return new RangeMap<>(backing, other, descending);
  }

  /** Returns a view of the keys whose encodings are in a range. */
  final ConcurrentNavigableMap<K, V> view(KeyRange range) {
    long from = backing.keys().least(range.from());
    byte[] end = range.to();
    return view(
        end == null
            ? bounds.from(from, true)
            : bounds.narrow(from, true, backing.keys().least(end), false));
  }

  @Override
  public ConcurrentNavigableMap<K, V> subMap(
      K from, boolean fromIncluded, K to, boolean toIncluded) {
    long first = word(from);
    long last = word(to);
    return view(
        descending
            ? bounds.narrow(last, toIncluded, first, fromIncluded)
            : bounds.narrow(first, fromIncluded, last, toIncluded));
  }

  @Override
  public ConcurrentNavigableMap<K, V> headMap(K to, boolean included) {
    long word = word(to);
    return view(descending ? bounds.from(word, included) : bounds.to(word, included));
  }

  @Override
  public ConcurrentNavigableMap<K, V> tailMap(K from, boolean included) {
    long word = word(from);
    return view(descending ? bounds.to(word, included) : bounds.from(word, included));
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
    return new RangeMap<>(backing, bounds, !descending);
  }

  @Override
  public NavigableSet<K> navigableKeySet() {
    checkOpen();
    return new KeySet<>(this);
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
