package pando.map;

import java.util.AbstractCollection;
import java.util.Iterator;
import java.util.Spliterator;
import java.util.function.Predicate;

/** The values of a view of a map, in the order of their keys. */
final class Values<K, V> extends AbstractCollection<V> {
  private final RangeMap<K, V> map;

  Values(RangeMap<K, V> map) {
    this.map = map;
  }

  @Override
  public Iterator<V> iterator() {
    return new CursorIterator<>(map.cursor(EntryBatch.Content.ENTRIES), Cursor::value);
  }

  @Override
  public Spliterator<V> spliterator() {
    return new CursorSpliterator<>(map.cursor(EntryBatch.Content.ENTRIES), Cursor::value, 0, null);
  }

  @Override
  public int size() {
    return map.size();
  }

  @Override
  public boolean isEmpty() {
    return map.isEmpty();
  }

  /** Removes values that are still those which the filter has seen. */
  @Override
  public boolean removeIf(Predicate<? super V> filter) {
    return map.entrySet().removeIf(entry -> filter.test(entry.getValue()));
  }

  @Override
  public void clear() {
    map.clear();
  }
}
