package pando.map;

import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One thread's access to a map, for loops: each method does what the map's does. A call on the map
 * looks for a free session, this one has its own.
 *
 * <p>Not thread-safe: one session, one thread. After {@link #close}, and after the map was closed,
 * every operation throws {@link IllegalStateException}.
 *
 * @param <K> keys
 * @param <V> values
 */
public final class MapSession<K, V> implements AutoCloseable {
  private final PandoMap<K, V> map;
  private final Words<K> keys;
  private final Entries<K, V> entries;

  MapSession(PandoMap<K, V> map, Words<K> keys, Entries<K, V> entries) {
    this.map = map;
    this.keys = keys;
    this.entries = entries;
  }

  private long word(K key) {
    map.checkOpen();
    return keys.toWord(Objects.requireNonNull(key, "key"));
  }

  private static <T> T checked(T value) {
    return Objects.requireNonNull(value, "value");
  }

  /** As {@link PandoMap#get}. */
  public @Nullable V get(K key) {
    return entries.get(word(key));
  }

  /** As {@link PandoMap#containsKey}. */
  public boolean containsKey(K key) {
    return entries.contains(word(key));
  }

  /** As {@link PandoMap#put}. */
  public @Nullable V put(K key, V value) {
    return entries.put(word(key), checked(value));
  }

  /** As {@link PandoMap#putIfAbsent}. */
  public @Nullable V putIfAbsent(K key, V value) {
    return entries.putIfAbsent(word(key), checked(value));
  }

  /** As {@link PandoMap#replace(Object, Object)}. */
  public @Nullable V replace(K key, V value) {
    return entries.replace(word(key), checked(value));
  }

  /** As {@link PandoMap#replace(Object, Object, Object)}. */
  public boolean replace(K key, V expected, V value) {
    return entries.replace(word(key), checked(expected), checked(value));
  }

  /** As {@link PandoMap#remove(Object)}. */
  public @Nullable V remove(K key) {
    return entries.remove(word(key));
  }

  /** As {@link PandoMap#remove(Object, Object)}. */
  public boolean remove(K key, V expected) {
    return entries.remove(word(key), checked(expected));
  }

  /** As {@link PandoMap#floorEntry}. */
  public Map.@Nullable Entry<K, V> floorEntry(K key) {
    return entries.near(word(key), true, Bounds.ALL);
  }

  /** As {@link PandoMap#ceilingEntry}. */
  public Map.@Nullable Entry<K, V> ceilingEntry(K key) {
    return entries.near(word(key), false, Bounds.ALL);
  }

  /** Ends the session. A second call does nothing. */
  @Override
  public void close() {
    entries.close();
  }
}
