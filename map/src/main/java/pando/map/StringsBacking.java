package pando.map;

import pando.index.bytes.ByteStrings;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** Byte strings that the program has opened itself, and closes. */
record StringsBacking(ByteStrings strings) implements Backing {
  @Override
  public <K, V> PandoMap<K, V> map(KeyCodec<K> keys, ValueCodec<V> values) {
    return PandoMap.of(strings, keys, values);
  }

  @Override
  public void close() {}
}
