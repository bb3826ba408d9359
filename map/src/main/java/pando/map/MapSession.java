package pando.map;

import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.StackRoom;

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
  private final Entries<K, V> entries;
  private boolean reading;

  MapSession(PandoMap<K, V> map, Entries<K, V> entries) {
    this.map = map;
    this.entries = entries;
  }

  private Entries<K, V> usable() {
    map.checkOpen();
    if (reading) {
      throw new IllegalStateException("a session must not be used by its own reader");
    }
    return entries;
  }

  private Entries<K, V> at(K key) {
    usable().seek(checked(key, "key"));
    return entries;
  }

  private Entries<K, V> toChangeAt(K key) {
    StackRoom.MAPS.check();
    return at(key);
  }

  private static <T> T checked(T argument, String name) {
    return Objects.requireNonNull(argument, name);
  }

  /** As {@link PandoMap#get}. */
  public @Nullable V get(K key) {
    return at(key).get();
  }

  /**
   * Lets a reader have the encoding of a value where it lies. The reader must not use this session.
   * Over an index of words this allocates nothing for a value of up to a megabyte; over byte
   * strings, a segment for the key, and what {@link pando.index.bytes.ByteSession#get} does.
   *
   * @return whether there is a value; else the reader is not called
   */
  public boolean get(K key, ValueReader reader) {
    Objects.requireNonNull(reader, "reader");
    at(key);
    reading = true;
    try {
      return entries.get(reader);
    } finally {
      reading = false;
    }
  }

  /** As {@link PandoMap#containsKey}. */
  public boolean containsKey(K key) {
    return at(key).contains();
  }

  /** As {@link PandoMap#put}. */
  public @Nullable V put(K key, V value) {
    return toChangeAt(key).put(checked(value, "value"));
  }

  /** As {@link PandoMap#putIfAbsent}. */
  public @Nullable V putIfAbsent(K key, V value) {
    return toChangeAt(key).putIfAbsent(checked(value, "value"));
  }

  /** As {@link PandoMap#replace(Object, Object)}. */
  public @Nullable V replace(K key, V value) {
    return toChangeAt(key).replace(checked(value, "value"));
  }

  /** As {@link PandoMap#replace(Object, Object, Object)}. */
  public boolean replace(K key, V expected, V value) {
    return toChangeAt(key).replace(checked(expected, "expected"), checked(value, "value"));
  }

  /** As {@link PandoMap#remove(Object)}. */
  public @Nullable V remove(K key) {
    return toChangeAt(key).remove();
  }

  /** As {@link PandoMap#remove(Object, Object)}. */
  public boolean remove(K key, V expected) {
    return toChangeAt(key).remove(checked(expected, "expected"));
  }

  /** As {@link PandoMap#floorEntry}. */
  public Map.@Nullable Entry<K, V> floorEntry(K key) {
    StackRoom.MAPS.check();
    return usable().near(checked(key, "key"), true, true, map.all());
  }

  /** As {@link PandoMap#ceilingEntry}. */
  public Map.@Nullable Entry<K, V> ceilingEntry(K key) {
    StackRoom.MAPS.check();
    return usable().near(checked(key, "key"), false, true, map.all());
  }

  /** Ends the session. A second call does nothing. */
  @Override
  public void close() {
    StackRoom.MAPS.check();
    if (reading) {
      throw new IllegalStateException("a session must not be closed by its own reader");
    }
    entries.close();
  }
}
