package pando.map;

import pando.client.PandoClient;
import pando.index.bytes.ByteStrings;
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
  public ByteStrings strings() {
    if (!client.servesByteStrings()) {
      throw new IllegalStateException(
          "named maps need byte strings, and these compute servers serve an index of words: start"
              + " them with --index byte-strings");
    }
    return client.byteStrings();
  }

  @Override
  public void close() {
    client.close();
  }
}
