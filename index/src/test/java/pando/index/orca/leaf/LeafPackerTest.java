package pando.index.orca.leaf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.fabric.GlobalAddress;
import pando.index.Seeds;

class LeafPackerTest {
  private static final int KEYS = 20_000;
  private static final int LEAF_RECORDS = 200;
  private static final double USED_SLOTS_UNIFORM = 7.3;

  private final SplittableRandom random = new SplittableRandom(Seeds.of(2601));
  private final MemorySegment memory =
      Arena.ofAuto().allocate(LeafLayout.bytes(LeafLayout.SEGMENTS_MAX), Long.BYTES);
  private final LeafPacker packer = new LeafPacker();
  private final LeafReader reader = new LeafReader();
  private final long[] readKeys = new long[LeafLayout.RECORDS_MAX];
  private final long[] readValues = new long[LeafLayout.RECORDS_MAX];

  private long[] values = {};
  private int leaves;
  private int wideLeaves;
  private long segments;
  private long bytes;

  @ParameterizedTest
  @EnumSource(KeySets.class)
  void shouldPackAnyKeys(KeySets set) {
    long[] keys = set.keys(random, KEYS);
    values = random.longs(keys.length).toArray();
    long low = Long.MIN_VALUE;
    for (int from = 0; from < keys.length; from += LEAF_RECORDS) {
      int end = Math.min(from + LEAF_RECORDS, keys.length);
      long high = end == keys.length ? Long.MAX_VALUE : keys[end] - 1;
      pack(keys, from, end - from, low, high);
      low = high + 1;
    }
    System.out.printf(
        "%s: keys=%d leaves=%d usedSlots=%.2f wideHeads=%.2f%% bytesPerRecord=%.2f%n",
        set,
        keys.length,
        leaves,
        (double) keys.length / segments,
        100.0 * wideLeaves / leaves,
        (double) bytes / keys.length);
  }

  /** The number of q in a leaf's range goes from 128 to 255 and back as ranges become narrower. */
  @Test
  void shouldFillSlotsWithUniformKeysWhateverTheRange() {
    for (int count = KEYS; count < 2 * KEYS; count += KEYS / 5) {
      long[] keys = KeySets.UNIFORM.keys(random, count);
      for (int from = 0; from + LEAF_RECORDS < count; from += LEAF_RECORDS) {
        int planned =
            packer.plan(keys, from, LEAF_RECORDS, keys[from], keys[from + LEAF_RECORDS] - 1);
        segments += planned;
        leaves++;
      }
    }
    double used = (double) leaves * LEAF_RECORDS / segments;
    System.out.printf("usedSlots=%.2f%n", used);
    assertThat(used).isGreaterThanOrEqualTo(USED_SLOTS_UNIFORM);
  }

  @Test
  void shouldPackLeavesOfAnySizeAndRange() {
    for (int round = 0; round < 5000; round++) {
      int count = random.nextInt(40);
      long range = random.nextLong() >>> random.nextInt(Long.SIZE - 6);
      long low = random.nextLong();
      long high = low + range;
      if (low < high && Long.compareUnsigned(range, count) > 0) {
        int bits = random.nextInt(Long.SIZE);
        long[] keys =
            random
                .longs(count)
                .map(distance -> low + Long.remainderUnsigned(distance >>> bits, range))
                .sorted()
                .distinct()
                .toArray();
        values = random.longs(keys.length).toArray();
        pack(keys, 0, keys.length, low, high);
      }
    }
  }

  /** Packs and checks a leaf; two halves where the records do not fit. */
  private void pack(long[] keys, int from, int count, long low, long high) {
    int planned = packer.plan(keys, from, count, low, high);
    if (planned == 0) {
      int half = count / 2;
      pack(keys, from, half, low, keys[from + half] - 1);
      pack(keys, from + half, count - half, keys[from + half], high);
      return;
    }
    leaves++;
    wideLeaves += packer.width() > 1 ? 1 : 0;
    segments += planned;
    bytes += LeafLayout.bytes(planned);
    assertThat(planned).isBetween(LeafLayout.SEGMENTS_MIN, LeafLayout.SEGMENTS_MAX);
    long address = GlobalAddress.of(random.nextInt(9), random.nextLong(1L << 30) << 9);
    long stamp = random.nextLong();
    memory.fill((byte) random.nextInt());
    packer.write(memory, 0, address, stamp, keys, values, from);
    checkHeader(count, low, high, stamp);
    int read = reader.read(memory, 0, address, planned, low, high, stamp, readKeys, readValues);
    assertThat(reader.problem()).isNull();
    assertThat(read).isEqualTo(count);
    assertThat(Arrays.copyOf(readKeys, read))
        .isEqualTo(Arrays.copyOfRange(keys, from, from + count));
    assertThat(Arrays.copyOf(readValues, read))
        .isEqualTo(Arrays.copyOfRange(values, from, from + count));
    for (int record = 0; record < count; record++) {
      checkFind(keys, from, count, address, keys[from + record], record);
      checkFind(keys, from, count, address, keys[from + record] + 1, -1);
    }
    checkFind(keys, from, count, address, low, -1);
    checkFind(keys, from, count, address, high, -1);
    checkFind(keys, from, count, address, low + ((high - low) >>> 1), -1);
  }

  private void checkHeader(int count, long low, long high, long stamp) {
    assertThat(LeafLayout.problem(memory, 0)).isNull();
    assertThat(LeafLayout.low(memory, 0)).isEqualTo(low);
    assertThat(LeafLayout.high(memory, 0)).isEqualTo(high);
    assertThat(LeafLayout.stamp(memory, 0)).isEqualTo(stamp);
    assertThat(LeafLayout.records(memory, 0)).isEqualTo(count);
    assertThat(LeafLayout.shift(memory, 0)).isEqualTo(packer.shift());
    assertThat(LeafLayout.width(memory, 0)).isEqualTo(packer.width());
    assertThat(LeafLayout.segments(memory, 0)).isEqualTo(packer.segments());
  }

  /** Looks a key up by heads and in one segment; {@code record} below 0: where it may be absent. */
  private void checkFind(long[] keys, int from, int count, long address, long key, int record) {
    int expected = record < 0 ? Arrays.binarySearch(keys, from, from + count, key) - from : record;
    if (key < LeafLayout.low(memory, 0) || key > LeafLayout.high(memory, 0)) {
      return;
    }
    int segment = segmentOf(key);
    int slot = Leaf.find(memory, address, segment, key);
    if (expected < 0) {
      assertThat(slot).isEqualTo(Leaf.ABSENT);
      return;
    }
    assertThat(segment * LeafLayout.SLOTS + slot).isEqualTo(packer.place(expected));
    assertThat(Segment.value(memory, LeafLayout.segment(segment), slot))
        .isEqualTo(values[from + expected]);
  }

  private int segmentOf(long key) {
    long q = Heads.q(key, LeafLayout.low(memory, 0), packer.shift());
    int segment = packer.segments() - 1;
    while (Long.compareUnsigned(packer.head(segment), q) > 0) {
      segment--;
    }
    return segment;
  }

  @Test
  void shouldUseHeadsOfTheLeastWidthThatFits() {
    long[] ninth = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    assertThat(packer.plan(ninth, 0, 8, 0, 1L << 40)).isEqualTo(2);
    assertThat(packer.width()).isEqualTo(1);
    assertThat(packer.plan(ninth, 0, 9, 0, 255)).isEqualTo(2);
    assertThat(packer.width()).isEqualTo(1);
    assertThat(packer.plan(ninth, 0, 9, 0, 1 << 12)).isEqualTo(2);
    assertThat(packer.width()).isEqualTo(2);
    assertThat(packer.plan(ninth, 0, 9, Long.MIN_VALUE, Long.MAX_VALUE)).isEqualTo(2);
    assertThat(packer.width()).isEqualTo(8);
    long[] adjacent = new long[65];
    Arrays.setAll(adjacent, i -> i);
    assertThat(packer.plan(adjacent, 0, 64, Long.MIN_VALUE, Long.MAX_VALUE)).isEqualTo(8);
    assertThat(packer.plan(adjacent, 0, 65, Long.MIN_VALUE, Long.MAX_VALUE)).isZero();
    assertThat(packer.segments()).isZero();
  }

  @Test
  void shouldFillALeaf() {
    long[] keys = new long[LeafLayout.RECORDS_MAX + 1];
    Arrays.setAll(keys, i -> i);
    values = keys;
    assertThat(packer.plan(keys, 0, keys.length, 0, 255)).isZero();
    pack(keys, 0, LeafLayout.RECORDS_MAX, 0, 255);
    assertThat(packer.segments()).isEqualTo(LeafLayout.SEGMENTS_MAX);
    assertThat(packer.width()).isEqualTo(1);
  }

  @Test
  void shouldPackLeavesThatCoverTwoKeys() {
    for (long low : new long[] {Long.MIN_VALUE, -1, 0, Long.MAX_VALUE - 1}) {
      long[] keys = {low, low + 1};
      values = new long[] {5, 6};
      for (int from = 0; from < 2; from++) {
        for (int count = 0; count <= 2 - from; count++) {
          pack(keys, from, count, low, low + 1);
          assertThat(packer.segments()).isEqualTo(2);
        }
      }
    }
  }

  @Test
  void shouldRejectWhatIsNoLeaf() {
    long[] keys = {1, 2, 2};
    assertThatThrownBy(() -> packer.plan(keys, 0, 1, 1, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("low=1, high=1");
    assertThatThrownBy(() -> packer.plan(keys, 0, 3, 0, 9))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("do not ascend: index=2, key=2, before=2");
    assertThatThrownBy(() -> packer.plan(keys, 0, 2, 2, 9))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("first=1, last=2, low=2, high=9");
    assertThatThrownBy(() -> packer.plan(keys, 2, 2, 0, 9))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> new LeafPacker().write(memory, 0, 0, 0, keys, keys, 0))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> Heads.shift(0, 1, 4))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("width=4");
  }
}
