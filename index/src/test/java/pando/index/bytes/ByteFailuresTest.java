package pando.index.bytes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.PoolUsage;
import pando.fabric.RegisteredMemory;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.server.CallFailedException;
import pando.index.Break;
import pando.index.CorruptNodeException;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.blob.Blobs;
import pando.index.orca.OrcaOptions;

/** Verbs that fail, pools that are full, and blocks that are damaged. */
class ByteFailuresTest {
  /** A quarter of a chunk. */
  private static final int REGION_BYTES = 16 << 10;

  private static ByteOptions options(int cacheBytes) {
    return ByteOptions.defaults()
        .withBlockBytes(256, 16)
        .withCacheBytes(cacheBytes)
        .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));
  }

  private static NavigableMap<byte[], byte[]> contents(ByteSession session) {
    NavigableMap<byte[], byte[]> contents = new TreeMap<>(Arrays::compareUnsigned);
    session.scan(
        MemorySegment.ofArray(new byte[0]),
        null,
        Long.MAX_VALUE,
        (key, value) -> {
          assertThat(contents.put(ByteKeys.bytes(key), ByteKeys.bytes(value))).isNull();
          return true;
        });
    return contents;
  }

  private static void assertSame(
      NavigableMap<byte[], byte[]> found, NavigableMap<byte[], byte[]> expected) {
    assertThat(found.keySet())
        .usingElementComparator(Arrays::compareUnsigned)
        .containsExactlyElementsOf(expected.keySet());
    found.forEach((key, value) -> assertThat(value).isEqualTo(expected.get(key)));
  }

  /** Does a change, or has it fail at a verb; returns whether it failed. */
  private static boolean change(
      HookedFabric fabric,
      ByteSession session,
      NavigableMap<byte[], byte[]> model,
      byte[] key,
      byte @Nullable [] value,
      Break how,
      int verb) {
    int[] left = {verb};
    fabric.hookNext(_ -> left[0]-- == 0, posting -> how.happen(fabric, posting, 0));
    return changeHooked(fabric, session, model, key, value, how);
  }

  private static boolean changeHooked(
      HookedFabric fabric,
      ByteSession session,
      NavigableMap<byte[], byte[]> model,
      byte[] key,
      byte @Nullable [] value,
      Break how) {
    MemorySegment its = MemorySegment.ofArray(key);
    Throwable failure =
        catchThrowable(() -> {
          if (value == null) {
            session.discard(its);
          } else {
            session.store(its, MemorySegment.ofArray(value));
          }
        });
    fabric.unhook();
    byte @Nullable [] before = model.get(key);
    byte @Nullable [] found = session.get(its) ? ByteKeys.bytes(session.value()) : null;
    if (failure == null) {
      assertThat(found).isEqualTo(value);
    } else {
      assertThat(failure).isInstanceOfAny(PandoException.class, OutOfMemoryError.class);
      assertThat(Arrays.equals(found, before) || Arrays.equals(found, value)).isTrue();
      if (how.isAnswered()) {
        assertThat(found).isEqualTo(before);
      }
    }
    if (found == null) {
      model.remove(key);
    } else {
      model.put(key, found);
    }
    return failure != null;
  }

  @ParameterizedTest
  @EnumSource(Break.class)
  void shouldLoseNothingWhereverAVerbFails(Break how) {
    SplittableRandom random = new SplittableRandom(Seeds.of(2501));
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 16 << 20, 2502))) {
      int struck = 0;
      try (ByteIndex index = ByteIndex.create(fabric, options(0));
          ByteSession session = index.session()) {
        for (int i = 0; i < 4_000; i++) {
          byte[] key = ByteKeys.draw(random, 5);
          boolean shrinks = i / 1_000 % 2 == 1;
          boolean stores = random.nextInt(4) == 0 == shrinks;
          byte[] value = stores ? ByteKeys.value(random, 100) : null;
          int verb = random.nextInt(4) == 0 ? random.nextInt(6) : Integer.MAX_VALUE;
          struck += change(fabric, session, model, key, value, how, verb) ? 1 : 0;
        }
        assertSame(contents(session), model);
      }
      System.out.println(how + ": " + struck + " changes failed");
      assertThat(struck).isGreaterThan(300);
      try (ByteIndex index = ByteIndex.open(fabric, options(10_000));
          ByteSession session = index.session()) {
        assertSame(contents(session), model);
      }
    }
  }

  @Test
  void shouldLoseNothingInAFullPoolAndWorkAgainAfterRemovals() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2503));
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    try (Fabric fabric = Pools.open(2, 512 << 10, 2504)) {
      ByteIndex.create(fabric, options(10_000)).close();
      long usedWhenEmpty = used(fabric);
      try (ByteIndex index = ByteIndex.open(fabric, options(10_000));
          ByteSession session = index.session()) {
        for (int round = 0; round < 2; round++) {
          int before = model.size();
          fill(session, model, random);
          assertThat(model.size()).isGreaterThan(before + 100);
          assertSame(contents(session), model);
          List<byte[]> keys = new ArrayList<>(model.keySet());
          for (int i = 0; i < keys.size(); i += 2 - round % 2) {
            assertThat(session.remove(MemorySegment.ofArray(keys.get(i)))).isTrue();
            model.remove(keys.get(i));
          }
          assertSame(contents(session), model);
        }
      }
      try (ByteIndex index = ByteIndex.open(fabric, options(10_000));
          ByteSession session = index.session()) {
        assertSame(contents(session), model);
        for (byte[] key : model.keySet()) {
          assertThat(session.remove(MemorySegment.ofArray(key))).isTrue();
        }
        assertThat(index.blocks()).isEqualTo(1);
      }
      // Labels may be in a region more than at first; a blob that is left would be between.
      assertThat(used(fabric) - usedWhenEmpty).isIn(0L, (long) REGION_BYTES);
    }
  }

  @ParameterizedTest
  @EnumSource(Break.class)
  void shouldLoseNothingWhereARemovalFailsInAFullPool(Break how) {
    SplittableRandom random = new SplittableRandom(Seeds.of(2507));
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 512 << 10, 2508))) {
      try (ByteIndex index = ByteIndex.create(fabric, options(10_000));
          ByteSession session = index.session()) {
        fill(session, model, random);
        int failed = 0;
        for (byte[] key : List.copyOf(model.keySet())) {
          if (random.nextInt(4) == 0) {
            int verb = random.nextInt(6);
            failed += change(fabric, session, model, key, null, how, verb) ? 1 : 0;
          }
        }
        assertThat(failed).isGreaterThan(10);
        assertSame(contents(session), model);
      }
      try (ByteIndex index = ByteIndex.open(fabric, options(0));
          ByteSession session = index.session()) {
        assertSame(contents(session), model);
      }
    }
  }

  /**
   * A changed block goes by way of the spare blob: what fails behind it must not take its value.
   */
  @Test
  void shouldKeepALongValueWhereItsBlockDoesNotLeaveTheSpare() {
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 256 << 10, 2511));
        ByteIndex index = ByteIndex.create(fabric, options(0));
        ByteSession session = index.session()) {
      for (int i = 0; i < 20; i++) {
        byte[] key = {(byte) i};
        byte[] value = new byte[100];
        Arrays.fill(value, (byte) i);
        session.store(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
        model.put(key, value);
      }
      takeAll(index);
      session.discard(MemorySegment.ofArray(model.pollFirstEntry().getKey()));
      int[] writes = {0};
      fabric.hookNext(
          verbs -> isWrite(verbs) && ++writes[0] == 3,
          posting -> {
            posting.post();
            fabric.failAtNextTransition(() -> new OutOfMemoryError("by a test"));
          });
      byte[] last = model.lastKey();
      byte[] value = new byte[100];
      assertThat(changeHooked(fabric, session, model, last, value, Break.ERROR_BEHIND)).isTrue();
      assertThat(model.get(last)).isEqualTo(value);
      // What is unsettled is settled, and a value that was freed is overwritten.
      takeAll(index);
      assertSame(contents(session), model);
    }
  }

  private static boolean isWrite(VerbList verbs) {
    return verbs.size() > 0 && verbs.kind(0) == VerbList.Kind.WRITE;
  }

  /**
   * Takes each place of the pool that is left, also for small blobs, and what waits to be freed.
   */
  private static void takeAll(ByteIndex index) {
    index.space();
    try (Blobs blobs = new Blobs(index.space)) {
      for (int bytes = index.space.lengthInOnePlace(); bytes > 8; bytes = bytes * 7 / 8) {
        take(blobs, bytes);
      }
    }
  }

  private static void take(Blobs blobs, int bytes) {
    try {
      while (true) {
        blobs.store(1, MemorySegment.ofArray(new byte[bytes]), 0, bytes);
      }
    } catch (PoolFullException _) {
      // That was the last one.
    }
  }

  /** What waits was acknowledged: a change that finds no room must not take the spare blob away. */
  @ParameterizedTest
  @ValueSource(ints = {256, 2_000, 8_000})
  void shouldWriteWhatWaitsWhereThePoolHasBecomeFull(int blockBytes) {
    for (int round = 0; round < Seeds.count(5, 10, 100); round++) {
      SplittableRandom random = new SplittableRandom(Seeds.of(2513 + round));
      ByteOptions options = options(200_000).withBlockBytes(blockBytes, 32);
      NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
      try (Fabric fabric = Pools.open(1, 256 << 10, 2514)) {
        try (ByteIndex index = ByteIndex.create(fabric, options);
            ByteSession session = index.session()) {
          for (int i = 0; i < 600; i++) {
            changeIfRoom(session, model, ByteKeys.draw(random, 20), random);
          }
          takeAll(index);
          List<byte[]> keys = List.copyOf(model.keySet());
          for (int i = 0; i < 300; i++) {
            boolean isNew = random.nextInt(4) == 0;
            byte[] key = isNew ? ByteKeys.draw(random, 20) : keys.get(random.nextInt(keys.size()));
            changeIfRoom(session, model, key, random);
          }
        }
        try (ByteIndex index = ByteIndex.open(fabric, options);
            ByteSession session = index.session()) {
          assertSame(contents(session), model);
        }
      }
    }
  }

  private static void changeIfRoom(
      ByteSession session,
      NavigableMap<byte[], byte[]> model,
      byte[] key,
      SplittableRandom random) {
    byte[] value = ByteKeys.value(random, 32);
    try {
      if (random.nextInt(4) == 0) {
        session.discard(MemorySegment.ofArray(key));
        model.remove(key);
      } else {
        session.store(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
        model.put(key, value);
      }
    } catch (PoolFullException _) {
      // The entry stays as it was.
    }
  }

  private static long used(Fabric fabric) {
    return fabric.usage().stream().mapToLong(PoolUsage::usedBytes).sum();
  }

  private static void fill(
      ByteSession session, NavigableMap<byte[], byte[]> model, SplittableRandom random) {
    for (int refused = 0; refused < 8; ) {
      byte[] key = ByteKeys.draw(random, 20);
      byte[] value = ByteKeys.value(random, 300);
      try {
        session.put(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
        model.put(key, value);
      } catch (PoolFullException _) {
        refused++;
      }
    }
  }

  /** Of a change whose outcome is unknown only the place stays that was written at that time. */
  @Tag("campaign")
  @ParameterizedTest
  @EnumSource(value = Break.class, mode = EnumSource.Mode.EXCLUDE, names = "ERROR_BEHIND")
  void shouldLeaveNothingBehindWhereAVerbFails(Break how) {
    SplittableRandom random = new SplittableRandom(Seeds.of(2509));
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 16 << 20, 2510));
        ByteIndex index = ByteIndex.create(fabric, options(10_000));
        ByteSession session = index.session()) {
      long left = 0;
      int failed = 0;
      for (int i = 0; i < 1_000; i++) {
        byte[] key = ByteKeys.draw(random, 5);
        byte[] value = random.nextInt(3) > 0 ? ByteKeys.value(random, 100) : null;
        int[] verb = {random.nextInt(3) == 0 ? random.nextInt(6) : Integer.MAX_VALUE};
        int[] place = {0};
        fabric.hookNext(
            _ -> verb[0]-- == 0,
            posting -> {
              place[0] = placeBytes(posting.verbs());
              how.happen(fabric, posting, 0);
            });
        failed += changeHooked(fabric, session, model, key, value, how) ? 1 : 0;
        long now = index.space().otherBytes();
        assertThat(now - left).isBetween(0L, how.isAnswered() ? 0L : place[0]);
        left = now;
      }
      assertThat(failed).isGreaterThan(50);
    }
  }

  /** Returns the bytes of the place that a verb takes or writes: of a blob, or a region of them. */
  private static int placeBytes(VerbList verbs) {
    return verbs.kind(0) == VerbList.Kind.WRITE
        ? Math.ceilDiv(verbs.length(0), 64) * 64
        : REGION_BYTES / 4;
  }

  @Test
  void shouldBeClosedAgainWhereThatFailed() {
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 16 << 20, 2506))) {
      ByteIndex index = ByteIndex.create(fabric, options(10_000));
      ByteSession session = index.session();
      NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
      for (int i = 0; i < 500; i++) {
        byte[] key = "key%04d".formatted(i).getBytes(UTF_8);
        session.put(MemorySegment.ofArray(key), MemorySegment.ofArray(key));
        model.put(key, key);
      }
      fabric.hookEach(
          _ -> true,
          posting -> {
            throw new CallFailedException("by a test");
          });
      assertThat(catchThrowable(index::close)).isInstanceOf(PandoException.class);
      fabric.unhook();
      index.close();
      index.close();
      session.close();
      assertThat(fabric.openMemories()).isZero();
      try (ByteIndex opened = ByteIndex.open(fabric, options(0));
          ByteSession again = opened.session()) {
        assertSame(contents(again), model);
      }
    }
  }

  /** Once the labels are closed, only freed places are left. */
  @Test
  void shouldBeClosedAgainWhereFreedPlacesWereNotGivenBack() {
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 16 << 20, 2511))) {
      ByteIndex index = ByteIndex.create(fabric, options(10_000));
      try (ByteSession session = index.session()) {
        for (int i = 0; i < 500; i++) {
          MemorySegment key = MemorySegment.ofArray("key%04d".formatted(i).getBytes(UTF_8));
          session.put(key, key);
        }
      }
      fabric.hookEach(
          verbs -> verbs.size() == 0 && index.labels.isClosed(),
          posting -> {
            throw new UnknownOutcomeException("by a test");
          });
      assertThat(catchThrowable(index::close)).isInstanceOf(UnknownOutcomeException.class);
      int[] calls = new int[1];
      fabric.hookEach(
          verbs -> verbs.size() == 0,
          posting -> {
            calls[0]++;
            posting.post();
          });
      index.close();
      int made = calls[0];
      assertThat(made).isPositive();
      index.close();
      assertThat(calls[0]).isEqualTo(made);
      assertThat(fabric.openMemories()).isZero();
    }
  }

  @Test
  void shouldWriteWhatWaitsInOtherBlocksThanADamagedOne() {
    try (Fabric fabric = Pools.open(2, 16 << 20, 2515)) {
      ByteIndex index = ByteIndex.create(fabric, options(1 << 20));
      ByteSession session = index.session();
      storeAll(session, "old");
      index.space();
      storeAll(session, "new");
      assertThat(index.directory.changesWaiting()).isGreaterThan(100);
      BlockEntry damaged = index.directory.find(MemorySegment.ofArray("key0250".getBytes(UTF_8)));
      index.cache.set(damaged, null);
      damage(fabric, damaged);
      assertThat(catchThrowable(index::close)).isInstanceOf(CorruptNodeException.class);
      assertThat(index.directory.changesWaiting()).isEqualTo(damaged.state().delta().count());
      assertThat(index.isClosed()).isFalse();
    }
  }

  /** A damaged block cannot be merged, so in the end it has the most changes that wait. */
  @Test
  void shouldChangeOtherBlocksThanADamagedOneWhereMemoryIsShort() {
    try (Fabric fabric = Pools.open(2, 16 << 20, 2517)) {
      ByteIndex index = ByteIndex.create(fabric, options(12_000));
      ByteSession session = index.session();
      storeAll(session, "old");
      index.flush();
      BlockEntry damaged = index.directory.find(MemorySegment.ofArray("key0250".getBytes(UTF_8)));
      for (int i = 0; i < 500; i++) {
        MemorySegment key = MemorySegment.ofArray("key%04d".formatted(i).getBytes(UTF_8));
        if (index.directory.find(key) == damaged) {
          session.store(key, MemorySegment.ofArray("new".getBytes(UTF_8)));
        }
      }
      assertThat(damaged.state().delta().count()).isPositive();
      index.cache.set(damaged, null);
      damage(fabric, damaged);
      for (int i = 0; i < 20_000; i++) {
        MemorySegment key = MemorySegment.ofArray("key%04d".formatted(i % 500).getBytes(UTF_8));
        if (index.directory.find(key) != damaged) {
          session.store(key, MemorySegment.ofArray(String.valueOf(i).getBytes(UTF_8)));
        }
      }
      assertThat(damaged.state().delta().count()).isPositive();
    }
  }

  private static void storeAll(ByteSession session, String value) {
    for (int i = 0; i < 500; i++) {
      byte[] key = "key%04d".formatted(i).getBytes(UTF_8);
      session.store(MemorySegment.ofArray(key), MemorySegment.ofArray(value.getBytes(UTF_8)));
    }
  }

  private static void damage(Fabric fabric, BlockEntry block) {
    try (RegisteredMemory memory = fabric.register(64);
        Worker worker = fabric.worker(memory)) {
      worker.write(Blobs.address(block.state().word()) + 8, 0, 8);
    }
  }

  @Test
  void shouldTellOfADamagedBlockAndServeTheOthers() {
    try (Fabric fabric = Pools.open(2, 16 << 20, 2505);
        ByteIndex index = ByteIndex.create(fabric, options(0));
        ByteSession session = index.session()) {
      for (int i = 0; i < 500; i++) {
        byte[] key = "key%04d".formatted(i).getBytes(UTF_8);
        session.put(MemorySegment.ofArray(key), MemorySegment.ofArray(key));
      }
      BlockEntry damaged = index.directory.find(MemorySegment.ofArray("key0250".getBytes(UTF_8)));
      damage(fabric, damaged);
      int failures = 0;
      for (int i = 0; i < 500; i++) {
        byte[] key = "key%04d".formatted(i).getBytes(UTF_8);
        Throwable failure =
            catchThrowable(() -> assertThat(session.get(MemorySegment.ofArray(key))).isTrue());
        if (failure != null) {
          assertThat(failure).isInstanceOf(CorruptNodeException.class);
          failures++;
        }
      }
      assertThat(failures).isBetween(1, 20);
    }
  }
}
