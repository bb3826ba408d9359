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

  private static Block with(Block block, byte[] key, byte[] value) {
    MemorySegment its = MemorySegment.ofArray(key);
    return Blocks.with(block, block.find(its), its, MemorySegment.ofArray(value), false);
  }

  private static void assertHas(Block block, NavigableMap<byte[], byte[]> model)
      throws DamagedException {
    Block.checked(block.bytes());
    assertThat(block.count()).isEqualTo(model.size());
    int i = 0;
    for (Map.Entry<byte[], byte[]> entry : model.entrySet()) {
      assertThat(ByteKeys.bytes(block.key(i))).isEqualTo(entry.getKey());
      assertThat(block.keyBytes(i)).isEqualTo(entry.getKey().length);
      assertThat(ByteKeys.bytes(block.stored(i))).isEqualTo(entry.getValue());
      assertThat(block.find(MemorySegment.ofArray(entry.getKey()))).isEqualTo(i++);
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
          block = Blocks.without(block, block.find(MemorySegment.ofArray(key)));
        }
      }
      assertHas(block, model);
      int cut = Blocks.cut(block);
      MemorySegment separator = Blocks.separator(block, cut);
      Block left = Blocks.left(block, cut, separator);
      Block right = Blocks.right(block, cut, separator);
      byte[] border = ByteKeys.bytes(separator);
      assertHas(left, model.headMap(border, false));
      assertHas(right, model.tailMap(border, true));
      assertThat(left.garbage() + right.garbage()).isZero();
      int middle = 1 + random.nextInt(right.count());
      if (middle < right.count()) {
        MemorySegment second = Blocks.separator(right, middle);
        Block third = Blocks.right(right, middle, second);
        Block between = Blocks.left(right, middle, second);
        assertHas(between, model.subMap(border, true, ByteKeys.bytes(second), false));
        right = Blocks.joined(between, third);
      }
      Block joined = Blocks.joined(left, right);
      assertHas(joined, model);
      assertThat(joined.usedBytes()).isLessThanOrEqualTo(Blocks.joinedBytes(left, right));
    }
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
    int fences = "user/0012/".length() + "user/0013".length();
    assertThat(plain.bytes().byteSize() + fences - within.bytes().byteSize())
        .isEqualTo(20L * "user/001".length());
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
      } catch (DamagedException e) {
        found++;
      }
    }
    System.out.println(found + " of " + bits + " damaged bits found");
    assertThat(found).isGreaterThan((int) (bits / 3));
  }

  @Test
  void shouldRefuseRandomBytes() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2303));
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[random.nextInt(100)];
      random.nextBytes(bytes);
      MemorySegment segment = MemorySegment.ofArray(bytes);
      if (bytes.length >= 4 && random.nextBoolean()) {
        segment.set(Block.INT, 0, Block.MAGIC);
        for (int at = 4; at + 4 <= Math.min(bytes.length, 24); at += 4) {
          segment.set(Block.INT, at, random.nextInt(-2, 20));
        }
      }
      try {
        Block block = Block.checked(segment);
        assertThat(block.count()).isLessThan(13);
      } catch (DamagedException e) {
        assertThat(e).hasMessageContaining(":").isNotNull();
      }
    }
  }
}
