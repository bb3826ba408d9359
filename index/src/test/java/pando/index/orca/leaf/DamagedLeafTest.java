package pando.index.orca.leaf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.index.Seeds;

class DamagedLeafTest {
  private static final long ADDRESS = 1 << 20;
  private static final long STAMP = 0x1234_5678_9ABCL;
  private static final int BYTES_MAX = LeafLayout.bytes(LeafLayout.SEGMENTS_MAX);

  private final SplittableRandom random = new SplittableRandom(Seeds.of(2602));
  private final MemorySegment memory = Arena.ofAuto().allocate(BYTES_MAX, Long.BYTES);
  private final MemorySegment copy = Arena.ofAuto().allocate(BYTES_MAX, Long.BYTES);
  private final LeafPacker packer = new LeafPacker();
  private final LeafReader reader = new LeafReader();
  private final long[] readKeys = new long[LeafLayout.RECORDS_MAX];
  private final long[] readValues = new long[LeafLayout.RECORDS_MAX];

  private long[] keys = {};
  private long[] values = {};
  private long low;
  private long high;

  /** Writes a leaf with heads of a width, and with void slots in its first and other segments. */
  private void writeLeaf(int width, long stamp) {
    low = width == 1 ? -1000 : Long.MIN_VALUE;
    high = width == 1 ? 1_000_000 : Long.MAX_VALUE;
    keys =
        switch (width) {
          case 1 -> random.longs(150, low, high).sorted().distinct().toArray();
          case 2 -> random.longs(100).map(key -> key >> 6).sorted().distinct().toArray();
          default -> random.longs(20, 1L << 40, 1L << 45).sorted().distinct().toArray();
        };
    values = random.longs(keys.length).toArray();
    packer.plan(keys, 0, keys.length, low, high);
    assertThat(packer.width()).isEqualTo(width);
    packer.write(memory, 0, ADDRESS, stamp, keys, values, 0);
    MemorySegment.copy(memory, 0, copy, 0, BYTES_MAX);
  }

  private int read(MemorySegment leaf) {
    return reader.read(leaf, 0, ADDRESS, packer.segments(), low, high, STAMP, readKeys, readValues);
  }

  private void damage(long position, int bits) {
    memory.set(JAVA_BYTE, position, (byte) (memory.get(JAVA_BYTE, position) ^ bits));
  }

  @ParameterizedTest(name = "width={0}")
  @ValueSource(ints = {1, 2, 8})
  void shouldDetectADamagedByteOfAHeader(int width) {
    writeLeaf(width, STAMP);
    assertThat(LeafLayout.problem(memory, 0)).isNull();
    for (int position = 0; position < LeafLayout.HEADER_BYTES; position++) {
      for (int bits = 1; bits < 256; bits++) {
        damage(position, bits);
        assertThat(LeafLayout.problem(memory, 0))
            .as("byte %d, bits %02x", position, bits)
            .isNotNull();
        damage(position, bits);
      }
    }
    damage(LeafLayout.HEADER_BYTES - 1, 1);
    assertThat(read(memory)).isEqualTo(Segment.DAMAGED);
    assertThat(reader.problem()).startsWith("leaf 0:0x100000: wrong sum");
  }

  /** Not found by the sum: bytes that were wrong when the header was sealed. */
  @ParameterizedTest(name = "width={0}")
  @ValueSource(ints = {1, 2, 8})
  void shouldDetectAHeaderThatIsWrongThoughItsSumIsRight(int width) {
    writeLeaf(width, STAMP);
    int free = 0;
    for (int position = 0; position < LeafLayout.HEADER_BYTES; position++) {
      for (int bits = 1; bits < 256; bits++) {
        damage(position, bits);
        LeafLayout.seal(memory, 0);
        free += read(memory) == Segment.DAMAGED ? 0 : 1;
        damage(position, bits);
      }
    }
    LeafLayout.seal(memory, 0);
    // The 8 bytes of the sum are overwritten by its right value.
    int sums = Long.BYTES * 255;
    // A head may be lower, and higher where a record's q allows it: then the leaf is another sound
    // one. All else is compared with what is expected or follows from it.
    assertThat(free).isBetween(sums, sums + packer.segments() * width * 255);
    assertThat(read(memory)).isEqualTo(keys.length);
  }

  @ParameterizedTest(name = "width={0}")
  @ValueSource(ints = {1, 2, 8})
  void shouldDetectADamagedByteOfASegmentOrReadAllOtherSlotsRight(int width) {
    writeLeaf(width, STAMP);
    int detected = 0;
    int bytes = LeafLayout.bytes(packer.segments());
    for (int position = LeafLayout.HEADER_BYTES; position < bytes; position++) {
      for (int bit = 0; bit < Byte.SIZE; bit++) {
        damage(position, 1 << bit);
        int place = (position - LeafLayout.HEADER_BYTES) / LeafLayout.SLOT_BYTES;
        detected += checkDamaged(place, position % LeafLayout.SLOT_BYTES >= Long.BYTES) ? 1 : 0;
        damage(position, 1 << bit);
      }
    }
    System.out.printf(
        "width=%d: %d of %d damaged bits detected%n",
        width, detected, (bytes - LeafLayout.HEADER_BYTES) * Byte.SIZE);
    assertThat(memory.mismatch(copy)).isEqualTo(-1);
  }

  /** Checks a leaf of which a slot is damaged; returns whether the damage was detected. */
  private boolean checkDamaged(int place, boolean isValue) {
    int damagedSegment = place / LeafLayout.SLOTS;
    boolean detected = read(memory) == Segment.DAMAGED;
    assertThat(reader.problem() != null).isEqualTo(detected);
    boolean record = false;
    for (int i = 0; i < keys.length; i++) {
      int segment = packer.place(i) / LeafLayout.SLOTS;
      int slot = packer.place(i) % LeafLayout.SLOTS;
      record |= packer.place(i) == place;
      if (segment == damagedSegment) {
        int found = Leaf.find(memory, ADDRESS, segment, keys[i]);
        if (packer.place(i) != place || isValue) {
          assertThat(found).isIn(slot, Segment.DAMAGED);
        } else {
          assertThat(found).isIn(Leaf.ABSENT, Segment.DAMAGED);
        }
      }
    }
    // A value has no redundancy in a record, and nothing else in a void slot.
    if (isValue) {
      assertThat(detected).isEqualTo(!record);
    } else if (!record) {
      // A void slot that has become a record is one too many.
      assertThat(detected).isTrue();
    }
    return detected;
  }

  @Test
  void shouldDetectSegmentsThatAreNotOfThisLeaf() {
    writeLeaf(1, STAMP);
    MemorySegment zeros = Arena.ofAuto().allocate(BYTES_MAX, Long.BYTES);
    MemorySegment older = Arena.ofAuto().allocate(BYTES_MAX, Long.BYTES);
    packer.write(older, 0, ADDRESS, STAMP - 1, keys, values, 0);
    MemorySegment elsewhere = Arena.ofAuto().allocate(BYTES_MAX, Long.BYTES);
    packer.write(elsewhere, 0, ADDRESS + 512, STAMP, keys, values, 0);
    for (int segment = 0; segment < packer.segments(); segment++) {
      long key = low + (packer.head(segment) << packer.shift());
      assertThat(Leaf.find(copy, zeros, ADDRESS, segment, key)).isEqualTo(Segment.DAMAGED);
      boolean full = isFull(segment);
      int expected = Leaf.find(memory, ADDRESS, segment, key);
      assertThat(expected).isNotEqualTo(Segment.DAMAGED);
      // Full segments of the same heads have nothing that tells them apart.
      int ifVoid = full ? expected : Segment.DAMAGED;
      assertThat(Leaf.find(copy, older, ADDRESS, segment, key)).isEqualTo(ifVoid);
      assertThat(Leaf.find(copy, elsewhere, ADDRESS, segment, key)).isEqualTo(ifVoid);
      int other = (segment + 1) % packer.segments();
      MemorySegment.copy(copy, LeafLayout.segment(other), memory, LeafLayout.segment(segment), 128);
      assertThat(Leaf.find(memory, ADDRESS, segment, key)).isEqualTo(Segment.DAMAGED);
      MemorySegment.copy(copy, 0, memory, 0, BYTES_MAX);
    }
    assertThat(read(older)).isEqualTo(Segment.DAMAGED);
    assertThat(reader.problem()).contains("stamp=0x123456789abb").contains("stamp=0x123456789abc");
  }

  private boolean isFull(int segment) {
    int last = segment * LeafLayout.SLOTS + LeafLayout.SLOTS - 1;
    return Arrays.stream(keys)
        .anyMatch(key -> packer.place(Arrays.binarySearch(keys, key)) == last);
  }

  @Test
  void shouldReadNothingOfZerosOrNoise() {
    MemorySegment noise = Arena.ofAuto().allocate(BYTES_MAX, Long.BYTES);
    writeLeaf(1, STAMP);
    for (int round = 0; round < 1000; round++) {
      assertThat(read(noise)).isEqualTo(Segment.DAMAGED);
      for (int position = 0; position < BYTES_MAX; position += 37) {
        noise.set(JAVA_BYTE, position, (byte) random.nextInt());
      }
      MemorySegment.copy(copy, 0, noise, 0, round % LeafLayout.HEADER_BYTES);
    }
  }
}
