package pando.index.dex;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.AllocatedBytes;
import pando.index.MeterReadings;
import pando.index.PoolPart;
import pando.index.PoolSpace;
import pando.index.Pools;
import pando.index.Repartitioner;
import pando.index.Seeds;
import pando.index.bytes.ByteEnds;
import pando.index.bytes.ByteKeys;
import pando.index.bytes.ByteModelRun;
import pando.index.bytes.ByteSession;

/** Byte strings over DEX, in one process. */
class DexStringsTest {
  private static final int OPERATIONS = Seeds.count(3_000, 10_000, 400_000);

  private static DexOptions options(int keyBytes, int nodeBytes, int computeServers) {
    return DexOptions.defaults()
        .with("key-bytes", String.valueOf(keyBytes))
        .with("node-bytes", String.valueOf(nodeBytes))
        .with("cache-bytes", String.valueOf(64 * nodeBytes))
        .with("compute-servers", String.valueOf(computeServers));
  }

  @Test
  void shouldHaveTheEmptyStringAndTheLongestOnes() {
    try (Fabric fabric = Pools.open(2, 16 << 20, 1);
        DexIndex index = DexIndex.create(fabric, options(24, 256, 3));
        DexStrings strings = DexStrings.over(index);
        ByteSession session = strings.session()) {
      ByteEnds.check(session, strings.keyBytesMax());
    }
  }

  @ParameterizedTest(name = "keyBytes={0} compute={2} strings of {3}, values of {4} {5}")
  @CsvSource({
    "16,   256,  1, 14,    40,     contrary=0",
    "16,   256,  3, 5,     300,    admission=0.7",
    "64,   512,  3, 62,    12000,  contrary=0.3",
    "1024, 8192, 3, 1022,  200,    offloading=off",
    "24,   256,  1, 22,    60000,  caching=off",
  })
  void shouldBeLikeAMap(
      int keyBytes, int nodeBytes, int compute, int stringBytes, int valueBytes, String setting) {
    SplittableRandom random = new SplittableRandom(Seeds.of(3201));
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    String[] set = setting.split("=", 2);
    DexOptions options = options(keyBytes, nodeBytes, compute).with(set[0], set[1]);
    int operations = keyBytes * valueBytes > 100_000 ? OPERATIONS / 4 : OPERATIONS;
    try (Fabric fabric = Pools.open(2, 64 << 20, 3202);
        DexIndex index = DexIndex.create(fabric, options)) {
      Repartitioner repartitioner = new Repartitioner(index, random.split(), 6);
      try (DexStrings strings = DexStrings.over(index);
          ByteSession one = strings.session();
          ByteSession other = strings.session()) {
        for (int i = 0; i < operations; i++) {
          boolean shrinks = i / (operations / 6) % 2 == 1;
          byte[] key = ByteKeys.draw(random, stringBytes);
          byte[] value = ByteKeys.value(random, valueBytes);
          ByteModelRun.operate(i % 2 == 0 ? one : other, model, random, shrinks, key, value);
          if (i % 500 == 499) {
            repartitioner.change();
          }
        }
        ByteModelRun.checkAll(one, model);
        ByteModelRun.checkAll(other, model);
        assertThat(strings.valuesLost()).isZero();
      }
      try (DexStrings strings = DexStrings.over(index);
          ByteSession session = strings.session()) {
        ByteModelRun.checkAll(session, model);
        PoolSpace space = strings.space();
        assertThat(space.problems()).isEmpty();
        assertThat(space.otherBytes()).as("%s", space).isZero();
        for (byte[] key : List.copyOf(model.keySet())) {
          assertThat(session.remove(MemorySegment.ofArray(key))).isTrue();
        }
        assertThat(session.first()).isFalse();
        assertThat(session.last()).isFalse();
      }
      try (DexStrings strings = DexStrings.over(index)) {
        PoolSpace space = strings.space();
        assertThat(space.otherBytes()).isZero();
        assertThat(space.parts()).noneMatch(part -> part.name().startsWith("values"));
      }
    }
  }

  @Test
  @Timeout(20)
  void shouldCloseAfterAKeyWhoseMemoryWasFreed() {
    MemorySegment freed;
    try (Arena arena = Arena.ofConfined()) {
      freed = arena.allocate(4);
    }
    try (Fabric fabric = Pools.open(2, 64 << 20, 3205);
        DexIndex index = DexIndex.create(fabric, options(16, 256, 1));
        DexStrings strings = DexStrings.over(index)) {
      ByteSession session = strings.session();
      assertThatIllegalStateException().isThrownBy(() -> session.get(freed));
      assertThatIllegalStateException().isThrownBy(() -> session.put(freed, freed));
    }
  }

  @Test
  void shouldCountWhereEveryByteIs() {
    SplittableRandom random = new SplittableRandom(Seeds.of(3203));
    try (Fabric fabric = Pools.open(2, 64 << 20, 3204);
        DexIndex index = DexIndex.create(fabric, options(16, 256, 2));
        DexStrings strings = DexStrings.over(index);
        ByteSession session = strings.session()) {
      for (int i = 0; i < 3_000; i++) {
        MemorySegment key = MemorySegment.ofArray(ByteKeys.draw(random, 6));
        if (random.nextInt(3) == 0) {
          session.discard(key);
        } else {
          session.store(key, MemorySegment.ofArray(new byte[random.nextInt(4_000)]));
        }
      }
      PoolSpace space = strings.space();
      assertThat(space.bytes())
          .isEqualTo(IntStream.range(0, fabric.memoryServers()).mapToLong(fabric::dramBytes).sum());
      assertThat(space.otherBytes()).isZero();
      long waiting =
          space.unused().stream()
              .filter(part -> part.name().equals("freed blobs, kept by sessions"))
              .mapToLong(PoolPart::bytes)
              .sum();
      double valueBytes = MeterReadings.of(strings).getOrDefault("pando.value.bytes", -1.0);
      assertThat(space.usedBytes() + waiting).isEqualTo(index.poolBytes() + (long) valueBytes);
    }
  }

  @ParameterizedTest
  @CsvSource({"16, 256", "1024, 8192"})
  void shouldTakeKeysAndValuesUpToTheirLimits(int keyBytes, int nodeBytes) {
    try (Fabric fabric = Pools.open(2, 64 << 20, 3205);
        DexIndex index = DexIndex.create(fabric, options(keyBytes, nodeBytes, 1));
        DexStrings strings = DexStrings.over(index);
        ByteSession session = strings.session()) {
      int keyMax = keyBytes - 2;
      int valueMax = strings.valueBytesMax();
      assertThat(strings.keyBytesMax()).isEqualTo(keyMax);
      byte[] greatest = new byte[keyMax];
      Arrays.fill(greatest, (byte) -1);
      session.put(bytes(keyMax), bytes(valueMax));
      session.put(MemorySegment.ofArray(greatest), bytes(8));
      session.put(bytes(keyMax - 1), bytes(7));
      session.put(bytes(0), bytes(0));
      assertThat(session.get(bytes(keyMax))).isTrue();
      assertThat(session.value().byteSize()).isEqualTo(valueMax);
      assertThat(session.get(bytes(0))).isTrue();
      assertThat(session.value().byteSize()).isZero();
      assertThat(session.higher(bytes(0))).isTrue();
      assertThat(session.key().byteSize()).isEqualTo(keyMax - 1);
      assertThat(session.last()).isTrue();
      assertThat(ByteKeys.bytes(session.key())).isEqualTo(greatest);
      assertThat(session.scan(bytes(0), null, 9, (key, value) -> true)).isEqualTo(4);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.put(bytes(keyMax + 1), bytes(1)))
          .withMessage("the key is too long: keyBytes=%s, maximum=%s", keyMax + 1, keyMax);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.put(bytes(1), bytes(valueMax + 1)))
          .withMessageContaining("valueBytes=" + (valueMax + 1));
      assertThatIllegalArgumentException().isThrownBy(() -> session.floor(bytes(keyMax + 1)));
    }
  }

  private static MemorySegment bytes(int length) {
    return MemorySegment.ofArray(new byte[length]);
  }

  @Test
  void shouldSayWhatAnIndexNeeds() {
    try (Fabric fabric = Pools.open(1, 16 << 20, 3206);
        DexIndex index = DexIndex.create(fabric, Tiny.options(1))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> DexStrings.over(index))
          .withMessageContaining("key-bytes=64")
          .withMessageContaining("keyBytes=8");
    }
  }

  @Test
  void shouldSayThatAnEntryIsNotThatOfAString() {
    try (Fabric fabric = Pools.open(1, 16 << 20, 3207);
        DexIndex index = DexIndex.create(fabric, options(16, 256, 1));
        DexStrings strings = DexStrings.over(index);
        ByteSession session = strings.session();
        WideSession wide = index.wideSession()) {
      wide.put(MemorySegment.ofArray("0123456789abcdef".getBytes(UTF_8)), 0);
      assertThatIllegalStateException()
          .isThrownBy(() -> session.scan(bytes(0), null, 9, (key, value) -> true))
          .withMessageContaining("not that of a byte string");
      assertThat(session.last()).isTrue();
      assertThatIllegalStateException().isThrownBy(session::key);
    }
  }

  @Test
  void shouldRefuseWhatMakesNoSense() {
    try (Fabric fabric = Pools.open(1, 16 << 20, 3208);
        DexIndex index = DexIndex.create(fabric, options(16, 256, 1));
        DexStrings strings = DexStrings.over(index);
        ByteSession session = strings.session()) {
      session.put(bytes(1), bytes(1));
      MemorySegment low = ByteKeys.of((byte) 1);
      MemorySegment high = ByteKeys.of((byte) 2);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.scan(high, low, 1, (key, value) -> true))
          .withMessage("range is reversed: from=02, to=01");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.scanDown(low, high, 1, (key, value) -> true))
          .withMessage("range is reversed: from=01, to=02");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.scan(low, null, -1, (key, value) -> true))
          .withMessage("limit is negative: limit=-1");
      assertThat(session.scan(bytes(0), null, 0, (key, value) -> true)).isZero();
      assertThat(session.scan(bytes(0), bytes(0), 9, (key, value) -> true)).isZero();
      assertThatIllegalStateException()
          .isThrownBy(() -> session.scan(bytes(0), null, 9, (key, value) -> session.get(key)))
          .withMessageContaining("visitor");
      assertThat(session.get(bytes(1))).isTrue();
    }
  }

  @Test
  void shouldTakeWhatASessionReturnedAsAnArgument() {
    try (Fabric fabric = Pools.open(1, 16 << 20, 3209);
        DexIndex index = DexIndex.create(fabric, options(64, 512, 1));
        DexStrings strings = DexStrings.over(index);
        ByteSession session = strings.session()) {
      byte[] value = "a value that is a blob ".repeat(10).getBytes(UTF_8);
      for (int i = 0; i < 20; i++) {
        session.put(bytes(1), MemorySegment.ofArray(value));
        session.put(bytes(2), bytes(200));
        // A blob waits to be freed, and is READ before another one is stored.
        session.discard(bytes(2));
        assertThat(session.get(bytes(1))).isTrue();
        session.put(bytes(3), session.value());
        assertThat(session.get(bytes(3))).isTrue();
        assertThat(ByteKeys.bytes(session.value())).isEqualTo(value);
        assertThat(session.replace(bytes(3), session.value(), session.value())).isTrue();
        assertThat(ByteKeys.bytes(session.value())).isEqualTo(value);
        assertThat(session.last()).isTrue();
        assertThat(session.get(session.key())).isTrue();
        assertThat(session.lower(session.key())).isTrue();
        byte[] key = ByteKeys.bytes(session.key());
        assertThat(session.put(session.key(), session.key())).isTrue();
        assertThat(session.get(MemorySegment.ofArray(key))).isTrue();
        assertThat(ByteKeys.bytes(session.value())).isEqualTo(key);
      }
    }
  }

  @Test
  void shouldAllocateLittle() {
    try (Fabric fabric = Pools.open(1, 16 << 20, 3210);
        DexIndex index = DexIndex.create(fabric, options(64, 512, 1).with("contrary", "0"));
        DexStrings strings = DexStrings.over(index);
        ByteSession session = strings.session()) {
      MemorySegment key = MemorySegment.ofArray("a key".getBytes(UTF_8));
      session.put(key, bytes(100));
      AllocatedBytes allocated = new AllocatedBytes();
      long least = Long.MAX_VALUE;
      for (int round = 0; round < 100 && least > 1_000; round++) {
        long before = allocated.get();
        for (int i = 0; i < 1_000; i++) {
          assertThatFound(session.get(key));
        }
        least = Math.min(least, allocated.get() - before);
      }
      assertThat(least).isLessThanOrEqualTo(1_000);
    }
  }

  private static void assertThatFound(boolean found) {
    if (!found) {
      throw new AssertionError("not found");
    }
  }

  @Test
  void shouldSayWhatIsClosedAndLeaveTheIndexOpen() {
    try (Fabric fabric = Pools.open(1, 16 << 20, 3211);
        DexIndex index = DexIndex.create(fabric, options(16, 256, 1))) {
      DexStrings strings = DexStrings.over(index);
      ByteSession session = strings.session();
      ByteSession other = strings.session();
      other.put(bytes(1), bytes(100));
      other.put(bytes(1), bytes(90));
      session.close();
      session.close();
      assertThatIllegalStateException()
          .isThrownBy(() -> session.get(bytes(1)))
          .withMessage("the session is closed");
      strings.close();
      strings.close();
      assertThat(strings.isClosed()).isTrue();
      assertThatIllegalStateException()
          .isThrownBy(() -> other.get(bytes(1)))
          .withMessage("the index is closed");
      assertThatIllegalStateException()
          .isThrownBy(() -> other.scan(bytes(0), null, 0, (k, v) -> true));
      assertThatIllegalStateException().isThrownBy(strings::session);
      assertThatIllegalStateException().isThrownBy(strings::space);
      other.close();
      try (DexStrings again = DexStrings.over(index);
          ByteSession opened = again.session()) {
        assertThat(opened.get(bytes(1))).isTrue();
        assertThat(opened.value().byteSize()).isEqualTo(90);
        assertThat(again.space().otherBytes()).isZero();
      }
      DexStrings last = DexStrings.over(index);
      ByteSession opened = last.session();
      Runnable closing = index::close;
      closing.run();
      assertThat(last.isClosed()).isTrue();
      assertThatIllegalStateException().isThrownBy(() -> opened.get(bytes(1)));
      last.close();
    }
  }

  @Test
  void shouldRunAnActionAlone() {
    try (Fabric fabric = Pools.open(1, 16 << 20, 3212);
        DexIndex index = DexIndex.create(fabric, options(16, 256, 2));
        DexStrings strings = DexStrings.over(index);
        ByteSession session = strings.session()) {
      session.alone(() -> {
        session.put(bytes(1), bytes(50));
        session.put(bytes(2), bytes(60));
      });
      assertThat(session.scan(bytes(0), null, 9, (key, value) -> true)).isEqualTo(2);
    }
  }
}
