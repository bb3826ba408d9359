package pando.map;

import java.util.ArrayList;
import java.util.List;
import pando.fabric.Fabric;
import pando.fabric.memory.Closing;
import pando.index.IndexOptions;
import pando.index.RangeIndex;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.orca.OrcaOptions;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** A memory pool, and a new index in it, with all its compute servers in this process. */
final class PoolBacking implements Backing {
  private final IndexOptions options;

  /** Closes the index and the connection, in this order. */
  private final List<Runnable> closings = new ArrayList<>();

  private final Fabric fabric;

  PoolBacking(Fabric fabric, IndexOptions options) {
    this.fabric = fabric;
    this.options = options;
    closings.add(fabric::close);
  }

  @Override
  public <K, V> PandoMap<K, V> map(KeyCodec<K> keys, ValueCodec<V> values) {
    return options instanceof OrcaOptions orca && !CodecWords.fit(keys)
        ? mapOfBytes(orca, keys, values)
        : mapOfWords(keys, values);
  }

  private <K, V> PandoMap<K, V> mapOfWords(KeyCodec<K> keys, ValueCodec<V> values) {
    CodecWords.ofKeys(keys, options.system());
    RangeIndex index = options.create(fabric);
    closeAround(index::close);
    return PandoMap.of(index, keys, values);
  }

  private <K, V> PandoMap<K, V> mapOfBytes(
      OrcaOptions orca, KeyCodec<K> keys, ValueCodec<V> values) {
    ByteOptions bytes = ByteOptions.defaults().withCacheBytes(orca.cacheBytes());
    ByteIndex index =
        ByteIndex.create(
            fabric, bytes.withLabels(bytes.labels().withWriteBackNanos(orca.writeBackNanos())));
    closeAround(index::close);
    return PandoMap.of(index, keys, values);
  }

  /**
   * Closes the index once more at the end: one that could not be written back stays open till then.
   */
  private void closeAround(Runnable index) {
    closings.addFirst(index);
    closings.addLast(index);
  }

  @Override
  public void close() {
    Closing.all(closings);
  }
}
