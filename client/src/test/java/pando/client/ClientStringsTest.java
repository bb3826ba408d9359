package pando.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
