package pando.map;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;
import pando.index.bytes.ByteStrings;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/**
 * The maps of an index of byte strings that have names. Thread-safe, and so are the processes that
 * share the index.
 */
final class NamedMaps implements AutoCloseable {
  /*
   * The catalogue is a map of the same index, from names to entries; KeySpace draws where all of
   * them are. A name has an entry with the number of its map, which says where the map's keys are.
   * The entry of the empty name, which no map has, has the last number that was given. It only
   * grows, so a number never comes again, and it is written to the pool before its map is: a crash
   * may lose a new map, but cannot give its number to another one. Who puts an entry of a name first
   * has made the map; the others take that one.
   *
   * A drop has three steps: it marks the entry, removes the keys, and removes the entry. Each is
   * written to the pool before the next one begins. If a process ends in between, the next one
   * that opens its first named map, or meets the name, does the rest. Two may do it at once: the
   * number is the map's for ever, and an entry is removed only as it was seen.
   */

  private static final int NAME_BYTES_MAX = 255;
  private static final String LAST_NUMBER = "";

  private final ByteStrings strings;
  private final PandoMap<String, Entry> catalogue;

  /** Maps that this object has opened, by number. Guarded by itself, as are the following. */
  private final Map<Integer, List<PandoMap<?, ?>>> opened = new HashMap<>();

  /** Numbers of maps that this object has dropped. */
  private final Set<Integer> dropped = new HashSet<>();

  private boolean closed;

  /**
   * What the catalogue has of a name.
   *
   * @param dropped whether the map is being dropped
   * @param number of the map
   * @param keys name of the codec of its keys
   * @param values name of the codec of its values
   */
  record Entry(boolean dropped, int number, String keys, String values) {
    private static final int FORMAT = 1;
    private static final int HEAD_BYTES = 2 + 2 * Integer.BYTES;

    /**
     * <pre>
     *  0        1         2        6            10     10 + length
     * +--------+---------+--------+------------+------+----------+
     * | format | dropped | number | its length | keys | values   |
     * +--------+---------+--------+------------+------+----------+
     * </pre>
     */
    static final ValueCodec<Entry> CODEC =
        ValueCodec.of("namedMaps", Entry::encoded, Entry::decoded);

    private byte[] encoded() {
      byte[] keyName = keys.getBytes(StandardCharsets.UTF_8);
      byte[] valueName = values.getBytes(StandardCharsets.UTF_8);
      return ByteBuffer.allocate(HEAD_BYTES + keyName.length + valueName.length)
          .put((byte) FORMAT)
          .put((byte) (dropped ? 1 : 0))
          .putInt(number)
          .putInt(keyName.length)
          .put(keyName)
          .put(valueName)
          .array();
    }

    private static Entry decoded(byte[] bytes) {
      ByteBuffer from = ByteBuffer.wrap(bytes);
      int format = bytes.length == 0 ? -1 : from.get();
      if (format != FORMAT || bytes.length < HEAD_BYTES) {
        throw new IllegalStateException(
            "the named maps of this pool are those of another version: format=%s, known=%s"
                .formatted(format, FORMAT));
      }
      boolean isDropped = from.get() != 0;
      int number = from.getInt();
      int length = Math.clamp(from.getInt(), 0, from.remaining());
      String keys = StandardCharsets.UTF_8.decode(from.slice(HEAD_BYTES, length)).toString();
      from.position(HEAD_BYTES + length);
      return new Entry(isDropped, number, keys, StandardCharsets.UTF_8.decode(from).toString());
    }
  }

  /** Takes an index, and ends drops that other processes have begun. */
  NamedMaps(ByteStrings strings) {
    this.strings = strings;
    this.catalogue = PandoMap.of(strings, KeySpace.CATALOGUE, KeyCodec.utf8(), Entry.CODEC);
    try {
      catalogue.forEach((name, entry) -> {
        if (entry.dropped()) {
          endDrop(name, entry);
        }
      });
    } catch (Throwable e) {
      Closing.after(e, catalogue::close);
      throw e;
    }
  }

  /** Opens a map, and makes it if there is none of this name. */
  <K, V> PandoMap<K, V> map(String name, KeyCodec<K> keys, ValueCodec<V> values) {
    checkName(name);
    ByteMapIndex.checkFits(strings, KeySpace.CATALOGUE, keys);
    while (true) {
      Entry entry = entry(name, keys, values);
      if (entry.dropped()) {
        endDrop(name, entry);
        continue;
      }
      if (!entry.keys().equals(keys.name()) || !entry.values().equals(values.name())) {
        throw new IllegalArgumentException(
            "the map has other codecs: name=%s, keys=%s, given=%s, values=%s, given=%s"
                .formatted(name, entry.keys(), keys.name(), entry.values(), values.name()));
      }
      PandoMap<K, V> map = open(entry.number(), keys, values);
      if (map != null) {
        return map;
      }
    }
  }

  /** Returns the entry of a name, and puts one if there is none. */
  private Entry entry(String name, KeyCodec<?> keys, ValueCodec<?> values) {
    Entry known = catalogue.get(name);
    if (known != null) {
      return known;
    }
    Entry made = new Entry(false, newNumber(), keys.name(), values.name());
    Entry before = catalogue.putIfAbsent(name, made);
    return before == null ? made : before;
  }

  private int newNumber() {
    while (true) {
      Entry last = catalogue.get(LAST_NUMBER);
      int number = last == null ? 1 : last.number() + 1;
      if (number > KeySpace.NUMBER_MAX) {
        throw new IllegalStateException("too many maps were made: maximum=" + KeySpace.NUMBER_MAX);
      }
      Entry next = new Entry(false, number, "", "");
      boolean isMine =
          last == null
              ? catalogue.putIfAbsent(LAST_NUMBER, next) == null
              : catalogue.replace(LAST_NUMBER, last, next);
      if (isMine) {
        strings.flush();
        return number;
      }
    }
  }

  /** Opens a map by its number; returns {@code null} if this object has dropped it. */
  private <K, V> @Nullable PandoMap<K, V> open(int number, KeyCodec<K> keys, ValueCodec<V> values) {
    PandoMap<K, V> map = share(number, keys, values);
    synchronized (opened) {
      if (closed) {
        throw new IllegalStateException("this Pando is closed");
      }
      if (dropped.contains(number)) {
        return null;
      }
      opened.computeIfAbsent(number, _ -> new ArrayList<>(1)).add(map);
      return map;
    }
  }

  private <K, V> PandoMap<K, V> share(int number, KeyCodec<K> keys, ValueCodec<V> values) {
    ByteMapIndex<K, V> index = new ByteMapIndex<>(strings, KeySpace.ofMap(number), keys, values);
    return PandoMap.of(index, catalogue, map -> forget(number, map));
  }

  @SuppressWarnings("ReferenceEquality") // Maps are equal by their entries.
  private void forget(int number, PandoMap<?, ?> map) {
    synchronized (opened) {
      opened.computeIfPresent(
          number,
          (_, maps) -> {
            maps.removeIf(each -> each == map);
            return maps.isEmpty() ? null : maps;
          });
    }
  }

  /** Returns the names of all maps, in the order of their UTF-8. */
  List<String> names() {
    List<String> names = new ArrayList<>();
    catalogue.forEach((name, entry) -> {
      if (!name.equals(LAST_NUMBER) && !entry.dropped()) {
        names.add(name);
      }
    });
    return names;
  }

  /** Removes a map with its entries; returns whether there was one. */
  boolean drop(String name) {
    checkName(name);
    while (true) {
      Entry entry = catalogue.get(name);
      if (entry == null) {
        return false;
      }
      Entry marked = new Entry(true, entry.number(), entry.keys(), entry.values());
      boolean isMine = !entry.dropped() && catalogue.replace(name, entry, marked);
      if (isMine || entry.dropped()) {
        endDrop(name, marked);
        return isMine;
      }
    }
  }

  private void endDrop(String name, Entry marked) {
    strings.flush();
    List<PandoMap<?, ?>> maps;
    synchronized (opened) {
      dropped.add(marked.number());
      maps = List.copyOf(opened.getOrDefault(marked.number(), List.of()));
    }
    Closing.all(
        maps.stream()
            .<Runnable>map(map -> () -> map.close("the map was dropped: name=" + name))
            .toList());
    try (PandoMap<byte[], byte[]> rest =
        share(marked.number(), KeyCodec.byteArrays(), ValueCodec.byteArrays())) {
      rest.clear();
    }
    strings.flush();
    catalogue.remove(name, marked);
  }

  private void checkName(String name) {
    int most = Math.min(NAME_BYTES_MAX, ByteMapIndex.keyBytesMax(strings, KeySpace.CATALOGUE));
    boolean isText = StandardCharsets.UTF_8.newEncoder().canEncode(name);
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (!isText || bytes == 0 || bytes > most) {
      throw new IllegalArgumentException(
          "a name of a map has 1 to %s bytes of UTF-8: %s"
              .formatted(most, isText ? "bytes=" + bytes : "it has half of a surrogate pair"));
    }
  }

  /** Makes an empty batch of changes. */
  Batch batch() {
    return new Batch(strings, catalogue);
  }

  /** Writes what was changed to the pool. */
  void flush() {
    strings.flush();
  }

  /** Returns the name of the system of the index. */
  String system() {
    return strings.name();
  }

  /** Closes the maps that this object has opened; all entries stay. */
  @Override
  public void close() {
    List<Runnable> closings = new ArrayList<>();
    synchronized (opened) {
      closed = true;
      opened.values().forEach(maps -> maps.forEach(map -> closings.add(map::close)));
    }
    closings.add(catalogue::close);
    Closing.all(closings);
  }
}
