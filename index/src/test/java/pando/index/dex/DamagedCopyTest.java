package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.index.CorruptNodeException;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.dex.node.NodeLayout;

/**
 * A shared node is damaged in the pool while compute servers have copies of it: what can be done
 * with the copies is done, all else ends with an exception that names the node.
 */
@Tag("campaign")
@Timeout(300)
class DamagedCopyTest {
  private static final int ENTRIES = 300;
  private static final int PUTS = 1_000;
  private static final int HURT_MAX = 5;

  @ParameterizedTest(name = "level={0} damage={1} merge-share={2}")
  @CsvSource({
    "1, byte,  0.7",
    "1, zeros, 0",
    "1, other, 0.7",
    "2, byte,  0.7",
    "2, zeros, 0",
    "2, other, 0.7",
    "3, byte,  0.7",
    "3, zeros, 0",
    "3, other, 0.7",
  })
  void shouldNameADamagedNodeThatIsCached(int level, String damage, String mergeShare) {
    SplittableRandom random = new SplittableRandom(Seeds.of(701 + level));
    DexOptions options =
        Tiny.options(2).with("cache-bytes", "1MiB").with("merge-share", mergeShare);
    NavigableMap<Long, Long> model = Entries.random(random, ENTRIES);
    try (Fabric fabric = Pools.open(2, 8 << 20, 701);
        DexIndex index = DexIndex.create(fabric, options);
        Session session = index.session();
        DexPokes pokes = new DexPokes(fabric, options)) {
      index.bulkLoad(Entries.of(model), 0.7);
      model.forEach((key, value) -> assertThat(session.get(key)).isTrue());
      long border = index.partitioning().lowOfServer(1);
      long[] path = pokes.path(border);
      long address = path[level];
      assertThat(path).hasSizeGreaterThan(3);
      long low = pokes.low(address);
      long high = pokes.high(address);
      assertThat(border).as("the node is shared").isBetween(low + 1, high);
      pokes.poke(address, damaged(pokes, address, damage), false);

      int hurt = 0;
      for (int i = 0; i < PUTS && hurt < HURT_MAX; i++) {
        long key = i % 2 == 0 ? random.nextLong() : random.nextLong(low, high);
        try {
          session.put(key, i);
          model.put(key, (long) i);
        } catch (CorruptNodeException e) {
          assertThat(GlobalAddress.toString(e.address()))
              .as("key %d, put %d: %s", key, i, e)
              .isEqualTo(GlobalAddress.toString(address));
          assertThat(key).isBetween(low, high);
          hurt++;
        }
      }
      assertThat(hurt).isEqualTo(HURT_MAX);
      for (Map.Entry<Long, Long> entry : model.entrySet()) {
        assertThat(session.get(entry.getKey())).isTrue();
        assertThat(session.value()).isEqualTo(entry.getValue());
        assertThat(session.update(entry.getKey(), 1)).isTrue();
      }
      for (long key : model.keySet()) {
        assertThat(session.remove(key)).isTrue();
        assertThat(session.get(key)).isFalse();
      }
    }
  }

  /** A private node has a child twice: the keys that are the child's stay as they were. */
  @Test
  void shouldNotDetachAChildToWhichAWrongPointerLeads() {
    DexOptions options = Tiny.options(1).with("cache-bytes", "1MiB").with("admission", "1");
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(Seeds.of(705)), ENTRIES);
    try (Fabric fabric = Pools.open(1, 8 << 20, 705);
        DexIndex index = DexIndex.create(fabric, options);
        Session session = index.session();
        DexPokes pokes = new DexPokes(fabric, options)) {
      index.bulkLoad(Entries.of(model), 0.7);
      long[] path = pokes.path(0);
      assertThat(path).as("the leaf's parent is private").hasSizeGreaterThan(2);
      long low = pokes.low(path[1]);
      byte[] parent = pokes.peek(path[1]);
      System.arraycopy(parent, pokes.slotAt(0), parent, pokes.slotAt(1), Long.BYTES);
      pokes.poke(path[1], parent, true);
      long other = pokes.high(pokes.path(low)[0]) + 1;

      for (int round = 0; round < 4; round++) {
        assertThat(session.get(low)).as("round %d", round).isTrue();
        assertThat(session.value()).isEqualTo(model.get(low));
        for (int i = 0; i < 2; i++) {
          assertThatExceptionOfType(CorruptNodeException.class)
              .isThrownBy(() -> session.get(other))
              .withMessageContaining("is no child of the one that points to it");
        }
      }
      assertThat(session.remove(low)).isTrue();
      assertThat(session.get(low)).isFalse();
    }
  }

  /**
   * Two private nodes point to one leaf, which stays with the one whose keys it has. A leaf that
   * was taken away would be in use although nothing pinned its right parent, which could then be
   * evicted, and be changed by a memory server together with the leaf.
   */
  @Test
  void shouldNotTakeAChildFromItsParent() {
    DexOptions options = Tiny.options(1).with("cache-bytes", "1MiB").with("admission", "1");
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(Seeds.of(706)), ENTRIES);
    try (Fabric fabric = Pools.open(1, 8 << 20, 706);
        DexIndex index = DexIndex.create(fabric, options);
        Session session = index.session();
        DexPokes pokes = new DexPokes(fabric, options)) {
      index.bulkLoad(Entries.of(model), 0.7);
      long[] path = pokes.path(0);
      assertThat(path).as("the leaf's parent is private").hasSizeGreaterThan(2);
      long mine = pokes.low(path[0]);
      long wrong = pokes.path(pokes.high(path[1]) + 1)[1];
      byte[] parent = pokes.peek(wrong);
      ByteBuffer.wrap(parent).order(ByteOrder.LITTLE_ENDIAN).putLong(pokes.slotAt(1), path[0]);
      pokes.poke(wrong, parent, true);
      long other = pokes.high(pokes.path(pokes.low(wrong))[0]) + 1;

      for (int round = 0; round < 4; round++) {
        session.get(mine);
        assertThatExceptionOfType(CorruptNodeException.class)
            .isThrownBy(() -> session.get(other))
            .withMessageContaining("is no child of the one that points to it");
      }
      assertThat(session.get(model.ceilingKey(mine))).isTrue();
    }
  }

  private static byte[] damaged(DexPokes pokes, long address, String damage) {
    byte[] node = pokes.peek(address);
    switch (damage) {
      case "byte" -> node[NodeLayout.HEADER_BYTES + 3] ^= 1;
      case "zeros" -> Arrays.fill(node, (byte) 0);
      default -> {
        byte[] leaf = pokes.peek(pokes.path(Long.MAX_VALUE)[0]);
        System.arraycopy(leaf, 0, node, 0, node.length);
      }
    }
    return node;
  }
}
