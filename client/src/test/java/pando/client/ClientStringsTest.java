package pando.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import pando.fabric.Fabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.bytes.ByteEnds;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteKeys;
import pando.index.bytes.ByteModelRun;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;
import pando.index.orca.OrcaOptions;

/** Byte strings over the network beside a plain map, while ranges go from server to server. */
@Timeout(300)
class ClientStringsTest {
  private static final int OPERATIONS = Seeds.count(4_000, 8_000, 100_000);

  private static final ClientOptions PATIENT =
      ClientOptions.defaults()
          .withPatience(Duration.ofSeconds(30))
          .withAnswerTimeout(Duration.ofMinutes(1));

  private Fabric fabric;
  private ByteIndex index;
  private StringTrio trio;

  @BeforeEach
  void open() {
    fabric = Pools.open(2, 64 << 20, 1);
    index = ByteIndex.create(fabric, tiny());
    trio = new StringTrio(index);
  }

  static ByteOptions tiny() {
    return ByteOptions.defaults()
        .withBlockBytes(ByteOptions.BLOCK_BYTES_MIN, 16)
        .withCacheBytes(20_000)
        .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));
  }

  @AfterEach
  void close() {
    trio.close();
    index.close();
    fabric.close();
  }

  @Test
  void shouldHaveTheEmptyStringAndTheLongestOnes() {
    try (PandoClient client = PandoClient.connect(trio.addresses(), PATIENT);
        ByteStrings strings = client.byteStrings();
        ByteSession session = strings.session()) {
      ByteEnds.check(session, strings.keyBytesMax());
    }
  }

  @ParameterizedTest
  @CsvSource({"12, 40, 1", "300, 300, 4", "9, 200000, 20"})
  void shouldBehaveLikeTreeMapWhileRangesMove(int keyBytes, int valueBytes, int share) {
    SplittableRandom random = new SplittableRandom(Seeds.of(2301));
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    int operations = OPERATIONS / share;
    try (PandoClient client = PandoClient.connect(trio.addresses(), PATIENT);
        ByteStrings strings = client.byteStrings();
        ByteSession session = strings.session()) {
      for (int i = 0; i < operations; i++) {
        if (i % 4 == 0) {
          trio.move(random);
        }
        boolean shrinks = i / (operations / 8) % 2 == 1;
        byte[] key = ByteKeys.draw(random, keyBytes);
        byte[] value = ByteKeys.value(random, valueBytes);
        ByteModelRun.operate(session, model, random, shrinks, key, value);
      }
      ByteModelRun.checkAll(session, model);
      assertThat(strings.partitioning().epoch()).as("changes seen").isGreaterThan(5);
    }
    try (ByteSession own = index.session()) {
      ByteModelRun.checkAll(own, model);
    }
  }

  /** Ranges begin anywhere: with long strings, with such as begin alike, and with zeros. */
  static Stream<List<byte[]>> fences() {
    byte[] alike = "the same ten and more bytes".getBytes(StandardCharsets.US_ASCII);
    byte[] longest = new byte[ByteIndex.KEY_BYTES_MAX];
    return Stream.of(
        List.of(new byte[] {0}, new byte[] {0, 0}),
        List.of(new byte[9], new byte[10]),
        List.of(alike, Arrays.copyOf(alike, alike.length + 1)),
        List.of(Arrays.copyOf(alike, 20), alike),
        List.of(
            new byte[] {'a', 0, 0, 0, 0, 0, 0, 0, 1, 0}, new byte[] {'a', 0, 0, 0, 0, 0, 0, 0, 2}),
        List.of(longest, new byte[] {-1, -1, -1, -1, -1, -1, -1, -1, -1}));
  }

  /** The strings right at the fences, where other compute servers begin. */
  @ParameterizedTest
  @MethodSource("fences")
  void shouldCrossTheBoundariesOfRanges(List<byte[]> fences) {
    trio.moveTo(fences.get(0), fences.get(1));
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    List<byte[]> keys = new ArrayList<>();
    for (byte[] fence : fences) {
      keys.addAll(List.of(fence, Arrays.copyOf(fence, fence.length - 1), below(fence)));
      keys.add(Arrays.copyOf(fence, Math.min(fence.length + 1, ByteIndex.KEY_BYTES_MAX)));
    }
    for (String address : trio.addresses().split(",", -1)) {
      try (PandoClient client = PandoClient.connect(address, PATIENT);
          ByteStrings strings = client.byteStrings();
          ByteSession session = strings.session()) {
        assertThat(strings.partitioning().servers()).isEqualTo(3);
        for (byte[] key : keys) {
          checkNeighbours(session, model, key);
          session.put(MemorySegment.ofArray(key), MemorySegment.ofArray(new byte[20]));
          model.put(key, new byte[20]);
          keys.forEach(each -> checkNeighbours(session, model, each));
          ByteModelRun.checkAll(session, model);
        }
        for (byte[] key : keys) {
          session.discard(MemorySegment.ofArray(key));
          model.remove(key);
          keys.forEach(each -> checkNeighbours(session, model, each));
          ByteModelRun.checkAll(session, model);
        }
      }
    }
  }

  /** Returns a string just below, whose last byte is less by one. */
  private static byte[] below(byte[] key) {
    byte[] less = key.clone();
    int last = less.length - 1;
    return less[last] == 0 ? Arrays.copyOf(key, last) : with(less, last, less[last] - 1);
  }

  private static byte[] with(byte[] bytes, int place, int value) {
    bytes[place] = (byte) value;
    return bytes;
  }

  private static void checkNeighbours(
      ByteSession session, NavigableMap<byte[], byte[]> model, byte[] key) {
    MemorySegment its = MemorySegment.ofArray(key);
    check(session, session.lower(its), model.lowerKey(key));
    check(session, session.higher(its), model.higherKey(key));
    check(session, session.floor(its), model.floorKey(key));
    check(session, session.ceiling(its), model.ceilingKey(key));
    check(session, session.first(), model.isEmpty() ? null : model.firstKey());
    check(session, session.last(), model.isEmpty() ? null : model.lastKey());
  }

  private static void check(ByteSession session, boolean found, byte @Nullable [] key) {
    assertThat(found).isEqualTo(key != null);
    if (key != null) {
      assertThat(ByteKeys.bytes(session.key())).isEqualTo(key);
    }
  }

  /** Also where the client does not know that there are other ranges, or to whom they went. */
  @Test
  void shouldFlushEachComputeServer() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2303));
    try (PandoClient client = PandoClient.connect(trio.addresses(), PATIENT);
        ByteStrings strings = client.byteStrings()) {
      for (int round = 0; round < 20; round++) {
        List<Integer> before = trio.flushes();
        strings.flush();
        List<Integer> after = trio.flushes();
        for (int server = 0; server < before.size(); server++) {
          assertThat(after.get(server)).isGreaterThan(before.get(server));
        }
        trio.move(random);
      }
    }
  }

  /** Several threads count; the keys go from one compute server to another meanwhile. */
  @Tag("campaign")
  @Test
  void shouldCountEachIncrementWhileRangesMove() throws Exception {
    int threads = 4;
    int increments = Seeds.count(300, 600, 20_000);
    AtomicInteger left = new AtomicInteger(threads);
    try (PandoClient client = PandoClient.connect(trio.addresses(), PATIENT);
        ByteStrings strings = client.byteStrings()) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        SplittableRandom random = new SplittableRandom(Seeds.of(2302 + thread));
        tasks.add(() -> {
          try (ByteSession session = strings.session()) {
            for (int i = 0; i < increments; i++) {
              increment(session, MemorySegment.ofArray(ByteKeys.draw(random, 2)));
            }
          } finally {
            left.decrementAndGet();
          }
          return null;
        });
      }
      SplittableRandom random = new SplittableRandom(Seeds.of(2310));
      tasks.add(() -> {
        while (left.get() > 0) {
          trio.move(random);
          Thread.onSpinWait();
        }
        return null;
      });
      Threads.run(tasks);
      long[] sum = new long[1];
      try (ByteSession session = strings.session()) {
        long _ =
            session.scan(
                MemorySegment.NULL,
                null,
                Long.MAX_VALUE,
                (_, value) -> {
                  sum[0] += value.get(ByteStrings.WORD, 0);
                  return true;
                });
      }
      assertThat(sum[0]).isEqualTo((long) threads * increments);
    }
  }

  private static void increment(ByteSession session, MemorySegment key) {
    while (true) {
      if (session.get(key)) {
        MemorySegment before = session.value();
        if (session.replace(key, before, word(before.get(ByteStrings.WORD, 0) + 1))) {
          return;
        }
      } else if (session.putIfAbsent(key, word(1))) {
        return;
      }
    }
  }

  private static MemorySegment word(long value) {
    MemorySegment word = MemorySegment.ofArray(new byte[Long.BYTES]);
    word.set(ByteStrings.WORD, 0, value);
    return word;
  }
}
