package pando.index.bytes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import pando.index.Seeds;
import pando.index.bytes.Block.DamagedException;

class BlocksTest {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private static Block changed(Block block, BlockDelta delta) {
    BlockMerge merge = new BlockMerge(block, delta);
    Block patched = merge.patched();
    return patched != null ? patched : merge.merged();
  }

  private static Block with(Block block, byte[] key, byte[] value) {
    MemorySegment its = MemorySegment.ofArray(key);
    return changed(
        block,
        BlockDelta.NONE.with(-1, its, ByteKeyHash.of(its), MemorySegment.ofArray(value), false, 0));
  }

  private static void assertHas(Block block, NavigableMap<byte[], byte[]> model)
      throws DamagedException {
    Block.checked(block.bytes());
    assertThat(block.count()).isEqualTo(model.size());
    assertEachHasItsSegment(block);
    int i = 0;
    for (Map.Entry<byte[], byte[]> entry : model.entrySet()) {
      assertThat(ByteKeys.bytes(block.key(i))).isEqualTo(entry.getKey());
      assertThat(block.keyBytes(i)).isEqualTo(entry.getKey().length);
      assertThat(ByteKeys.bytes(block.stored(i))).isEqualTo(entry.getValue());
      assertThat(block.find(MemorySegment.ofArray(entry.getKey()))).isEqualTo(i++);
    }
  }

  /**
   * A record is in the segment that the outline names, a key between two in that of one of them.
   */
  private static void assertEachHasItsSegment(Block block) throws DamagedException {
    block.withVersion(7);
    byte[] outline = Outline.of(block);
    assertThat(Outline.low(outline).mismatch(block.low())).isEqualTo(-1);
    assertThat(Outline.compareLow(outline, block.low())).isZero();
    Outline.Search search = new Outline.Search();
    for (int i = 0; i < block.count(); i++) {
      MemorySegment key = block.key(i);
      assertThat(search.find(outline, key)).isTrue();
      assertThat(block.record(i)).isBetween(search.begin, search.end - 1);
      assertThat(BlockSegment.isOf(block.bytes(), search.begin, search.end, 7)).isTrue();
      assertThat(
              BlockSegment.find(block.bytes(), search.begin, search.end, key, search.prefixBytes))
          .isEqualTo(block.record(i));
      byte[] behind = Arrays.copyOf(ByteKeys.bytes(key), (int) key.byteSize() + 1);
      MemorySegment next = MemorySegment.ofArray(behind);
      if (block.covers(next) && block.find(next) < 0) {
        assertThat(search.find(outline, next)).isTrue();
        assertThat(
                BlockSegment.find(
                    block.bytes(), search.begin, search.end, next, search.prefixBytes))
            .isEqualTo(-1);
      }
    }
  }

  @Test
  void shouldBeLikeAMapAndCutAndJoined() throws DamagedException {
    SplittableRandom random = new SplittableRandom(Seeds.of(2301));
    for (int round = 0; round < 200; round++) {
      NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
      Block block = Blocks.empty(NOTHING, null);
      int size = 2 + random.nextInt(60);
      while (model.size() < size || random.nextInt(3) > 0) {
        byte[] key = ByteKeys.draw(random, 12);
        byte[] value = ByteKeys.value(random, 20);
        if (random.nextInt(4) > 0) {
          block = with(block, key, value);
          model.put(key, value);
        } else if (model.remove(key) != null) {
          MemorySegment its = MemorySegment.ofArray(key);
          block = changed(block, BlockDelta.NONE.without(-1, its, ByteKeyHash.of(its), 0));
        }
      }
      assertHas(block, model);
      int cut = Blocks.cut(block);
      MemorySegment separator = Blocks.separator(block, cut);
      long usedMax = random.nextBoolean() ? 0 : Long.MAX_VALUE;
      Block left = Blocks.left(block, cut, separator, usedMax);
      Block right = Blocks.right(block, cut, separator, usedMax);
      byte[] border = ByteKeys.bytes(separator);
      assertHas(left, model.headMap(border, false));
      assertHas(right, model.tailMap(border, true));
      int middle = 1 + random.nextInt(right.count());
      if (middle < right.count()) {
        MemorySegment second = Blocks.separator(right, middle);
        Block third = Blocks.right(right, middle, second, usedMax);
        Block between = Blocks.left(right, middle, second, usedMax);
        assertHas(between, model.subMap(border, true, ByteKeys.bytes(second), false));
        right = Blocks.joined(between, third);
      }
      Block joined = Blocks.joined(left, right);
      assertHas(joined, model);
      assertThat(joined.usedBytes()).isLessThanOrEqualTo(Blocks.joinedBytes(left, right));
    }
  }

  /** Names of files that differ late, in directories that differ early. */
  @Test
  void shouldEndSegmentsWhereSeparatorsAreShort() throws DamagedException {
    Block block = Blocks.empty(NOTHING, null);
    for (int i = 0; i < 120; i++) {
      String path = "%c/dir/f-%03d".formatted('a' + i / 7, i);
      block = with(block, path.getBytes(UTF_8), new byte[8]);
    }
    int cut = block.count() - 1;
    MemorySegment separator = Blocks.separator(block, cut);
    Block full = Blocks.left(block, cut, separator, 0);
    Block part = Blocks.left(block, cut, separator, Long.MAX_VALUE);
    assertEachHasItsSegment(part);
    assertThat(part.count()).isEqualTo(full.count());
    assertThat(Outline.of(part)).hasSizeLessThan(Outline.of(full).length / 2);
    assertThat(part.bytes().byteSize()).isLessThan(full.bytes().byteSize() * 11 / 10);
    assertThat(Blocks.left(block, cut, separator, full.usedBytes()).segments())
        .isEqualTo(full.segments());
  }

  @Test
  void shouldCutNearTheMiddleAndBriefly() {
    Block block = Blocks.empty(NOTHING, null);
    for (int i = 0; i < 64; i++) {
      block = with(block, "user/%04d/profile".formatted(i).getBytes(UTF_8), new byte[10]);
    }
    int cut = Blocks.cut(block);
    assertThat(cut).isBetween(25, 39);
    assertThat(new String(ByteKeys.bytes(Blocks.separator(block, cut)), UTF_8))
        .isEqualTo("user/003");
  }

  @Test
  void shouldStoreThePrefixOfItsRangeOnce() {
    Block plain = Blocks.empty(NOTHING, null);
    Block within =
        Blocks.empty(
            MemorySegment.ofArray("user/0012/".getBytes(UTF_8)),
            MemorySegment.ofArray("user/0013".getBytes(UTF_8)));
    for (int i = 0; i < 20; i++) {
      byte[] key = "user/0012/%02d".formatted(i).getBytes(UTF_8);
      plain = with(plain, key, new byte[0]);
      within = with(within, key, new byte[0]);
    }
    int saved = 0;
    for (int i = 0; i < 20; i++) {
      saved += plain.recordBytes(i) - within.recordBytes(i);
    }
    assertThat(saved).isEqualTo(20 * "user/001".length());
  }

  @Test
  void shouldReadABlockAsAWholeWhoseOutlineWouldBeLong() throws DamagedException {
    SplittableRandom random = new SplittableRandom(Seeds.of(2304));
    Block large = with(Blocks.empty(NOTHING, null), new byte[] {1}, new byte[3_000]);
    Block deep = Blocks.empty(NOTHING, null);
    Block level = Blocks.empty(NOTHING, null);
    for (int i = 0; i < 40; i++) {
      // each key shares with the one before what no other has
      byte[] key = new byte[400];
      new SplittableRandom(i / 2).nextBytes(key);
      key[399] = (byte) i;
      deep = with(deep, key, new byte[0]);
      byte[] other = new byte[100];
      random.nextBytes(other);
      level = with(level, other, new byte[0]);
    }
    Outline.Search search = new Outline.Search();
    assertThat(search.find(Outline.of(large), MemorySegment.ofArray(new byte[] {1}))).isFalse();
    assertThat(search.find(Outline.of(deep), deep.key(3))).isFalse();
    assertThat(search.find(Outline.of(level), level.key(3))).isTrue();
    assertThat(level.segments()).isGreaterThan(10);
    assertEachHasItsSegment(level);
  }

  /** Each bit of a segment that is READ is under its sum. */
  @Test
  void shouldDetectEachBitOfASegmentThatIsDamaged() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2305));
    Block block = Blocks.empty(NOTHING, null);
    for (int i = 0; i < 60; i++) {
      block = with(block, ByteKeys.draw(random, 20), ByteKeys.value(random, 20));
    }
    block.withVersion(11);
    int end = block.end(1);
    int begin = block.end(0);
    byte[] bytes = ByteKeys.bytes(block.bytes());
    MemorySegment segment = MemorySegment.ofArray(bytes);
    for (int bit = begin * Byte.SIZE; bit < end * Byte.SIZE; bit++) {
      bytes[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      assertThat(BlockSegment.isOf(segment, begin, end, 11)).as("bit %s", bit).isFalse();
      bytes[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
    }
    assertThat(BlockSegment.isOf(segment, begin, end, 11)).isTrue();
    assertThat(BlockSegment.isOf(segment, begin, end, 12)).isFalse();
    assertThat(BlockSegment.isOf(segment, begin, end - 8, 11)).isFalse();
    assertThat(BlockSegment.isOf(segment, 0, begin, 11)).isTrue();
  }

  /** A search in any bytes ends within them. */
  @Test
  void shouldSearchInRandomSegments() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2306));
    int refused = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[8 * (1 + random.nextInt(30))];
      random.nextBytes(bytes);
      MemorySegment segment = MemorySegment.ofArray(bytes);
      BlockSegment.setCount(segment, 0, random.nextInt(10));
      for (int at = BlockSegment.HEADER_BYTES;
          at + 4 < bytes.length;
          at += 4 + random.nextInt(30)) {
        segment.set(Block.SHORT, at, (short) random.nextInt(20));
        segment.set(Block.SHORT, at + 2L, (short) random.nextInt(-1, 20));
      }
      try {
        MemorySegment key = MemorySegment.ofArray(new byte[random.nextInt(20)]);
        long record = BlockSegment.find(segment, 0, bytes.length, key, 0);
        if (record >= 0) {
          assertThat(
                  BlockSegment.stored(segment, record) + BlockSegment.storedBytes(segment, record))
              .isLessThanOrEqualTo(bytes.length);
        }
      } catch (DamagedException _) {
        refused++;
      }
    }
    assertThat(refused).isGreaterThan(1_000);
  }

  /** What is damaged is found, or is a block that does what it says: nothing else happens. */
  @Test
  void shouldBearEachBitThatIsDamaged() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2302));
    Block block = Blocks.empty(NOTHING, MemorySegment.ofArray(new byte[] {'b'}));
    for (int i = 0; i < 30; i++) {
      byte[] key = ByteKeys.draw(random, 10);
      if (key.length > 0) {
        key[0] = 'a';
      }
      block = with(block, key, ByteKeys.value(random, 10));
    }
    int found = 0;
    long bits = block.bytes().byteSize() * Byte.SIZE;
    for (int bit = 0; bit < bits; bit++) {
      byte[] damaged = ByteKeys.bytes(block.bytes());
      damaged[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      try {
        Block read = Block.checked(MemorySegment.ofArray(damaged));
        for (int i = 0; i < read.count(); i++) {
          assertThat(read.find(read.key(i))).isEqualTo(i);
          assertThat(read.stored(i).byteSize()).isLessThan(damaged.length);
        }
      } catch (DamagedException _) {
        found++;
      }
    }
    System.out.println(found + " of " + bits + " damaged bits found");
    assertThat(found).isGreaterThan((int) (bits / 4));
  }

  @Test
  void shouldRefuseRandomBytes() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2303));
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[8 * random.nextInt(13)];
      random.nextBytes(bytes);
      MemorySegment segment = MemorySegment.ofArray(bytes);
      int trailer = bytes.length - Block.TRAILER_BYTES;
      if (trailer >= 0 && random.nextBoolean()) {
        segment.set(Block.INT, trailer, Block.MAGIC);
        for (int at = 4; at < 24; at += 4) {
          segment.set(Block.INT, trailer + at, random.nextInt(-2, 6));
        }
        for (int at = 0; at + 2 <= trailer; at += 2) {
          segment.set(Block.SHORT, at, (short) random.nextInt(-1, 6));
        }
      }
      try {
        Block block = Block.checked(segment);
        assertThat(block.count()).isLessThan(25);
      } catch (DamagedException e) {
        assertThat(e).hasMessageContaining(":").isNotNull();
      }
    }
  }
}
