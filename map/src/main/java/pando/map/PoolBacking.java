package pando.map;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.memory.Closing;
import pando.index.IndexOptions;
import pando.index.RangeIndex;
import pando.index.Systems;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteStrings;
import pando.index.orca.OrcaOptions;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** A memory pool, and a new index in it, with all its compute servers in this process. */
final class PoolBacking implements Backing {
  private final IndexOptions options;

  /** Closes the index and the connection, in this order. */
  private final List<Runnable> closings = new ArrayList<>();

  private final Fabric fabric;

  /** The index, if it is one of byte strings. */
  private @Nullable ByteIndex strings;

  private boolean hasWords;

  PoolBacking(Fabric fabric, IndexOptions options) {
    this.fabric = fabric;
    this.options = options;
    closings.add(fabric::close);
  }

  @Override
  public <K, V> PandoMap<K, V> map(KeyCodec<K> keys, ValueCodec<V> values) {
    if (strings != null) {
      return PandoMap.of(strings, keys, values);
    }
    return options instanceof OrcaOptions orca && !CodecWords.fit(keys)
        ? PandoMap.of(strings(orca), keys, values)
        : mapOfWords(keys, values);
  }

  private <K, V> PandoMap<K, V> mapOfWords(KeyCodec<K> keys, ValueCodec<V> values) {
    CodecWords.ofKeys(keys, options.system());
    RangeIndex index = options.create(fabric);
    hasWords = true;
    closeAround(index::close);
    return PandoMap.of(index, keys, values);
  }

  @Override
  public ByteStrings strings() {
    if (hasWords) {
      throw new IllegalStateException(
          "this pool has an index of words, which has one map: open its first named map before the"
              + " map without a name, or give that one a name, too");
    }
    if (!(options instanceof OrcaOptions orca)) {
      throw new IllegalStateException(
          "named maps need byte strings, which Pando makes with %s alone: system=%s"
              .formatted(Systems.DEFAULT, options.system()));
    }
    return strings(orca);
  }

  private ByteIndex strings(OrcaOptions orca) {
    ByteIndex index = strings;
    if (index == null) {
      index = ByteIndex.create(fabric, stringOptions(orca));
      closeAround(index::close);
      strings = index;
    }
    return index;
  }

  /** Returns the options of byte strings that cache and write back as an index of words would. */
  static ByteOptions stringOptions(OrcaOptions orca) {
    ByteOptions bytes = ByteOptions.defaults().withCacheBytes(orca.cacheBytes());
    return bytes.withLabels(bytes.labels().withWriteBackNanos(orca.writeBackNanos()));
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
