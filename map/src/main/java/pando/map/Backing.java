package pando.map;

import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** What a {@link Pando} opens: where the entries of its map are. Not thread-safe. */
interface Backing extends AutoCloseable {
  /** Makes the map. */
  <K, V> PandoMap<K, V> map(KeyCodec<K> keys, ValueCodec<V> values);

  /** Closes what was opened and made for the map, which is closed. */
  @Override
  void close();
}
