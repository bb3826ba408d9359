package pando.index.bytes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.VerbList.Kind;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.orca.OrcaOptions;

/** A walk over blocks with changes, beside another one and beside operations that hold blocks. */
class BlockSweepTest {
  private static final ByteOptions OPTIONS =
      ByteOptions.defaults()
          .withBlockBytes(ByteOptions.BLOCK_BYTES_MIN, 64)
          .withCacheBytes(1 << 20)
          .withLabels(
              OrcaOptions.defaults()
                  .withComputeServers(1)
                  .withCacheBytes(1 << 20)
                  .withWriteBackNanos(0));

  private static final int KEYS = 2_000;
  private static final int BLOCKS = 12;

  private static MemorySegment key(int number) {
    return bytes("key%06d".formatted(number));
  }

  private static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(UTF_8));
  }

  private static boolean isMerged(BlockEntry entry) {
    return entry.state().delta().count() == 0;
  }

  @Test
  void shouldMergeBlocksThatAnotherWalkCouldNot() {
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 64 << 20, 1));
        ByteIndex index = ByteIndex.create(fabric, OPTIONS);
        BlockSession writing = (BlockSession) index.session();
        BlockSession walking = (BlockSession) index.session();
        BlockSession other = (BlockSession) index.session()) {
      for (int i = 0; i < KEYS; i++) {
        writing.put(key(i), bytes("first"));
      }
      index.flush();
      changeBlocks(index, writing, 0);
      List<BlockEntry> old = List.copyOf(index.unwritten);

      // The other walk takes a step in which operations hold all blocks that it comes to.
      fabric.hookNext(
          verbs -> verbs.kind(0) == Kind.WRITE,
          write -> {
            write.post();
            changeBlocks(index, writing, KEYS / 2);
            List<BlockEntry> held = old.stream().filter(BlockEntry::tryLatch).toList();
            BlockSweep otherWalk = new BlockSweep(index, other);
            otherWalk.rewind();
            assertThat(otherWalk.write()).isTrue();
            held.forEach(BlockEntry::unlatch);
          });
      new BlockSweep(index, walking).writeAll();
      assertThat(fabric.unhook()).isOne();
      assertThat(old).allMatch(BlockSweepTest::isMerged);
    }
  }

  /** Where nothing is written back, no walk comes by and takes them out. */
  @Test
  void shouldForgetBlocksThatAreGone() {
    try (Fabric fabric = Pools.open(1, 64 << 20, 1);
        ByteIndex index = ByteIndex.create(fabric, OPTIONS);
        BlockSession session = (BlockSession) index.session()) {
      for (int i = 0; i < KEYS; i++) {
        session.put(key(i), bytes("value"));
        session.put(key(i - BLOCKS), bytes("other"));
        session.remove(key(i - 5 * BLOCKS));
      }
      assertThat(index.unwritten)
          .hasSizeLessThanOrEqualTo(index.blocks())
          .noneMatch(BlockSweepTest::isMerged);
    }
  }

  @Test
  @Timeout(60)
  void shouldMergeBeforeMemoryForChangesIsShort() {
    try (Fabric fabric = Pools.open(1, 64 << 20, 1);
        ByteIndex index = ByteIndex.create(fabric, OPTIONS.withCacheBytes(40_000));
        BlockSession session = (BlockSession) index.session()) {
      for (int i = 0; i < KEYS; i++) {
        session.put(key(i), bytes("first"));
      }
      for (int i = 0; i < 10 * KEYS && !index.deltas.isNearlyShort(); i++) {
        session.put(key(i % KEYS), bytes("other"));
      }
      assertThat(index.deltas.isNearlyShort()).isTrue();
      session.put(key(0), bytes("last"));
      while (!index.deltas.isEased() && !Thread.currentThread().isInterrupted()) {
        Thread.onSpinWait();
      }
      assertThat(index.deltas.isEased()).isTrue();
      assertThat(index.unwritten).isNotEmpty();
    }
  }

  /** Changes records from one on, until so many more blocks wait. */
  private static void changeBlocks(ByteIndex index, BlockSession session, int from) {
    int size = index.unwritten.size() + BLOCKS;
    int next = from;
    while (index.unwritten.size() < size) {
      session.put(key(next++), bytes("other"));
    }
  }
}
