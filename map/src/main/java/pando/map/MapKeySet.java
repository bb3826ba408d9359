package pando.map;

import java.util.AbstractSet;
import java.util.Comparator;
import java.util.Iterator;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Spliterator;
import org.jspecify.annotations.Nullable;

/** The keys of a view of a map. */
final class MapKeySet<K, V> extends AbstractSet<K> implements NavigableSet<K> {
  private final RangeMap<K, V> map;

  MapKeySet(RangeMap<K, V> map) {
    this.map = map;
  }

  @Override
  public Iterator<K> iterator() {
    return new CursorIterator<>(map.cursor(EntryBatch.Content.KEYS), Cursor::key);
  }

  @Override
  public Spliterator<K> spliterator() {
    return new CursorSpliterator<>(
        map.cursor(EntryBatch.Content.KEYS),
        Cursor::key,
        Spliterator.DISTINCT | Spliterator.SORTED,
        map.comparator());
  }

  @Override
  public int size() {
    return map.size();
  }

  @Override
  public boolean isEmpty() {
    return map.isEmpty();
  }

  @Override
  public boolean contains(Object key) {
    return map.containsKey(key);
  }

  @Override
  public boolean remove(Object key) {
    return map.remove(key) != null;
  }

  @Override
  public void clear() {
    map.clear();
  }

  @Override
  public @Nullable Comparator<? super K> comparator() {
    return map.comparator();
  }

  @Override
  public @Nullable K lower(K key) {
    return map.lowerKey(key);
  }

  @Override
  public @Nullable K floor(K key) {
    return map.floorKey(key);
  }

  @Override
  public @Nullable K ceiling(K key) {
    return map.ceilingKey(key);
  }

  @Override
  public @Nullable K higher(K key) {
    return map.higherKey(key);
  }

  @Override
  public K first() {
    return map.firstKey();
  }

  @Override
  public K last() {
    return map.lastKey();
  }

  @Override
  public @Nullable K pollFirst() {
    Map.Entry<K, V> entry = map.pollFirstEntry();
    return entry == null ? null : entry.getKey();
  }

  @Override
  public @Nullable K pollLast() {
    Map.Entry<K, V> entry = map.pollLastEntry();
    return entry == null ? null : entry.getKey();
  }

  @Override
  public NavigableSet<K> descendingSet() {
    return map.descendingKeySet();
  }

  @Override
  public Iterator<K> descendingIterator() {
    return descendingSet().iterator();
  }

  @Override
  public NavigableSet<K> subSet(K from, boolean fromIncluded, K to, boolean toIncluded) {
    return map.subMap(from, fromIncluded, to, toIncluded).navigableKeySet();
  }

  @Override
  public NavigableSet<K> headSet(K to, boolean included) {
    return map.headMap(to, included).navigableKeySet();
  }

  @Override
  public NavigableSet<K> tailSet(K from, boolean included) {
    return map.tailMap(from, included).navigableKeySet();
  }

  @Override
  public NavigableSet<K> subSet(K from, K to) {
    return subSet(from, true, to, false);
  }

  @Override
  public NavigableSet<K> headSet(K to) {
    return headSet(to, false);
  }

  @Override
  public NavigableSet<K> tailSet(K from) {
    return tailSet(from, true);
  }
}
