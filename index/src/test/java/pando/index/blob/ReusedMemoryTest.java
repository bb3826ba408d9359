package pando.index.blob;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.TreeCheck;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteKeys;
import pando.index.bytes.ByteModelRun;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;

/** Memory of the pool passes from values to nodes and back, beside sessions that know old nodes. */
@Timeout(300)
class ReusedMemoryTest {
  private static final int ROUNDS = Seeds.count(2, 60);
  private static final int KEYS = 800;
  private static final int VALUES = 500;

  private final Map<Long, byte[]> stored = new HashMap<>();
  private final Map<Long, Long> words = new HashMap<>();
  private final TreeMap<Long, Long> model = new TreeMap<>();

  /** Returns a key of one of the two compute servers. */
  private static long key(long number) {
    return (number - KEYS / 2) * 1_000;
  }

  /**
   * Returns a value of zeros, or of letters, and often of a length that takes as much as a node.
   */
  private static byte[] value(SplittableRandom random) {
    byte[] value = new byte[random.nextInt(4) == 0 ? random.nextInt(50, 250) : 3_000];
    Arrays.fill(value, (byte) (random.nextInt(3) == 0 ? 0 : 'z'));
    return value;
  }

  private void store(Blobs blobs, SplittableRandom random) {
    for (long number = 0; number < VALUES; number++) {
      byte[] value = value(random);
      words.put(number, blobs.store(number, MemorySegment.ofArray(value), 0, value.length));
      stored.put(number, value);
    }
  }

  private void checkStored(Blobs blobs) {
    words.forEach((number, word) -> {
      assertThat(blobs.load(number, word)).as("value %s", number).isTrue();
      MemorySegment found = blobs.bytes().asSlice(blobs.offset(), blobs.length());
      assertThat(found.mismatch(MemorySegment.ofArray(stored.get(number)))).isEqualTo(-1);
    });
  }

  private void removeStored(Blobs blobs) {
    words.forEach(blobs::free);
    blobs.freeWaiting();
    words.clear();
  }

  private void putAll(List<RangeIndex> indexes, SplittableRandom random) {
    try (Session one = indexes.get(0).session();
        Session two = indexes.get(1).session()) {
      for (int i = 0; i < KEYS; i++) {
        long key = key(random.nextInt(KEYS));
        boolean first = serves(indexes, key, random);
        Long before = model.put(key, (long) i);
        assertThat((first ? one : two).put(key, i)).isEqualTo(before != null);
      }
    }
  }

  private static boolean serves(List<RangeIndex> indexes, long key, SplittableRandom random) {
    return indexes.get(0).serves(key) && (!indexes.get(1).serves(key) || random.nextBoolean());
  }

  private void check(List<RangeIndex> indexes) {
    for (RangeIndex index : indexes) {
      try (Session session = index.session()) {
        for (int number = 0; number < KEYS; number++) {
          long key = key(number);
          if (index.serves(key)) {
            Long value = model.get(key);
            assertThat(session.get(key)).isEqualTo(value != null);
            assertThat(value == null || session.value() == value).isTrue();
          }
        }
      }
    }
  }

  /** Removes nearly all, each key at the index that is the first to serve it. */
  private void removeMost(List<RangeIndex> indexes, int from) {
    try (Session one = indexes.get(from).session();
        Session two = indexes.get(1 - from).session()) {
      for (long key : new ArrayList<>(model.keySet())) {
        Session session = indexes.get(from).serves(key) ? one : two;
        if (Math.floorMod(key / 1_000, 50) != 0) {
          assertThat(session.remove(key)).isTrue();
          model.remove(key);
        }
      }
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldMakeNodesWhereValuesWere(SystemUnderTest system) {
    Configuration configuration = system.tiny(2);
    SplittableRandom random = new SplittableRandom(Seeds.of(7401));
    try (Fabric fabric = Pools.open(2, 4 << 20, 1)) {
      configuration.create(fabric).close();
      for (int round = 0; round < ROUNDS; round++) {
        try (BlobSpace values = new BlobSpace(fabric, true);
            Blobs blobs = new Blobs(values)) {
          store(blobs, random);
          checkStored(blobs);
          removeStored(blobs);
        }
        try (RangeIndex one = configuration.join(fabric, 0, 1);
            RangeIndex two = configuration.join(fabric, 1, 1)) {
          putAll(List.of(one, two), random);
          check(List.of(one, two));
        }
        assertThat(TreeCheck.walk(fabric, configuration).entries()).isEqualTo(model);
        try (RangeIndex one = configuration.join(fabric, 0, 1);
            RangeIndex two = configuration.join(fabric, 1, 1)) {
          removeMost(List.of(one, two), random.nextInt(2));
        }
      }
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  @SuppressWarnings("try") // Closed before the walk.
  void shouldOutliveNodesThatSessionsStillKnow(SystemUnderTest system) {
    Configuration configuration = system.tiny(2);
    SplittableRandom random = new SplittableRandom(Seeds.of(7402));
    try (Fabric fabric = Pools.open(2, 4 << 20, 1);
        RangeIndex known = configuration.create(fabric, 1, 1)) {
      for (int round = 0; round < ROUNDS; round++) {
        try (RangeIndex passing = configuration.join(fabric, 0, 1)) {
          putAll(List.of(known, passing), random);
          check(List.of(known, passing));
          removeMost(List.of(known, passing), 1);
        }
        try (BlobSpace values = new BlobSpace(fabric, true);
            Blobs blobs = new Blobs(values)) {
          store(blobs, random);
          try (RangeIndex passing = configuration.join(fabric, 0, 1)) {
            check(List.of(known, passing));
            putAll(List.of(known, passing), random);
            check(List.of(known, passing));
          }
          checkStored(blobs);
          removeStored(blobs);
        }
      }
      known.close();
      assertThat(TreeCheck.walk(fabric, configuration).entries()).isEqualTo(model);
    }
  }

  @Test
  void shouldMakeBlocksWhereLongStringsWere() {
    ByteOptions options = ByteOptions.defaults().withCacheBytes(4 << 20);
    SplittableRandom random = new SplittableRandom(Seeds.of(7404));
    NavigableMap<byte[], byte[]> entries = new TreeMap<>(Arrays::compareUnsigned);
    try (Fabric fabric = Pools.open(2, 4 << 20, 1)) {
      ByteIndex.create(fabric, options).close();
      for (int round = 0; round < 2 * ROUNDS; round++) {
        try (ByteIndex index = ByteIndex.open(fabric, options)) {
          boolean isLong = round % 2 == 0;
          change(index, entries, isLong ? VALUES : 2 * KEYS, isLong, random);
        }
      }
    }
  }

  /** Stores strings, looks at all, and removes them if they were long ones, else some of them. */
  private static void change(
      ByteStrings strings,
      NavigableMap<byte[], byte[]> entries,
      int count,
      boolean isLong,
      SplittableRandom random) {
    try (ByteSession session = strings.session()) {
      for (int i = 0; i < count; i++) {
        byte[] key = ByteKeys.draw(random, 6);
        byte[] value = isLong ? value(random) : new byte[random.nextInt(9)];
        session.put(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
        entries.put(key, value);
      }
      ByteModelRun.checkAll(session, entries);
      for (byte[] key : new ArrayList<>(entries.keySet())) {
        if (isLong || random.nextInt(4) > 0) {
          assertThat(session.remove(MemorySegment.ofArray(key))).isTrue();
          entries.remove(key);
        }
      }
    }
  }
}
