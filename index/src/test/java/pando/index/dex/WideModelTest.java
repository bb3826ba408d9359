package pando.index.dex;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.AllocatedBytes;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.Repartitioner;
import pando.index.Seeds;
import pando.index.Session;

/** Keys of many bytes, in random operations that are compared with a {@link TreeMap}. */
@Timeout(60)
class WideModelTest {
  private static final int OPERATIONS = Seeds.count(1_500, 8_000);
  private static final int CHANGE_EVERY = 80;

  @ParameterizedTest(name = "seed={0} key-bytes={1} node-bytes={2} compute={3} beginnings={4} {5}")
  @CsvSource({
    "901, 8,    192,  2, 512, contrary=0.01",
    "902, 16,   192,  1, 512, contrary=0.5",
    "903, 16,   256,  3, 512, contrary=0.01",
    "904, 32,   320,  4, 512, contrary=0.5",
    "905, 64,   1024, 2, 512, admission=1",
    "906, 256,  2048, 2, 512, contrary=0.3",
    "911, 16,   192,  3, 1,   contrary=0.5",
    "912, 24,   256,  3, 6,   offloading=off",
    "913, 1024, 6336, 2, 40,  contrary=0.3",
  })
  void shouldBehaveLikeTreeMap(
      long seed, int keyBytes, int nodeBytes, int computeServers, int beginnings, String setting) {
    DexOptions options = options(keyBytes, nodeBytes, computeServers, setting);
    try (Fabric fabric = Pools.open(2, 16 << 20, seed)) {
      NavigableMap<byte[], Long> model = new TreeMap<>(Arrays::compareUnsigned);
      try (DexIndex index = DexIndex.create(fabric, options);
          WideSession session = index.wideSession()) {
        SplittableRandom random = new SplittableRandom(Seeds.of(seed));
        Repartitioner repartitioner = new Repartitioner(index, random.split(), 6);
        Run run = new Run(session, model, keyBytes, beginnings, random);
        for (int i = 0; i < OPERATIONS; i++) {
          run.operation(i);
          if (computeServers > 1 && i % CHANGE_EVERY == 0) {
            repartitioner.change();
          }
        }
      }
      assertThat(options.walk(fabric, false).problems()).isEmpty();
    }
  }

  @Test
  void shouldHaveTheKeysOfNumbers() {
    try (Fabric fabric = Pools.open(1, 16 << 20, 907);
        DexIndex index = DexIndex.create(fabric, options(16, 192, 2, "contrary=0.01"));
        Session numbers = index.session();
        WideSession session = index.wideSession()) {
      numbers.put(-2, 7);
      String half = "7ffffffffffffffe";
      assertThat(session.get(key(half + half))).isTrue();
      assertThat(session.value()).isEqualTo(7);
      assertThat(session.ceiling(key("00".repeat(16)))).isTrue();
      assertThat(text(session.key())).isEqualTo(half + half);
      session.put(key("80" + "00".repeat(7) + "ff".repeat(8)), 8);
      assertThatThrownBy(() -> numbers.ceiling(0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("not that of a number");
      session.alone(() -> assertThat(session.first()).isTrue());
      session.alone(() -> assertThat(numbers.remove(-2)).isTrue());
      assertThat(session.higher(key("00".repeat(16)))).isTrue();
      assertThat(session.value()).isEqualTo(8);
    }
  }

  /** A merge ends a leaf where the first words of keys change, as a split does. */
  @Test
  void shouldLetRangesBeginAtAnyLeafAfterMerges() {
    DexOptions options = options(16, 256, 2, "offloading=off");
    int capacity = options.layout().capacity();
    SplittableRandom random = new SplittableRandom(Seeds.of(909));
    TreeMap<Long, Long> model = new TreeMap<>(Entries.random(random, 2_000));
    try (Fabric fabric = Pools.open(1, 16 << 20, 909);
        DexIndex index = DexIndex.create(fabric, options);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      for (long key : List.copyOf(model.keySet())) {
        if (random.nextInt(10) < 6) {
          session.remove(key);
          model.remove(key);
        }
      }
      for (long key : model.keySet().stream().skip(3L * capacity).toList()) {
        long low = index.partitions().orElseThrow().moveBoundary(1, key);
        assertThat(model.subMap(low, key)).as("low=%s, key=%s", low, key).hasSizeLessThan(capacity);
      }
    }
  }

  @Test
  void shouldNotAllocate() {
    try (Fabric fabric = Pools.open(1, 16 << 20, 910);
        DexIndex index = DexIndex.create(fabric, options(16, 1024, 2, "offloading=off"));
        WideSession session = index.wideSession()) {
      SplittableRandom random = new SplittableRandom(Seeds.of(910));
      List<MemorySegment> keys = new ArrayList<>();
      for (int i = 0; i < 4_000; i++) {
        byte[] key = new byte[16];
        random.nextBytes(key);
        keys.add(MemorySegment.ofArray(key));
        session.put(keys.getLast(), i);
      }
      MemorySegment highest = key("ff".repeat(16));
      WideVisitor visitor = (_, value) -> value >= 0;
      AllocatedBytes allocated = new AllocatedBytes();
      long min = Long.MAX_VALUE;
      for (int round = 0; round < 100 && min >= keys.size(); round++) {
        long before = allocated.get();
        for (MemorySegment key : keys) {
          session.get(key);
          session.put(key, session.value());
          session.lower(key);
          session.higher(key);
          session.scan(key, highest, 3, visitor);
          session.remove(key);
          session.putIfAbsent(key, 1);
        }
        min = Math.min(min, allocated.get() - before);
      }
      assertThat(min).isLessThan(keys.size());
    }
  }

  @Test
  void shouldRefuseWrongKeysAndSizes() {
    assertThatThrownBy(() -> options(20, 1024, 1, "contrary=0").check())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("multiple of 8: keyBytes=20");
    assertThatThrownBy(() -> options(512, 1024, 1, "contrary=0").check())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("too few entries: nodeBytes=1024, keyBytes=512");
    DexOptions options = options(16, 192, 1, "contrary=0");
    try (Fabric fabric = Pools.open(1, 16 << 20, 908);
        DexIndex index = DexIndex.create(fabric, options);
        WideSession session = index.wideSession()) {
      assertThatThrownBy(() -> session.get(MemorySegment.ofArray(new byte[8])))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("keyBytes=8, expected=16");
      MemorySegment low = key("00".repeat(16));
      MemorySegment high = key("ff".repeat(16));
      assertThatThrownBy(() -> session.scan(high, low, 1, (_, _) -> true))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("range is reversed");
      session.put(low, 1);
      assertThatThrownBy(() -> session.scan(low, high, 1, (_, _) -> session.get(high)))
          .isInstanceOf(IllegalStateException.class);
      assertThat(session.get(low)).isTrue();
      assertThat(session.scan(low, session.key(), 5, (_, _) -> true)).isEqualTo(1);
      DexOptions others = options(24, 192 + 64, 1, "contrary=0");
      assertThatThrownBy(() -> others.join(fabric, 0, 1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("keys of 24 bytes");
    }
  }

  private static DexOptions options(
      int keyBytes, int nodeBytes, int computeServers, String setting) {
    String[] parts = setting.split("=", 2);
    return DexOptions.defaults()
        .with("key-bytes", String.valueOf(keyBytes))
        .with("node-bytes", String.valueOf(nodeBytes))
        .with("cache-bytes", String.valueOf(64 * nodeBytes))
        .with("compute-servers", String.valueOf(computeServers))
        .with(parts[0], parts[1]);
  }

  private static MemorySegment key(String hex) {
    return MemorySegment.ofArray(HexFormat.of().parseHex(hex));
  }

  private static byte[] bytes(MemorySegment key) {
    return key.toArray(JAVA_BYTE);
  }

  private static String text(MemorySegment key) {
    return HexFormat.of().formatHex(bytes(key));
  }

  /** Random operations. Many keys have the same first 8 bytes, and differ in the last. */
  private static final class Run {
    private final WideSession session;
    private final NavigableMap<byte[], Long> model;
    private final int keyBytes;

    /** First 8 bytes that keys have. */
    private final int beginnings;

    private final SplittableRandom random;

    Run(
        WideSession session,
        NavigableMap<byte[], Long> model,
        int keyBytes,
        int beginnings,
        SplittableRandom random) {
      this.session = session;
      this.model = model;
      this.keyBytes = keyBytes;
      this.beginnings = beginnings;
      this.random = random;
    }

    void operation(int number) {
      boolean shrinking = number / (OPERATIONS / 4) % 2 == 1;
      operation(number, shrinking ? random.nextInt(4, 15) : random.nextInt(12));
    }

    private byte[] key() {
      byte[] key = new byte[keyBytes];
      switch (random.nextInt(60)) {
        case 0 -> {}
        case 1 -> Arrays.fill(key, (byte) -1);
        default -> {
          int beginning = random.nextInt(beginnings);
          key[0] = (byte) (beginning >> 1);
          key[7] = (byte) (beginning & 1);
          key[keyBytes - 1] = (byte) random.nextInt(256);
          Arrays.fill(key, keyBytes / 2, keyBytes - 1, (byte) -random.nextInt(2));
        }
      }
      return key;
    }

    private void operation(int number, int kind) {
      byte[] key = key();
      MemorySegment wanted = MemorySegment.ofArray(key);
      long value = random.nextInt(4);
      String what = "operation=" + number + ", kind=" + kind + ", key=" + text(wanted);
      switch (kind) {
        case 0, 1, 2, 3 -> stored(what, session.put(wanted, value), model.put(key, value));
        case 4 -> {
          Long before = model.putIfAbsent(key, value);
          stored(what, !session.putIfAbsent(wanted, value), before);
        }
        case 5 -> stored(what, session.update(wanted, value), model.replace(key, value));
        case 6 -> stored(what, session.get(wanted), model.get(key));
        case 7 -> below(what, key, wanted);
        case 8 -> above(what, key, wanted);
        case 9 -> scan(what, key, key(), random.nextInt(60));
        case 10 -> {
          long expected = random.nextInt(4);
          boolean matches = model.containsKey(key) && model.get(key) == expected;
          assertThat(session.replace(wanted, expected, value)).as(what).isEqualTo(matches);
          model.replace(key, expected, value);
        }
        case 11 -> {
          long expected = random.nextInt(4);
          assertThat(session.remove(wanted, expected))
              .as(what)
              .isEqualTo(model.remove(key, expected));
        }
        default -> stored(what, session.remove(wanted), model.remove(key));
      }
    }

    private void stored(String what, boolean found, @Nullable Long before) {
      assertThat(found).as(what).isEqualTo(before != null);
      if (before != null) {
        assertThat(session.value()).as(what).isEqualTo(before);
      }
    }

    private void below(String what, byte[] key, MemorySegment wanted) {
      switch (random.nextInt(5)) {
        case 0 -> found(what, session.last(), model.lastEntry());
        case 1, 2 -> found(what, session.lower(wanted), model.lowerEntry(key));
        default -> found(what, session.floor(wanted), model.floorEntry(key));
      }
    }

    private void above(String what, byte[] key, MemorySegment wanted) {
      switch (random.nextInt(5)) {
        case 0 -> found(what, session.first(), model.firstEntry());
        case 1, 2 -> found(what, session.higher(wanted), model.higherEntry(key));
        default -> found(what, session.ceiling(wanted), model.ceilingEntry(key));
      }
    }

    private void found(String what, boolean found, Map.@Nullable Entry<byte[], Long> expected) {
      assertThat(found).as(what).isEqualTo(expected != null);
      if (expected != null) {
        assertThat(bytes(session.key())).as(what).isEqualTo(expected.getKey());
        assertThat(session.value()).as(what).isEqualTo(expected.getValue());
      }
    }

    private void scan(String what, byte[] from, byte[] to, int limit) {
      boolean down = Arrays.compareUnsigned(from, to) > 0;
      List<String> seen = new ArrayList<>();
      WideVisitor visitor = (key, value) -> seen.add(text(key) + "=" + value);
      MemorySegment first = MemorySegment.ofArray(from);
      MemorySegment last = MemorySegment.ofArray(to);
      long visited =
          down
              ? session.scanDown(first, last, limit, visitor)
              : session.scan(first, last, limit, visitor);
      NavigableMap<byte[], Long> order = down ? model.descendingMap() : model;
      List<String> expected =
          order.subMap(from, true, to, true).entrySet().stream()
              .limit(limit)
              .map(entry -> HexFormat.of().formatHex(entry.getKey()) + "=" + entry.getValue())
              .toList();
      assertThat(seen).as(what).isEqualTo(expected);
      assertThat(visited).as(what).isEqualTo(expected.size());
    }
  }
}
