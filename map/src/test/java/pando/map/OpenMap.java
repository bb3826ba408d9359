package pando.map;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import pando.client.ClientOptions;
import pando.client.DexPair;
import pando.client.PandoClient;
import pando.client.StringTrio;
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
import pando.index.bytes.ByteStrings;
import pando.index.dex.DexOptions;
import pando.index.orca.OrcaOptions;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/**
 * A map over an index of several compute servers with the smallest nodes there are, in this process
 * or behind a client, or over byte strings in the smallest blocks. The tree is checked at the end.
 */
final class OpenMap<K, V> implements AutoCloseable {
  private static final int SERVERS = 3;

  /** The default is two seconds, which a thread may wait for a processor where tests run. */
  static final ClientOptions PATIENT =
      ClientOptions.defaults()
          .withPatience(Duration.ofSeconds(30))
          .withAnswerTimeout(Duration.ofMinutes(1));

  /** Blocks and leaves that stay where all entries are gone. */
  private static final long EMPTY_BYTES_MAX = 16 << 10;

  private final Fabric fabric;
  private final List<Runnable> closings = new ArrayList<>();
  private final PandoMap<K, V> map;
  private @Nullable RangeIndex index;
  private @Nullable ByteIndex byteIndex;
  private @Nullable WordMapIndex<K, V> words;

  private OpenMap(Fabric fabric, Function<OpenMap<K, V>, PandoMap<K, V>> opening) {
    this.fabric = fabric;
    this.map = opening.apply(this);
    closings.addFirst(map::close);
    closings.add(fabric::close);
  }

  private PandoMap<K, V> wordMap(SystemUnderTest system, KeyCodec<K> keys, ValueCodec<V> values) {
    Configuration configuration = system.tiny(SERVERS);
    RangeIndex made = configuration.create(fabric);
    index = made;
    closings.add(made::close);
    closings.add(() -> TreeCheck.walk(fabric, configuration));
    WordMapIndex<K, V> used = WordMapIndex.of(made, keys, values);
    words = used;
    return PandoMap.of(used);
  }

  private PandoMap<K, V> clientMap(KeyCodec<K> keys, ValueCodec<V> values) {
    Configuration configuration = SystemUnderTest.DEX.tiny(DexPair.SERVERS);
    DexPair pair = new DexPair(fabric, (DexOptions) configuration.options());
    PandoClient client = PandoClient.connect(pair.addresses(), PATIENT);
    MovingBoundary moving = MovingBoundary.start(pair);
    closings.add(moving::close);
    closings.add(client::close);
    closings.add(pair::close);
    closings.add(() -> TreeCheck.walk(fabric, configuration));
    return PandoMap.of(client, keys, values);
  }

  private ByteStrings byteClient() {
    ByteIndex made = byteIndex();
    StringTrio trio = new StringTrio(made);
    PandoClient client = PandoClient.connect(trio.addresses(), PATIENT);
    MovingBoundary moving = MovingBoundary.start(trio::move);
    closings.add(moving::close);
    closings.add(client::close);
    closings.add(trio::close);
    closings.add(made::close);
    return client.byteStrings();
  }

  private ByteStrings byteStrings() {
    ByteIndex made = byteIndex();
    closings.add(made::close);
    return made;
  }

  /** Makes a map with a name, between two others and one without a name, which stay as they are. */
  private PandoMap<K, V> named(ByteStrings strings, KeyCodec<K> keys, ValueCodec<V> values) {
    Pando pando = Pando.of(strings);
    Map<String, String> entries = Map.of("", "the least", "\uffff".repeat(9), "the greatest");
    PandoMap<String, String> unnamed = pando.map(KeyCodec.strings(), ValueCodec.strings());
    unnamed.putAll(entries);
    List<PandoMap<String, String>> others = new ArrayList<>(List.of(unnamed));
    List<PandoMap<K, V>> named = new ArrayList<>();
    for (String name : List.of("before", "the map", "behind")) {
      if (name.equals("the map")) {
        named.add(pando.map(name, keys, values));
      } else {
        PandoMap<String, String> other = pando.map(name, KeyCodec.strings(), ValueCodec.strings());
        other.putAll(entries);
        others.add(other);
      }
    }
    closings.addFirst(pando::close);
    closings.addFirst(() -> others.forEach(other -> assertThat(other).isEqualTo(entries)));
    return named.getFirst();
  }

  private ByteIndex byteIndex() {
    ByteOptions options =
        ByteOptions.defaults()
            .withBlockBytes(ByteOptions.BLOCK_BYTES_MIN, 16)
            .withCacheBytes(4_000)
            .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));
    ByteIndex made = ByteIndex.create(fabric, options);
    byteIndex = made;
    return made;
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
    return new OpenMap<>(
        fabric,
        open ->
            system == null
                ? PandoMap.of(open.byteStrings(), keys, values)
                : open.wordMap(system, keys, values));
  }

  /** Opens an empty map with a name, beside others that must not change. */
  static <K, V> OpenMap<K, V> ofNamed(KeyCodec<K> keys, ValueCodec<V> values) {
    return new OpenMap<>(pool(), open -> open.named(open.byteStrings(), keys, values));
  }

  /** As {@link #ofNamed}, over a client of three compute servers. */
  static <K, V> OpenMap<K, V> ofNamedByClient(KeyCodec<K> keys, ValueCodec<V> values) {
    return new OpenMap<>(pool(), open -> open.named(open.byteClient(), keys, values));
  }

  /**
   * Opens an empty map over a client, to two compute servers whose boundary moves until it is
   * closed.
   */
  static <K, V> OpenMap<K, V> ofClient(KeyCodec<K> keys, ValueCodec<V> values) {
    return new OpenMap<>(pool(), open -> open.clientMap(keys, values));
  }

  /** As {@link #ofClient}, over byte strings of three compute servers. */
  static <K, V> OpenMap<K, V> ofByteClient(KeyCodec<K> keys, ValueCodec<V> values) {
    return ofByteClient(pool(), keys, values);
  }

  /** As {@link #ofByteClient}, in a pool that it closes at the end. */
  static <K, V> OpenMap<K, V> ofByteClient(Fabric fabric, KeyCodec<K> keys, ValueCodec<V> values) {
    return new OpenMap<>(fabric, open -> PandoMap.of(open.byteClient(), keys, values));
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
      // What was replaced is freed once the labels are written.
      byteIndex.flush();
      // Blocks that became empty while the write-back held a neighbour stay: they are small.
      assertThat(byteIndex.poolBytes()).isLessThan(EMPTY_BYTES_MAX);
    }
  }

  @Override
  public void close() {
    Closing.all(closings);
  }
}
