package pando.map;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import pando.index.bytes.ByteArguments;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;

/**
 * Changes of any maps of one {@link Pando} that count together:
 *
 * <pre>{@code
 * pando.batch().put(accounts, "ada", 90L).put(accounts, "grace", 110L).remove(open, 17L).commit();
 * }</pre>
 *
 * <p>Others see all of them or none, and in a data folder a crash keeps all of them or none. A
 * thread that has seen one of them sees the others; a scan that began before may have passed some.
 * Keys and values are encoded when they are added. Of several changes of one key the last one
 * counts.
 *
 * <p>Not thread-safe.
 */
public final class Batch {
  private final ByteStrings strings;
  private final PandoMap<?, ?> sessions;

  /** The changes by their keys; without a value the key is removed. */
  private final Map<ByteBuffer, Change> changes = new LinkedHashMap<>();

  /** Those that have a change, which are not compared by their entries. */
  private final Set<PandoMap<?, ?>> maps = Collections.newSetFromMap(new IdentityHashMap<>());

  private record Change(MemorySegment key, @Nullable MemorySegment value) {}

  /**
   * Makes an empty batch.
   *
   * @param sessions map of the byte strings whose sessions it uses
   */
  Batch(ByteStrings strings, PandoMap<?, ?> sessions) {
    this.strings = strings;
    this.sessions = sessions;
  }

  /**
   * Adds the change of a key to a value.
   *
   * @throws IllegalArgumentException if the map is none of the same Pando's byte strings, or the
   *     key or the value is too long
   * @throws IllegalStateException if the map is closed
   */
  public <K, V> Batch put(PandoMap<K, V> map, K key, V value) {
    Objects.requireNonNull(value, "value");
    ByteMapIndex<K, V> index = indexOf(map);
    MemorySegment encoded = index.encoded(value);
    ByteArguments.checkValue(encoded, strings.valueBytesMax());
    return add(map, index, key, encoded);
  }

  /**
   * Adds the removal of a key, whether or not it is there.
   *
   * @throws IllegalArgumentException if the map is none of the same Pando's byte strings, or the
   *     key is too long
   * @throws IllegalStateException if the map is closed
   */
  public <K> Batch remove(PandoMap<K, ?> map, K key) {
    return add(map, indexOf(map), key, null);
  }

  @SuppressWarnings("ReferenceEquality") // The same keys are others elsewhere.
  private <K, V> ByteMapIndex<K, V> indexOf(PandoMap<K, V> map) {
    ByteMapIndex<K, V> index = map.byteIndex();
    if (index == null || index.index() != strings) {
      throw new IllegalArgumentException(
          "a batch has changes of byte strings of one Pando: map=%s, byte strings=%s"
              .formatted(map.name(), index != null));
    }
    map.checkOpen();
    return index;
  }

  private <K> Batch add(
      PandoMap<K, ?> map, ByteMapIndex<K, ?> index, K key, @Nullable MemorySegment value) {
    Objects.requireNonNull(key, "key");
    MemorySegment encoded = index.keys().of(key);
    changes.put(encoded.asByteBuffer(), new Change(encoded, value));
    maps.add(map);
    return this;
  }

  /** Returns how many keys have a change. */
  public int size() {
    return changes.size();
  }

  /** Forgets all changes that were added. */
  public void clear() {
    changes.clear();
    maps.clear();
  }

  /**
   * Makes the changes, and empties the batch. If this throws, none is made, unless it is an {@link
   * pando.fabric.UnknownOutcomeException}, and the batch stays as it is.
   *
   * @throws IllegalArgumentException if all of them together are too long for the log of the data
   *     folder: more than about 20 MiB; or take more than 128 MiB of memory, with what they replace
   * @throws IllegalStateException if a map is closed, or over a client, which cannot keep others
   *     out
   * @throws pando.journal.LogFullException if the disk is full
   * @throws pando.journal.LogFailedException if the disk has failed
   * @throws pando.fabric.UnknownOutcomeException if any of them may have been made
   */
  public void commit() {
    sessions.withByteSession(session -> {
      List<MemorySegment> keys = changes.values().stream().map(Change::key).toList();
      session.atomically(
          keys,
          its -> {
            // Inside, where no drop removes keys: one that begins later removes those of the batch.
            maps.forEach(PandoMap::checkOpen);
            make(its, changes.values());
          });
    });
    clear();
  }

  private static void make(ByteSession session, Collection<Change> changes) {
    for (Change change : changes) {
      MemorySegment value = change.value();
      if (value == null) {
        session.discard(change.key());
      } else {
        session.store(change.key(), value);
      }
    }
  }
}
