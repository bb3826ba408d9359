package pando.map;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.memory.Closing;
import pando.index.Configuration;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.SystemUnderTest;
import pando.index.TreeCheck;
import pando.index.blob.BlobSpace;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.orca.OrcaOptions;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/**
 * A map over an index of several compute servers with the smallest nodes there are, or over byte
 * strings in the smallest blocks. The tree is checked at the end.
 */
final class OpenMap<K, V> implements AutoCloseable {
  private static final int SERVERS = 3;

  /** Blocks and leaves that stay where all entries are gone. */
  private static final long EMPTY_BYTES_MAX = 16 << 10;

  private final Fabric fabric;
  private final List<Runnable> closings = new ArrayList<>();
  private final PandoMap<K, V> map;
  private @Nullable RangeIndex index;
  private @Nullable ByteIndex byteIndex;
  private @Nullable WordMapIndex<K, V> words;

  private OpenMap(
      Fabric fabric, @Nullable SystemUnderTest system, KeyCodec<K> keys, ValueCodec<V> values) {
    this.fabric = fabric;
    this.map = system == null ? byteMap(keys, values) : wordMap(system, keys, values);
    closings.addFirst(map::close);
    closings.add(fabric::close);
  }

  private PandoMap<K, V> wordMap(SystemUnderTest system, KeyCodec<K> keys, ValueCodec<V> values) {
    Configuration configuration = system.tiny(SERVERS);
    RangeIndex made = configuration.create(fabric);
    index = made;
    closings.add(made::close);
    closings.add(() -> TreeCheck.walk(fabric, configuration));
    WordMapIndex<K, V> used = new WordMapIndex<>(made, keys, values);
    words = used;
    return PandoMap.of(used);
  }

  private PandoMap<K, V> byteMap(KeyCodec<K> keys, ValueCodec<V> values) {
    ByteOptions options =
        ByteOptions.defaults()
            .withBlockBytes(ByteOptions.BLOCK_BYTES_MIN, 16)
            .withCacheBytes(4_000)
            .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));
    ByteIndex made = ByteIndex.create(fabric, options);
    byteIndex = made;
    closings.add(made::close);
    return PandoMap.of(made, keys, values);
  }

  /** Opens an empty map from numbers to numbers. */
  static OpenMap<Long, Long> of(SystemUnderTest system) {
    return of(system, KeyCodec.longs(), ValueCodec.longs());
  }

  /** Opens an empty map, over byte strings where there is no system. */
  static <K, V> OpenMap<K, V> of(
      @Nullable SystemUnderTest system, KeyCodec<K> keys, ValueCodec<V> values) {
    return of(pool(), system, keys, values);
  }

  /** As {@link #of}, in a pool that it closes at the end. */
  static <K, V> OpenMap<K, V> of(
      Fabric fabric, @Nullable SystemUnderTest system, KeyCodec<K> keys, ValueCodec<V> values) {
    return new OpenMap<>(fabric, system, keys, values);
  }

  /** Opens a pool for a map. */
  static Fabric pool() {
    return Pools.open(SERVERS, 16 << 20, 1);
  }

  PandoMap<K, V> map() {
    return map;
  }

  RangeIndex index() {
    return Objects.requireNonNull(index);
  }

  /** Empties and closes the map, and checks that no value stays in the pool. */
  void checkNoOrphans() {
    map.clear();
    map.close();
    BlobSpace space = words == null ? null : words.space();
    if (space != null) {
      assertThat(space.bytesInUse()).isZero();
    }
    if (byteIndex != null) {
      assertThat(byteIndex.blocks()).isEqualTo(1);
      assertThat(byteIndex.poolBytes()).isLessThan(EMPTY_BYTES_MAX);
    }
  }

  @Override
  public void close() {
    Closing.all(closings);
  }
}
