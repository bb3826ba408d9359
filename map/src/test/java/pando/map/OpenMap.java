package pando.map;

import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.SystemUnderTest;
import pando.index.TreeCheck;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/**
 * A map over an index of several compute servers with the smallest nodes there are. The tree is
 * checked at the end.
 */
record OpenMap<K, V>(
    Configuration configuration, Fabric fabric, RangeIndex index, PandoMap<K, V> map)
    implements AutoCloseable {
  private static final int SERVERS = 3;

  /** Opens an empty map from numbers to numbers. */
  static OpenMap<Long, Long> of(SystemUnderTest system) {
    return of(system, KeyCodec.longs(), ValueCodec.longs());
  }

  /** Opens an empty map. */
  static <K, V> OpenMap<K, V> of(SystemUnderTest system, KeyCodec<K> keys, ValueCodec<V> values) {
    Configuration configuration = system.tiny(SERVERS);
    Fabric fabric = Pools.open(SERVERS, 16 << 20, 1);
    RangeIndex index = configuration.create(fabric);
    return new OpenMap<>(configuration, fabric, index, PandoMap.of(index, keys, values));
  }

  @Override
  public void close() {
    try (fabric) {
      map.close();
      index.close();
      TreeCheck.walk(fabric, configuration);
    }
  }
}
