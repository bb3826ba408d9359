package pando.index.bytes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.Pools;
import pando.index.orca.OrcaOptions;

/** What operations cost: the table of docs/systems.md. */
class ByteVerbsTest {
  private static final int KEYS = 2_000;

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
            .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));
    try (Fabric fabric = Pools.open(1, 64 << 20, 2701);
        ByteIndex index = ByteIndex.create(fabric, options);
        ByteSession session = index.session()) {
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
      long writes = session.verbs().writes;
      for (int i = 0; i < 330; i++) {
        session.update(key(800 + i % 33), shorter);
      }
      // Changes of a key take each other's place; 32 wait, and the 33rd is merged with them.
      assertThat(session.verbs().writes - writes).isEqualTo(cacheBytes == 0 ? 330 : 10);
      int[] visited = {0};
      VerbCounters before = session.verbs().copy();
      session.scan(key(0), null, KEYS, (key, value) -> visited[0]++ >= 0);
      assertThat(visited[0]).isEqualTo(KEYS);
      assertThat(session.verbs().reads - before.reads).isEqualTo((long) misses * blocks);
      // Where keys ascend, a block is full before its range has an end, and so a common prefix.
      int recordBytes = Segment.LENGTHS_BYTES + 16 + 20;
      assertThat(blocks).isLessThan(KEYS * recordBytes * 10 / 9 / 8_000 + 3);
    }
  }

  private static void assertCosts(ByteSession session, Runnable operation, int reads, int writes) {
    VerbCounters before = session.verbs().copy();
    operation.run();
    VerbCounters after = session.verbs().copy();
    after.subtract(before);
    assertThat(after.reads).isEqualTo(reads);
    assertThat(after.writes).isEqualTo(writes);
    assertThat(after.atomics).isZero();
  }
}
