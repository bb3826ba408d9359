package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import pando.index.Seeds;

/** Random changes beside a map, of which some are given up, and all earlier objects are kept. */
class BlockDeltaModelTest {
  private static final int SIZE_MAX = ByteOptions.BLOCK_BYTES_MAX / 4;

  /** What is stored for a key: the length that its record has, and its bytes. */
  private record Stored(int length, ByteBuffer bytes) {}

  /** Some changes, and what they have to say. */
  private record Kept(
      BlockDelta delta, Map<ByteBuffer, Stored> model, int growth, int removedBytes) {
    void check() {
      assertThat(delta.count()).isEqualTo(model.size());
      assertThat(delta.growth()).isEqualTo(growth);
      assertThat(delta.removedBytes()).isEqualTo(removedBytes);
      int i = 0;
      int end = 0;
      for (Map.Entry<ByteBuffer, Stored> entry : model.entrySet()) {
        MemorySegment key = MemorySegment.ofBuffer(entry.getKey());
        MemorySegment in = delta.memory();
        int record = delta.record(i);
        assertThat(record).isEqualTo(end);
        assertThat(delta.find(key, ByteKeyHash.of(key))).isEqualTo(i);
        int length = entry.getValue().length;
        MemorySegment expected = MemorySegment.ofBuffer(entry.getValue().bytes);
        assertThat(BlockSegment.valueLength(in, record)).isEqualTo(length);
        long at = BlockSegment.stored(in, record);
        assertThat(in.asSlice(at, expected.byteSize()).mismatch(expected)).isEqualTo(-1);
        assertThat(BlockDelta.isRemoved(in, record)).isEqualTo(length == 0xfffe);
        if (length == BlockSegment.BLOB) {
          assertThat(delta.word(i)).isEqualTo(expected.get(Block.LONG, 0));
        }
        end = (int) (at + expected.byteSize());
        i++;
      }
      assertThat(delta.size()).isEqualTo(end);
      assertThat(delta.localBytes()).isGreaterThanOrEqualTo(i == 0 ? 0 : 48 + end + 4L * i);
      checkSorted();
    }

    private void checkSorted() {
      SortedChanges sorted = new SortedChanges(delta, 0);
      TreeSet<byte[]> expected = new TreeSet<>(Arrays::compareUnsigned);
      model.keySet().forEach(key -> expected.add(ByteKeys.bytes(MemorySegment.ofBuffer(key))));
      assertThat(sorted.count()).isEqualTo(expected.size());
      int i = 0;
      for (byte[] key : expected) {
        assertThat(ByteKeys.bytes(sorted.key(i++))).isEqualTo(key);
      }
    }
  }

  private final SplittableRandom random = new SplittableRandom(Seeds.of(2851));

  private byte[] drawn(int bytes) {
    byte[] drawn = new byte[random.nextInt(bytes + 1)];
    random.nextBytes(drawn);
    return drawn;
  }

  private Kept changed(Kept before, byte[] key, int valueBytes) {
    MemorySegment its = MemorySegment.ofArray(key);
    long hash = ByteKeyHash.of(its);
    int change = before.delta.find(its, hash);
    Map<ByteBuffer, Stored> model = new LinkedHashMap<>(before.model);
    assertThat(change >= 0).isEqualTo(model.remove(ByteBuffer.wrap(key)) != null);
    int bytes = random.nextInt(100);
    return switch (random.nextInt(4)) {
      case 0 -> {
        model.put(ByteBuffer.wrap(key), new Stored(0xfffe, ByteBuffer.allocate(0)));
        BlockDelta next = before.delta.without(change, its, hash, bytes);
        yield new Kept(next, model, before.growth, before.removedBytes + bytes);
      }
      case 1 -> {
        byte[] word = new byte[8];
        random.nextBytes(word);
        model.put(ByteBuffer.wrap(key), new Stored(BlockSegment.BLOB, ByteBuffer.wrap(word)));
        BlockDelta next =
            before.delta.with(change, its, hash, MemorySegment.ofArray(word), true, bytes);
        yield new Kept(next, model, before.growth + bytes, before.removedBytes);
      }
      default -> {
        byte[] value = drawn(valueBytes);
        model.put(ByteBuffer.wrap(key), new Stored(value.length, ByteBuffer.wrap(value)));
        BlockDelta next =
            before.delta.with(change, its, hash, MemorySegment.ofArray(value), false, bytes);
        yield new Kept(next, model, before.growth + bytes, before.removedBytes);
      }
    };
  }

  @Test
  void shouldBeLikeAMapWhateverComesLater() {
    for (int round = 0; round < Seeds.count(50, 2_000, 20_000); round++) {
      int keyBytes = 1 + random.nextInt(random.nextInt(20) == 0 ? 0xffff : 12);
      int valueBytes = random.nextInt(5) == 0 ? SIZE_MAX : random.nextInt(1, 100);
      List<byte[]> keys = new ArrayList<>();
      for (int i = 1 + random.nextInt(300); i > 0; i--) {
        keys.add(drawn(keyBytes));
      }
      Kept last = new Kept(BlockDelta.NONE, Map.of(), 0, 0);
      List<Kept> all = new ArrayList<>(List.of(last));
      for (int i = 0; i < 200; i++) {
        Kept next = changed(last, keys.get(random.nextInt(keys.size())), valueBytes);
        if (random.nextInt(50) == 0) {
          next.check();
        }
        boolean isFull = next.delta.size() > SIZE_MAX || next.delta.count() > 255;
        if (isFull || random.nextInt(6) == 0) {
          // It goes into a block, or is given up: nobody else sees it.
          next.check();
          last.check();
        } else {
          all.add(next);
          last = next;
        }
      }
      all.forEach(Kept::check);
    }
  }

  /** The last change of a full log begins where 16 bits can say, whatever its key and its value. */
  @Test
  void shouldTakeTheLongestKeyBehindAFullLog() {
    BlockDelta delta = BlockDelta.NONE;
    for (int i = 0; delta.size() + 4 + 2 + 58 <= SIZE_MAX && i < 255; i++) {
      MemorySegment key = MemorySegment.ofArray(new byte[] {(byte) i, 1});
      delta =
          delta.with(-1, key, ByteKeyHash.of(key), MemorySegment.ofArray(new byte[58]), false, 0);
    }
    byte[] longest = new byte[ByteIndex.KEY_BYTES_MAX];
    random.nextBytes(longest);
    MemorySegment key = MemorySegment.ofArray(longest);
    BlockDelta next =
        delta.with(
            -1, key, ByteKeyHash.of(key), MemorySegment.ofArray(new byte[SIZE_MAX]), false, 0);
    assertThat(next.find(key, ByteKeyHash.of(key))).isEqualTo(delta.count());
    assertThat(next.count()).isEqualTo(new SortedChanges(next, 0).count());
  }
}
