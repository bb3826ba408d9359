package pando.map;

import java.util.AbstractMap;
import java.util.Objects;

/** An entry as it was when it was copied; a value that is set goes to the map, too. */
final class WritableEntry<K, V> extends AbstractMap.SimpleEntry<K, V> {
  private static final long serialVersionUID = 1L;

  private final transient RangeMap<K, V> map;

  WritableEntry(RangeMap<K, V> map, K key, V value) {
    super(key, value);
    this.map = map;
  }

  /**
   * Replaces the value, here and in the map. If the key has been removed there, it stays removed:
   * as if that had happened afterwards.
   */
  @Override
  public V setValue(V value) {
    V before = map.replace(getKey(), Objects.requireNonNull(value, "value"));
    V copied = super.setValue(value);
    return before != null ? before : copied;
  }
}
