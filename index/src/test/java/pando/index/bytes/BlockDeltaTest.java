package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import pando.index.Seeds;
import pando.index.bytes.Block.DamagedException;

class BlockDeltaTest {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private final SplittableRandom random = new SplittableRandom(Seeds.of(2801));
  private final NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
  private BlockDelta delta = BlockDelta.NONE;

  private void put(byte[] key, byte[] value) {
    MemorySegment its = MemorySegment.ofArray(key);
    long hash = ByteKeyHash.of(its);
    int waiting = delta.find(its, hash);
    byte[] before = model.put(key, value);
    int length = before == null ? BlockDelta.ABSENT : before.length;
    delta = delta.with(waiting, its, hash, MemorySegment.ofArray(value), false, length);
  }

  private void remove(byte[] key) {
    MemorySegment its = MemorySegment.ofArray(key);
    long hash = ByteKeyHash.of(its);
    byte[] before = model.remove(key);
    delta = delta.without(delta.find(its, hash), its, hash, before == null ? 0 : before.length);
  }

  private void change() {
    byte[] key = ByteKeys.draw(random, 6);
    if (random.nextInt(3) == 0) {
      remove(key);
    } else {
      put(key, ByteKeys.value(random, 20));
    }
  }

  private static void assertHas(BlockView view, NavigableMap<byte[], byte[]> expected) {
    assertThat(view.count()).isEqualTo(expected.size());
    int i = 0;
    for (Map.Entry<byte[], byte[]> entry : expected.entrySet()) {
      assertThat(ByteKeys.bytes(view.key(i))).isEqualTo(entry.getKey());
      assertThat(ByteKeys.bytes(view.stored(i))).isEqualTo(entry.getValue());
      assertThat(view.hasBlob(i)).isFalse();
      assertThat(view.find(MemorySegment.ofArray(entry.getKey()))).isEqualTo(i++);
    }
  }

  @Test
  void shouldSeeABlockWithItsChangesAsAMap() throws DamagedException {
    Block block = Blocks.empty(NOTHING, null);
    for (int round = 0; round < 300; round++) {
      delta = BlockDelta.NONE;
      BlockDelta kept = delta;
      for (int i = random.nextInt(20); i > 0; i--) {
        kept = delta;
        change();
      }
      BlockView view = new BlockView(block, delta);
      assertHas(view, model);
      byte[] absent = ByteKeys.draw(random, 6);
      int found = view.find(MemorySegment.ofArray(absent));
      int below = model.headMap(absent).size();
      assertThat(found).isEqualTo(model.containsKey(absent) ? below : -1 - below);
      block = new BlockMerge(block, delta).merged();
      Block.checked(block.bytes());
      assertHas(new BlockView(block, BlockDelta.NONE), model);
      assertThat(kept.count()).isBetween(Math.max(delta.count() - 1, 0), delta.count());
    }
  }

  @Test
  void shouldHaveTheLastChangeOfEachKey() {
    NavigableMap<byte[], byte[]> changed = new TreeMap<>(Arrays::compareUnsigned);
    for (int i = 0; i < 2_000; i++) {
      byte[] key = ByteKeys.draw(random, 3);
      MemorySegment its = MemorySegment.ofArray(key);
      int found = delta.find(its, ByteKeyHash.of(its));
      assertThat(found >= 0).isEqualTo(changed.containsKey(key));
      if (found >= 0) {
        boolean removed = BlockDelta.isRemoved(delta.memory(), delta.record(found));
        assertThat(removed).isEqualTo(!model.containsKey(key));
      }
      byte[] value = ByteKeys.value(random, 9);
      if (random.nextBoolean()) {
        remove(key);
      } else {
        put(key, value);
      }
      changed.put(key, value);
      assertThat(delta.count()).isEqualTo(changed.size());
      if (random.nextInt(50) == 0) {
        assertSorted(List.copyOf(changed.keySet()));
      }
    }
  }

  private void assertSorted(List<byte[]> keys) {
    SortedChanges sorted = new SortedChanges(delta, 0);
    assertThat(sorted.count()).isEqualTo(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      byte[] expected = model.get(keys.get(i));
      assertThat(ByteKeys.bytes(sorted.key(i))).isEqualTo(keys.get(i));
      assertThat(sorted.isRemoved(i)).isEqualTo(expected == null);
      if (expected != null) {
        assertThat(ByteKeys.bytes(sorted.stored(i))).isEqualTo(expected);
      }
    }
  }

  @Test
  void shouldSeeTheSameWhileLaterChangesAreAppended() {
    List<BlockDelta> all = new ArrayList<>(List.of(delta));
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      byte[] key = {(byte) i, 1};
      put(key, new byte[] {(byte) i});
      keys.add(key);
      all.add(delta);
    }
    for (int i = 0; i < all.size(); i++) {
      for (int j = 0; j < keys.size(); j++) {
        MemorySegment its = MemorySegment.ofArray(keys.get(j));
        assertThat(all.get(i).find(its, ByteKeyHash.of(its))).isEqualTo(j < i ? j : -1);
      }
    }
  }

  @Test
  void shouldTakeAnotherChangeInPlaceOfOneThatWasNotMade() {
    put(new byte[] {1}, new byte[] {1});
    BlockDelta before = delta;
    put(new byte[] {2}, new byte[] {2});
    delta = before;
    put(new byte[] {3}, new byte[] {3, 3});
    assertThat(delta.count()).isEqualTo(2);
    MemorySegment lost = MemorySegment.ofArray(new byte[] {2});
    assertThat(delta.find(lost, ByteKeyHash.of(lost))).isNegative();
    SortedChanges sorted = new SortedChanges(delta, 0);
    assertThat(ByteKeys.bytes(sorted.stored(1))).containsExactly(3, 3);
  }

  @Test
  void shouldTakeValuesOfTheSameLengthIntoACopy() {
    Block block = Blocks.empty(NOTHING, null);
    for (int i = 0; i < 20; i++) {
      put(new byte[] {(byte) i}, new byte[5]);
    }
    block = new BlockMerge(block, delta).merged();
    delta = BlockDelta.NONE;
    put(new byte[] {3}, new byte[] {1, 2, 3, 4, 5});
    put(new byte[] {17}, new byte[] {6, 7, 8, 9, 10});
    Block patched = Objects.requireNonNull(new BlockMerge(block, delta).patched());
    assertHas(new BlockView(patched, BlockDelta.NONE), model);
    assertThat(block.stored(3).mismatch(MemorySegment.ofArray(new byte[5]))).isEqualTo(-1);
    put(new byte[] {9}, new byte[6]);
    assertThat(new BlockMerge(block, delta).patched()).isNull();
    delta = BlockDelta.NONE;
    remove(new byte[] {3});
    assertThat(new BlockMerge(block, delta).patched()).isNull();
    delta = BlockDelta.NONE;
    put(new byte[] {3, 3}, new byte[5]);
    assertThat(new BlockMerge(block, delta).patched()).isNull();
  }

  private void assertEstimates(int growth, int removedBytes) {
    assertThat(delta.growth()).isEqualTo(growth);
    assertThat(delta.removedBytes()).isEqualTo(removedBytes);
  }

  @Test
  void shouldSayHowMuchABlockGrowsAndLoses() {
    byte[] key = {1};
    assertThat(BlockDelta.NONE.localBytes()).isZero();
    put(key, new byte[9]);
    assertEstimates(1 + 9 + 16, 0);
    assertThat(delta.localBytes()).as("objects, lengths and place, key, value").isEqualTo(48 + 24);
    put(key, new byte[11]);
    assertEstimates(1 + 11 + 16, 0);
    remove(key);
    assertEstimates(1 + 11 + 16, 1 + 11 + 16);
    put(key, new byte[4]);
    assertEstimates(1 + 4 + 16, 0);
  }

  @Test
  void shouldEstimateByTheLastChangeOfAKeyThatTheBlockHas() {
    byte[] key = {1};
    model.put(key, new byte[20]);
    put(key, new byte[20]);
    assertEstimates(0, 0);
    remove(key);
    assertEstimates(0, 1 + 20 + 16);
    put(key, new byte[20]);
    assertEstimates(0, 0);
    for (int i = 0; i < 100; i++) {
      put(key, new byte[25]);
      assertEstimates(5 + 16, 0);
      put(key, new byte[20]);
      assertEstimates(16, 0);
      remove(key);
      assertEstimates(16, 1 + 20 + 16);
      put(key, new byte[2]);
      assertEstimates(1, 0);
      put(key, new byte[20]);
      put(key, new byte[7]);
      model.put(key, new byte[20]);
      delta = BlockDelta.NONE;
    }
  }

  /** A key that changes again and again takes the memory of one change. */
  @Test
  void shouldTakeNoMoreMemoryWhereAKeyChangesAgain() {
    put(new byte[] {1}, new byte[8]);
    put(new byte[] {2}, new byte[8]);
    long bytes = delta.localBytes();
    for (int i = 0; i < 100; i++) {
      put(new byte[] {(byte) (1 + (i & 1))}, new byte[8]);
      assertThat(delta.localBytes()).isEqualTo(bytes);
    }
    assertThat(delta.count()).isEqualTo(2);
  }

  @Test
  void shouldHaveLittleRoomToSpare() {
    for (int i = 0; i < 60; i++) {
      put(new byte[] {(byte) i}, new byte[20]);
      assertLittleRoom();
    }
    for (int i = 0; i < 60; i++) {
      remove(new byte[] {(byte) i});
      assertLittleRoom();
    }
  }

  private void assertLittleRoom() {
    assertThat(delta.localBytes())
        .isLessThanOrEqualTo(48 + 8 + (delta.size() + 4L * delta.count()) * 5 / 4);
  }
}
