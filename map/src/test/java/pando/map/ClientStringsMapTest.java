package pando.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Spliterator;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.client.FramesHost;
import pando.client.PandoClient;
import pando.client.StringTrio;
import pando.fabric.Fabric;
import pando.index.MeterReadings;
import pando.index.Seeds;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/**
 * What is particular to maps over byte strings of a client; the tests of all maps run over one,
 * too.
 */
@Timeout(120)
class ClientStringsMapTest {
  private Fabric fabric;
  private ByteIndex index;
  private StringTrio trio;

  @BeforeEach
  void open() {
    fabric = OpenMap.pool();
    index = ByteIndex.create(fabric, ByteOptions.defaults().withCacheBytes(1 << 20));
    trio = new StringTrio(index);
  }

  @AfterEach
  void close() {
    trio.close();
    index.close();
    fabric.close();
  }

  private PandoClient connect() {
    return PandoClient.connect(trio.addresses(), OpenMap.PATIENT);
  }

  private static String text(SplittableRandom random, int lengthMax) {
    int length = random.nextInt(lengthMax);
    return random
        .ints(length, 'a', 'd')
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }

  @Test
  void shouldHaveKeysAndValuesOfAnyLength() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2340));
    TreeMap<String, String> model = new TreeMap<>();
    try (PandoClient client = connect();
        PandoMap<String, String> map =
            PandoMap.of(client.byteStrings(), KeyCodec.strings(), ValueCodec.strings())) {
      for (int i = 0; i < Seeds.count(300, 600, 20_000); i++) {
        trio.move(random);
        String key = text(random, i % 10 == 0 ? 5_000 : 12);
        String value = text(random, i % 20 == 0 ? 100_000 : 30);
        assertThat(map.put(key, value)).isEqualTo(model.put(key, value));
        String other = text(random, 12);
        assertThat(map.remove(other)).isEqualTo(model.remove(other));
        assertThat(map.merge(key, "x", String::concat))
            .isEqualTo(model.merge(key, "x", String::concat));
      }
      String middle = text(random, 12);
      assertThat(new ArrayList<>(map.entrySet())).isEqualTo(new ArrayList<>(model.entrySet()));
      assertThat(map.floorEntry(middle)).isEqualTo(model.floorEntry(middle));
      assertThat(map.headMap(middle, false).descendingMap())
          .isEqualTo(model.headMap(middle, false).descendingMap());
      assertThat(map.getAll(model.keySet())).isEqualTo(model);
    }
    try (PandoMap<String, String> own =
        PandoMap.of(index, KeyCodec.strings(), ValueCodec.strings())) {
      assertThat(own).as("in the compute server's process").isEqualTo(model);
    }
  }

  @Test
  void shouldPutAndGetManyWhileRangesMove() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2341));
    TreeMap<String, String> model = new TreeMap<>();
    try (PandoClient client = connect();
        PandoMap<String, String> map =
            PandoMap.of(client.byteStrings(), KeyCodec.strings(), ValueCodec.strings())) {
      for (int i = 0; i < Seeds.count(20, 60, 1_000); i++) {
        trio.move(random);
        TreeMap<String, String> some = new TreeMap<>();
        for (int n = random.nextInt(i % 2 == 0 ? 20 : 400); n > 0; n--) {
          some.put(text(random, 9), text(random, random.nextInt(50) == 0 ? 100_000 : 30));
        }
        map.putAll(some);
        model.putAll(some);
        List<String> asked = new ArrayList<>(some.keySet());
        model.keySet().forEach(key -> asked.add(key + "a"));
        TreeMap<String, String> expected = new TreeMap<>(model);
        expected.keySet().retainAll(asked);
        assertThat(map.getAll(asked)).isEqualTo(expected);
      }
      assertThat(map.async().getAll(model.keySet()).join()).isEqualTo(model);
    }
  }

  /** Each wait asks both compute servers for what is theirs. */
  @Test
  void shouldWaitFewTimesForMany() {
    FramesHost host = new FramesHost(index);
    TreeMap<Long, String> model = new TreeMap<>();
    for (long i = -500; i < 500; i++) {
      model.put(i, "v" + i);
    }
    try (PandoClient client = host.connect();
        PandoMap<Long, String> map =
            PandoMap.of(client.byteStrings(), KeyCodec.longs(), ValueCodec.strings())) {
      long before = host.waits();
      map.putAll(model);
      assertThat(host.waits() - before).isLessThan(50);
      before = host.waits();
      assertThat(map.getAll(model.keySet())).isEqualTo(model);
      assertThat(host.waits() - before).isLessThan(50);
    }
  }

  @Test
  void shouldFailAsOneEntryDoes() {
    try (PandoClient client = connect();
        PandoMap<byte[], byte[]> map =
            PandoMap.of(client.byteStrings(), KeyCodec.byteArrays(), ValueCodec.byteArrays())) {
      TreeMap<byte[], byte[]> entries = new TreeMap<>(Arrays::compareUnsigned);
      entries.put(new byte[] {1}, new byte[100]);
      entries.put(new byte[] {2}, new byte[491_521]);
      entries.put(new byte[] {3}, new byte[491_520]);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.putAll(entries))
          .withMessage("the value is too long: valueBytes=491521, maximum=491520");
      assertThat(map.get(new byte[] {1})).hasSize(100);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.getAll(List.of(new byte[] {1}, new byte[65_536])))
          .withMessage("the key is too long: keyBytes=65536, maximum=65535");
      map.putAll(Map.of());
      assertThat(map.getAll(List.of())).isEmpty();
    }
  }

  @Test
  void shouldTellWhatItKnowsAndRefuseTheRest() {
    try (PandoClient client = connect();
        PandoMap<byte[], byte[]> map =
            PandoMap.of(client.byteStrings(), KeyCodec.byteArrays(), ValueCodec.byteArrays())) {
      assertThat(map.put(new byte[65_535], new byte[491_520])).isNull();
      assertThat(map.get(new byte[65_535])).hasSize(491_520);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.put(new byte[65_536], new byte[1]))
          .withMessage("the key is too long: keyBytes=65536, maximum=65535");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.put(new byte[1], new byte[491_521]))
          .withMessage("the value is too long: valueBytes=491521, maximum=491520");
      assertThatExceptionOfType(UnsupportedOperationException.class)
          .isThrownBy(map::fabric)
          .withMessageContaining("a client reaches compute servers, and no memory server");
      assertThatIllegalStateException()
          .isThrownBy(() -> map.snapshot(map, 10))
          .withMessageContaining("run it in a compute server's process");
      assertThat(map.name()).isEqualTo("client");
      assertThat(map.verbs().roundTrips).isZero();
      assertThat(MeterReadings.of(map)).containsEntry("pando.partitions", 3.0);
      PandoMap<Long, Long> words = PandoMap.of(client, KeyCodec.longs(), ValueCodec.longs());
      assertThatIllegalStateException()
          .isThrownBy(() -> words.get(1L))
          .withMessageContaining("PandoMap.of(client.byteStrings(), keys, values)");
      words.close();
    }
  }

  @Test
  void shouldOpenByAnAddress() {
    try (Pando pando = Pando.open("client:" + trio.addresses(), OpenMap.PATIENT)) {
      PandoMap<String, Long> map = pando.map(KeyCodec.strings(), ValueCodec.longs());
      map.put("a long key of a map", 2L);
      assertThat(map).isEqualTo(Map.of("a long key of a map", 2L));
    }
  }

  @Test
  void shouldSplitWhereComputeServersDo() {
    try (PandoClient client = connect();
        PandoMap<Long, Long> map =
            PandoMap.of(client.byteStrings(), KeyCodec.longs(), ValueCodec.longs())) {
      List<Long> keys = List.of(Long.MIN_VALUE, -1L, 0L, 1L, Long.MAX_VALUE);
      keys.forEach(key -> map.put(key, key));
      Spliterator<Long> upper = map.keySet().spliterator();
      Spliterator<Long> lower = upper.trySplit();
      assertThat(lower).isNotNull();
      List<Long> seen = new ArrayList<>();
      lower.forEachRemaining(seen::add);
      assertThat(seen).isNotEmpty();
      upper.forEachRemaining(seen::add);
      assertThat(seen).isEqualTo(keys);
    }
  }
}
