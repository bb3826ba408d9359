package pando.map;

import pando.client.PandoClient;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** A client of an index of words, or of byte strings. */
record ClientBacking(PandoClient client) implements Backing {
  @Override
  public <K, V> PandoMap<K, V> map(KeyCodec<K> keys, ValueCodec<V> values) {
    return client.servesByteStrings()
        ? PandoMap.of(client.byteStrings(), keys, values)
        : PandoMap.of(client, keys, values);
  }

  @Override
  public void close() {
    client.close();
  }
}
