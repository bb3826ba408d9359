package pando.index.bytes;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
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
  private record Stored(int length, ByteBuffer bytes) {
    boolean isRemoved() {
      return length == 0xfffe;
    }
  }

  /** Some changes, and what they have to say. */
  private record Kept(BlockDelta delta, Map<ByteBuffer, Stored> model, int growth) {
    void check() {
      assertThat(delta.count()).isEqualTo(model.size());
      assertThat(delta.growth()).isEqualTo(growth);
      assertThat(delta.removedBytes()).isEqualTo(removedBytes());
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
        assertThat(BlockDelta.isRemoved(in, record)).isEqualTo(entry.getValue().isRemoved());
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

    private int removedBytes() {
      int bytes = 0;
      for (Map.Entry<ByteBuffer, Stored> entry : model.entrySet()) {
        Stored stored = entry.getValue();
        if (stored.isRemoved()) {
          bytes += entry.getKey().capacity() + (stored.bytes.getChar(0) + 16);
        }
      }
      return bytes;
    }

    /** Returns how many bytes more a block takes, with the part of a header where records move. */
    int growth(Map<ByteBuffer, Integer> block) {
      int bytes = 0;
      for (Map.Entry<ByteBuffer, Stored> entry : model.entrySet()) {
        int keyBytes = entry.getKey().capacity();
        int before = block.getOrDefault(entry.getKey(), -keyBytes);
        if (entry.getValue().isRemoved()) {
          bytes += Math.min(16 - keyBytes - before, 0);
        } else if (entry.getValue().bytes.capacity() != before) {
          bytes += entry.getValue().bytes.capacity() - before + 16;
        }
      }
      return bytes;
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

  /**
   * Changes a key.
   *
   * @param block lengths of what the block stores
   */
  private Kept changed(Kept before, byte[] key, int valueBytes, Map<ByteBuffer, Integer> block) {
    MemorySegment its = MemorySegment.ofArray(key);
    long hash = ByteKeyHash.of(its);
    int change = before.delta.find(its, hash);
    Map<ByteBuffer, Stored> model = new LinkedHashMap<>(before.model);
    Stored waiting = model.remove(ByteBuffer.wrap(key));
    assertThat(change >= 0).isEqualTo(waiting != null);
    int length = block.getOrDefault(ByteBuffer.wrap(key), BlockDelta.ABSENT);
    if (waiting != null) {
      length = waiting.isRemoved() ? BlockDelta.ABSENT : waiting.bytes.capacity();
    }
    int drawn = random.nextInt(4);
    BlockDelta next;
    if (drawn == 0 && length != BlockDelta.ABSENT) {
      ByteBuffer removed = ByteBuffer.allocate(2).order(LITTLE_ENDIAN).putChar(0, (char) length);
      model.put(ByteBuffer.wrap(key), new Stored(0xfffe, removed));
      next = before.delta.without(change, its, hash, length);
    } else {
      byte[] value = drawn == 1 ? new byte[8] : drawn(valueBytes);
      random.nextBytes(value);
      int itsLength = drawn == 1 ? BlockSegment.BLOB : value.length;
      model.put(ByteBuffer.wrap(key), new Stored(itsLength, ByteBuffer.wrap(value)));
      MemorySegment stored = MemorySegment.ofArray(value);
      next = before.delta.with(change, its, hash, stored, drawn == 1, length);
    }
    Kept changed = new Kept(next, model, next.growth());
    assertThat(next.growth()).isGreaterThanOrEqualTo(changed.growth(block));
    return changed;
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
      Map<ByteBuffer, Integer> block = new HashMap<>();
      for (byte[] key : keys) {
        if (random.nextBoolean()) {
          block.put(ByteBuffer.wrap(key), random.nextInt(valueBytes + 1));
        }
      }
      Kept last = new Kept(BlockDelta.NONE, Map.of(), 0);
      List<Kept> all = new ArrayList<>(List.of(last));
      for (int i = 0; i < 200; i++) {
        Kept next = changed(last, keys.get(random.nextInt(keys.size())), valueBytes, block);
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
          delta.with(
              -1,
              key,
              ByteKeyHash.of(key),
              MemorySegment.ofArray(new byte[58]),
              false,
              BlockDelta.ABSENT);
    }
    byte[] longest = new byte[ByteIndex.KEY_BYTES_MAX];
    random.nextBytes(longest);
    MemorySegment key = MemorySegment.ofArray(longest);
    BlockDelta next =
        delta.with(
            -1,
            key,
            ByteKeyHash.of(key),
            MemorySegment.ofArray(new byte[SIZE_MAX]),
            false,
            BlockDelta.ABSENT);
    assertThat(next.find(key, ByteKeyHash.of(key))).isEqualTo(delta.count());
    assertThat(next.count()).isEqualTo(new SortedChanges(next, 0).count());
  }
}
