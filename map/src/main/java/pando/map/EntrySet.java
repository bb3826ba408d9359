package pando.map;

import java.util.AbstractSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Spliterator;
import java.util.function.Predicate;

/** The entries of a view of a map; two are equal if their encodings are. */
final class EntrySet<K, V> extends AbstractSet<Map.Entry<K, V>> {
  private final RangeMap<K, V> map;

  EntrySet(RangeMap<K, V> map) {
    this.map = map;
  }

  @Override
  public Iterator<Map.Entry<K, V>> iterator() {
    return new CursorIterator<>(map.cursor(EntryBatch.Content.ENTRIES), Cursor::entry);
  }

  @Override
  public Spliterator<Map.Entry<K, V>> spliterator() {
    return new CursorSpliterator<>(
        map.cursor(EntryBatch.Content.ENTRIES),
        Cursor::entry,
        Spliterator.DISTINCT | Spliterator.SORTED,
        Map.Entry.comparingByKey(map.order()));
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
  public boolean contains(Object wanted) {
    return wanted instanceof Map.Entry<?, ?> entry
        && map.contains(entry.getKey(), entry.getValue());
  }

  @Override
  public boolean remove(Object wanted) {
    return wanted instanceof Map.Entry<?, ?> entry && map.remove(entry.getKey(), entry.getValue());
  }

  /** Removes entries that still have the value which the filter has seen. */
  @Override
  public boolean removeIf(Predicate<? super Map.Entry<K, V>> filter) {
    boolean removed = false;
    for (Map.Entry<K, V> entry : this) {
      if (filter.test(entry)) {
        removed |= map.remove(entry.getKey(), entry.getValue());
      }
    }
    return removed;
  }

  @Override
  public void clear() {
    map.clear();
  }
}
