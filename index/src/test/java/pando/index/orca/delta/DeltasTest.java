package pando.index.orca.delta;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.memory.Words;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.orca.parts.CacheParts;

@Timeout(300)
class DeltasTest {
  private static final long BLOCK_BYTES_MAX = 4352;
  private static final int SLABS_OF_PART = 15;
  private static final long PART_BYTES = SLABS_OF_PART * BLOCK_BYTES_MAX;
  private static final int SMALL_BLOCKS_OF_PART = SLABS_OF_PART * (int) (BLOCK_BYTES_MAX / 96);

  private final Fabric fabric = Pools.open(1, 1 << 20, 1);
  private final CacheParts parts = CacheParts.of(fabric, 2, PART_BYTES);
  private final Deltas deltas = new Deltas(parts);

  @BeforeEach
  void addParts() {
    deltas.add(0);
    deltas.add(1);
  }

  @AfterEach
  void close() {
    parts.close();
    fabric.close();
  }

  /** Returns a block with room for at least some records, which has that many. */
  private int filled(int records) {
    int block = deltas.create();
    for (int i = 0; i < records; i++) {
      int larger = deltas.insert(block, 2L * i, -i, Deltas.PUT);
      if (larger != block) {
        deltas.free(block);
      }
      block = larger;
    }
    return block;
  }

  private List<Integer> takeAll() {
    List<Integer> taken = new ArrayList<>();
    for (int block = deltas.create(); block != Deltas.NONE; block = deltas.create()) {
      taken.add(block);
    }
    return taken;
  }

  @Test
  void shouldGrowThroughAllRooms() {
    int block = deltas.create();
    assertThat(deltas.count(block)).isZero();
    assertThat(deltas.find(block, 5)).isEqualTo(-1);
    List<Integer> grownAt = new ArrayList<>();
    // Descending, so that each one goes to the front.
    for (int i = 0; i < Deltas.RECORDS_MAX; i++) {
      int larger = deltas.insert(block, -i, i, 1 + i % 3);
      if (larger != block) {
        grownAt.add(i);
        assertThat(deltas.count(block)).as("the old block stays").isEqualTo(i);
        assertThat(deltas.find(block, -i)).isEqualTo(-1);
        assertThat(deltas.key(block, i - 1)).isZero();
        deltas.free(block);
      }
      block = larger;
    }
    assertThat(grownAt).containsExactly(4, 7, 11, 16, 22, 31, 41, 50, 63, 84, 127);
    assertThat(deltas.bytesUsed()).isEqualTo(BLOCK_BYTES_MAX);
    assertThat(deltas.insert(block, 1, 1, Deltas.PUT)).isEqualTo(Deltas.NONE);
    assertThat(deltas.count(block)).isEqualTo(Deltas.RECORDS_MAX);
    for (int i = 0; i < Deltas.RECORDS_MAX; i++) {
      int index = deltas.find(block, -i);
      assertThat(index).isEqualTo(Deltas.RECORDS_MAX - 1 - i);
      assertThat(deltas.key(block, index)).isEqualTo(-i);
      assertThat(deltas.value(block, index)).isEqualTo(i);
      assertThat(deltas.kind(block, index)).isEqualTo(1 + i % 3);
    }
    deltas.remove(block, 0);
    assertThat(deltas.find(block, -254)).isEqualTo(-1);
    assertThat(deltas.find(block, -253)).isZero();
    assertThat(deltas.insert(block, Long.MAX_VALUE, 1, Deltas.PUT)).isEqualTo(block);
    assertThat(deltas.find(block, Long.MAX_VALUE)).isEqualTo(254);
    deltas.free(block);
    assertThat(deltas.bytesUsed()).isZero();
  }

  @Test
  void shouldUseItsMemoryAndSayWhenItIsShort() {
    assertThat(deltas.bytes()).isEqualTo(2 * PART_BYTES);
    List<Integer> taken = new ArrayList<>();
    for (int block = deltas.create(); block != Deltas.NONE; block = deltas.create()) {
      taken.add(block);
      assertThat(deltas.bytesUsed()).isEqualTo(96L * taken.size());
      assertThat(deltas.roomUsed()).isEqualTo(4L * taken.size());
      assertThat(deltas.isShort()).isEqualTo(96L * taken.size() > 2 * PART_BYTES / 8 * 7);
    }
    assertThat(taken).hasSize(2 * SMALL_BLOCKS_OF_PART).doesNotHaveDuplicates();
    for (int i = 0; i < 4; i++) {
      assertThat(deltas.insert(taken.getFirst(), i, i, Deltas.PUT)).isEqualTo(taken.getFirst());
    }
    assertThat(deltas.insert(taken.getFirst(), 4, 4, Deltas.PUT)).isEqualTo(Deltas.NONE);
    assertThat(deltas.count(taken.getFirst())).isEqualTo(4);
    taken.forEach(deltas::free);
    assertThat(deltas.bytesUsed()).isZero();
    assertThat(deltas.isShort()).isFalse();
  }

  @Test
  void shouldGiveEmptySlabsToOtherRooms() {
    for (int round = 0; round < 3; round++) {
      List<Integer> small = takeAll();
      assertThat(small).hasSize(2 * SMALL_BLOCKS_OF_PART);
      small.forEach(deltas::free);
      List<Integer> large = new ArrayList<>();
      // The last slab has what the largest blocks grow from.
      for (int i = 0; i < 2 * SLABS_OF_PART - 1; i++) {
        large.add(filled(Deltas.RECORDS_MAX));
      }
      assertThat(deltas.bytesUsed()).isEqualTo(2 * PART_BYTES - BLOCK_BYTES_MAX);
      assertThat(deltas.roomUsed()).isEqualTo((2 * SLABS_OF_PART - 1) * Deltas.RECORDS_MAX);
      large.forEach(deltas::free);
      assertThat(deltas.bytesUsed()).isZero();
      assertThat(deltas.roomUsed()).isZero();
    }
  }

  @Test
  void shouldTakeLargerBlocksWhereThereAreNoOthers() {
    int one = filled(127);
    int other = filled(127);
    takeAll();
    deltas.free(one);
    int block = deltas.create();
    assertThat(block).as("the only one").isEqualTo(one).isNotEqualTo(other);
    for (int i = 0; i < 5; i++) {
      assertThat(deltas.insert(block, i, i, Deltas.TOMBSTONE)).isEqualTo(block);
    }
    assertThat(deltas.create()).isEqualTo(Deltas.NONE);
  }

  @Test
  void shouldRefuseWhatIsNotInUse() {
    int block = filled(5);
    deltas.free(block);
    for (int wrong : new int[] {block, block + 1, 0, -7, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      assertThatThrownBy(() -> deltas.free(wrong))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("block=" + wrong);
    }
    int again = filled(5);
    assertThatThrownBy(() -> deltas.free(again + 1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> deltas.free(again + 8)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> deltas.insert(again, 4, 1, Deltas.PUT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("key=4");
    assertThatThrownBy(() -> deltas.insert(again, 5, 1, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("kind=0");
    assertThatThrownBy(() -> deltas.setKind(again, 0, 4)).hasMessageContaining("kind=4");
    assertThatThrownBy(() -> deltas.setValue(again, 5, 4)).hasMessageContaining("records=5");
    assertThatThrownBy(() -> deltas.remove(again, -1)).hasMessageContaining("index=-1");
    deltas.free(again);
  }

  @Test
  void shouldEmptyAPartThatRetires() {
    List<Integer> small = takeAll();
    deltas.retire(1);
    assertThat(deltas.bytes()).isEqualTo(PART_BYTES);
    assertThat(deltas.bytesUsed(1)).isEqualTo(96L * SMALL_BLOCKS_OF_PART);
    small.stream().filter(block -> deltas.partOf(block) == 1).forEach(deltas::free);
    assertThat(deltas.bytesUsed(1)).isZero();
    assertThat(deltas.create()).as("its blocks are not given again").isEqualTo(Deltas.NONE);
    deltas.add(1);
    assertThat(takeAll()).hasSize(SMALL_BLOCKS_OF_PART).allMatch(at -> deltas.partOf(at) == 1);
  }

  @Test
  void shouldTakeARetiredPartBack() {
    int block = filled(Deltas.RECORDS_MAX);
    int part = deltas.partOf(block);
    int taken = takeAll().size();
    assertThat(taken).isEqualTo((2 * SLABS_OF_PART - 1) * (int) (BLOCK_BYTES_MAX / 96));
    deltas.retire(part);
    deltas.add(part);
    assertThat(deltas.find(block, 2)).isEqualTo(1);
    deltas.free(block);
    assertThat(deltas.create()).isEqualTo(block);
    assertThat(deltas.bytes()).isEqualTo(2 * PART_BYTES);
  }

  @Test
  void shouldRefuseTooLittleMemory() {
    for (long bytes : new long[] {-1, 0, CacheParts.BYTES_MIN - 1}) {
      assertThatThrownBy(() -> CacheParts.create(fabric, bytes))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("bytes=" + bytes)
          .hasMessageContaining("minimum=" + CacheParts.BYTES_MIN);
    }
    CacheParts.create(fabric, CacheParts.BYTES_MIN).close();
  }

  @Test
  void shouldHaveNoBlocksThatDoNotFitAPart() {
    try (CacheParts small = CacheParts.of(fabric, 2, CacheParts.PART_BYTES_MIN)) {
      Deltas few = new Deltas(small);
      few.add(0);
      few.add(1);
      int block = few.create();
      for (int i = 0; i < 127; i++) {
        int larger = few.insert(block, i, i, Deltas.PUT);
        assertThat(larger).as("i=%s", i).isNotEqualTo(Deltas.NONE);
        if (larger != block) {
          few.free(block);
        }
        block = larger;
      }
      assertThat(few.insert(block, 127, 1, Deltas.PUT)).isEqualTo(Deltas.NONE);
      assertThat(few.count(block)).isEqualTo(127);
    }
  }

  /** A reader may have the name of a block whose memory holds anything by now. */
  @Test
  void shouldReadAnyBytesWithoutAnException() {
    Random random = new Random(Seeds.of(3));
    long lastBlock = deltas.bytes() / 16;
    long sum = 0;
    for (int pattern = 0; pattern < 3; pattern++) {
      for (long at = 0; at < deltas.memory().byteSize(); at += 8) {
        Words.set(deltas.memory(), at, pattern == 0 ? -1 : random.nextLong());
      }
      for (int i = 0; i < 20_000; i++) {
        int block = (int) (i < 300 ? lastBlock - i : 1 + random.nextLong(lastBlock));
        int found = deltas.find(block, random.nextLong());
        int index = found < 0 ? Math.min(-1 - found, 254) : found;
        assertThat(index).isBetween(0, 254);
        assertThat(deltas.count(block)).isBetween(0, 255);
        assertThat(deltas.kind(block, index)).isBetween(0, 255);
        sum += deltas.key(block, 254) + deltas.value(block, 254);
      }
    }
    System.out.println("sum=" + sum);
  }
}
