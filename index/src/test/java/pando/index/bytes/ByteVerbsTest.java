package pando.index.bytes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.Pools;
import pando.index.orca.OrcaOptions;

/** What operations cost: the table of docs/systems.md. */
class ByteVerbsTest {
  private static final int KEYS = 2_000;
  private static final int UPDATES = 4_000;

  private static MemorySegment key(int number) {
    return MemorySegment.ofArray("a/path/to/%06d".formatted(number).getBytes(UTF_8));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1 << 20})
  void shouldCostWhatThePageSays(int cacheBytes) {
    int misses = cacheBytes == 0 ? 1 : 0;
    // With memory for them, changes wait.
    int merges = misses;
    ByteOptions options =
        ByteOptions.defaults()
            .withCacheBytes(cacheBytes)
            .withLabels(
                OrcaOptions.defaults()
                    .withComputeServers(1)
                    .withCacheBytes(1 << 20)
                    .withWriteBackNanos(0));
    try (Fabric fabric = Pools.open(1, 64 << 20, 2701);
        ByteIndex index = ByteIndex.create(fabric, options);
        BlockSession session = (BlockSession) index.session()) {
      MemorySegment shorter = MemorySegment.ofArray(new byte[20]);
      MemorySegment longer = MemorySegment.ofArray(new byte[1_000]);
      for (int i = 0; i < KEYS; i++) {
        session.put(key(i), shorter);
      }
      long bytes = session.verbs().bytesIn;
      assertCosts(session, () -> session.get(key(700)), misses, 0);
      assertThat(session.verbs().bytesIn - bytes).isBetween((long) misses, misses * 256L);
      assertCosts(session, () -> session.floor(key(700)), misses, 0);
      assertCosts(session, () -> session.update(key(700), shorter), misses, merges);
      assertCosts(session, () -> session.update(key(700), longer), misses, merges + 1);
      // the cache of records has values, also those of blobs
      assertCosts(session, () -> session.get(key(700)), 2 * misses, 0);
      assertCosts(session, () -> session.remove(key(700)), misses + 1, merges);
      assertCosts(session, () -> session.store(key(700), shorter), misses, merges);
      int blocks = index.blocks();
      // Of 20 keys the last changes count: they never are more than half of those that may wait.
      assertThat(writesOfUpdates(session, 20, shorter)).isEqualTo((long) misses * UPDATES);
      // A quarter of a block takes 50 changes of 40 bytes; the next one is merged with them. Full
      // blocks wait as others do.
      long merged = cacheBytes == 0 ? UPDATES : UPDATES / 51;
      assertThat(writesOfUpdates(session, KEYS, shorter)).isBetween(merged - blocks, merged + 1);
      int[] visited = {0};
      VerbCounters before = session.verbs().copy();
      session.scan(key(0), null, KEYS, (key, value) -> visited[0]++ >= 0);
      assertThat(visited[0]).isEqualTo(KEYS);
      assertThat(session.verbs().reads - before.reads).isEqualTo((long) misses * blocks);
      // Where keys ascend, a block is full before its range has an end, and so a common prefix.
      int recordBytes = BlockSegment.LENGTHS_BYTES + 16 + 20;
      assertThat(blocks).isLessThan(KEYS * recordBytes * 10 / 9 / 8_000 + 3);
    }
  }

  /** As in a named map that has others behind it. */
  @Test
  void shouldFillBlocksWhereKeysAscendInFrontOfOthers() {
    try (Fabric fabric = Pools.open(1, 64 << 20, 2703);
        ByteIndex index = ByteIndex.create(fabric, ByteOptions.defaults());
        BlockSession session = (BlockSession) index.session()) {
      MemorySegment value = MemorySegment.ofArray(new byte[20]);
      for (int i = 0; i < KEYS; i++) {
        session.put(MemorySegment.ofArray("behind/%09d".formatted(i).getBytes(UTF_8)), value);
      }
      for (int i = 0; i < 9 * KEYS; i++) {
        session.put(key(i), value);
      }
      int recordBytes = BlockSegment.LENGTHS_BYTES + 16 + 20;
      assertThat(index.blocks()).isLessThan(10 * KEYS * recordBytes * 10 / 9 / 8_000 + 3);
    }
  }

  @Test
  void shouldMergeTheFullestBlocksWhereMemoryIsShort() {
    ByteOptions options =
        ByteOptions.defaults()
            .withRecordShare(0)
            .withCacheBytes(40 << 10)
            .withLabels(ByteOptions.defaults().labels().withWriteBackNanos(0));
    try (Fabric fabric = Pools.open(1, 64 << 20, 2702);
        ByteIndex index = ByteIndex.create(fabric, options);
        BlockSession session = (BlockSession) index.session()) {
      MemorySegment value = MemorySegment.ofArray(new byte[20]);
      for (int i = 0; i < 10 * KEYS; i++) {
        session.put(key(i), value);
      }
      long writes = writesOfUpdates(session, 10 * KEYS, value);
      // 1,194 where each change merges its own block
      assertThat(writes).isLessThan(UPDATES / 5);
      assertThat(index.deltas.bytes()).isLessThanOrEqualTo(options.deltaBytes());
    }
  }

  /** A key that changes again needs no more room than its last change. */
  @Test
  void shouldMakeNoBlockForAKeyWhoseLengthChangesAgain() {
    ByteOptions options =
        ByteOptions.defaults()
            .withCacheBytes(1 << 20)
            .withLabels(ByteOptions.defaults().labels().withWriteBackNanos(0));
    try (Fabric fabric = Pools.open(1, 64 << 20, 2704);
        ByteIndex index = ByteIndex.create(fabric, options);
        BlockSession session = (BlockSession) index.session()) {
      MemorySegment[] values = {
        MemorySegment.ofArray(new byte[20]), MemorySegment.ofArray(new byte[21])
      };
      for (int i = 0; i < KEYS; i++) {
        session.put(key(i), values[0]);
      }
      index.flush();
      VerbCounters before = session.verbs().copy();
      for (int i = 0; i < 10_000; i++) {
        session.update(key(700), values[i & 1]);
      }
      for (int i = 0; i < 10_000; i++) {
        session.remove(key(700));
        session.put(key(700), values[i & 1]);
      }
      assertThat(session.verbs().writes - before.writes).as("blocks made").isZero();
    }
  }

  /** Updates the first keys one after the other, from one block to the next; returns the WRITEs. */
  private static long writesOfUpdates(BlockSession session, int keys, MemorySegment value) {
    long before = session.verbs().writes;
    for (int i = 0; i < UPDATES; i++) {
      session.update(key(i * 331 % keys), value);
    }
    return session.verbs().writes - before;
  }

  private static void assertCosts(BlockSession session, Runnable operation, int reads, int writes) {
    VerbCounters before = session.verbs().copy();
    operation.run();
    VerbCounters after = session.verbs().copy();
    after.subtract(before);
    assertThat(after.reads).isEqualTo(reads);
    assertThat(after.writes).isEqualTo(writes);
    assertThat(after.atomics).isZero();
  }
}
