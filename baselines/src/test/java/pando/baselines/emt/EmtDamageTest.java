package pando.baselines.emt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import pando.baselines.emt.EmtTreeTest.Asker;
import pando.baselines.emt.EmtTreeTest.Pool;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.index.pool.Catalogue;
import pando.index.session.Operation;

/**
 * Trees with damaged words, and requests that no loader or session sends. Each request is answered,
 * and nothing outside of the tree is written.
 */
@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
class EmtDamageTest {
  private static final int NODE_BYTES = 128;
  private static final int NODES = 300;

  private final Arena arena = Arena.ofShared();
  private final EmtNode layout = new EmtNode(NODE_BYTES);
  private final Pool pool = new Pool(arena, NODE_BYTES, NODES);
  private final Asker asker = new Asker(pool, 1);
  private byte[] catalogue = {};

  @BeforeEach
  void remember() {
    catalogue = catalogue();
  }

  @AfterEach
  void close() {
    assertThat(catalogue()).isEqualTo(catalogue);
    arena.close();
  }

  private byte[] catalogue() {
    return pool.dram.asSlice(0, Fabric.CATALOGUE_BYTES).toArray(ValueLayout.JAVA_BYTE);
  }

  private long first() {
    return GlobalAddress.offset(pool.field(EmtHeader.FREE));
  }

  private long addressOf(long node) {
    return GlobalAddress.of(GlobalAddress.server(pool.tree), node);
  }

  /** Has the first free node lead back to itself. */
  private void closeRing() {
    EmtHeader.set(pool.dram, first(), EmtNode.LINK, addressOf(first()));
  }

  private long put(long key) {
    return asker.change(Operation.PUT, key, key);
  }

  @Test
  void shouldNotTakeAFreeNodeTwice() {
    closeRing();
    for (long key = 0; key < layout.capacity(); key++) {
      assertThat(put(key)).isEqualTo(EmtMessage.ABSENT);
    }
    assertThat(put(100)).isEqualTo(EmtMessage.NEEDS_NODES);
    assertThat(asker.get(EmtMessage.DETAIL)).isEqualTo(2);
    assertThat(asker.read(Operation.GET.code, 3)).isEqualTo(EmtMessage.FOUND);
  }

  @Test
  void shouldGiveTheNodesOfARingOnce() {
    closeRing();
    asker.take(NODES);
    assertThat(asker.get(EmtMessage.COUNT)).isEqualTo(1);
    asker.take(NODES);
    assertThat(asker.get(EmtMessage.COUNT)).isZero();
    assertThat(pool.field(EmtHeader.FREE_NODES)).isNotNegative();
    assertThat(put(1)).isEqualTo(EmtMessage.ABSENT);
  }

  @Test
  void shouldGiveAllNodesOnce() {
    asker.take(NODES);
    assertThat(asker.get(EmtMessage.COUNT)).isEqualTo(NODES);
    long[] nodes = new long[NODES];
    for (int i = 0; i < NODES; i++) {
      nodes[i] = GlobalAddress.offset(asker.get(EmtMessage.LIST + i * Long.BYTES));
    }
    assertThat(LongStream.of(nodes).distinct().count()).isEqualTo(NODES);
    asker.give(nodes);
    assertThat(pool.field(EmtHeader.FREE_NODES)).isEqualTo(NODES);
  }

  @Test
  void shouldStoreWhereTooFewFreeNodesAreCounted() {
    pool.setField(EmtHeader.FREE_NODES, -5);
    assertThat(put(1)).isEqualTo(EmtMessage.ABSENT);
    asker.take(1);
    assertThat(asker.get(EmtMessage.COUNT)).isZero();
  }

  @Test
  void shouldRefuseANodeThatIsFreeAlready() {
    assertThatThrownBy(() -> asker.give(first()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("free already");
    asker.take(2);
    long one = GlobalAddress.offset(asker.get(EmtMessage.LIST));
    long other = GlobalAddress.offset(asker.get(EmtMessage.LIST + Long.BYTES));
    assertThatThrownBy(() -> asker.give(one, other, one))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("free already");
    assertThat(pool.field(EmtHeader.FREE_NODES)).isEqualTo(NODES - 2);
    asker.give(one, other);
    assertThat(pool.field(EmtHeader.FREE_NODES)).isEqualTo(NODES);
  }

  @Test
  void shouldEndASearchWhoseFencesAreDamaged() {
    asker.take(2);
    long inner = GlobalAddress.offset(asker.get(EmtMessage.LIST));
    long leaf = GlobalAddress.offset(asker.get(EmtMessage.LIST + Long.BYTES));
    MemorySegment dram = pool.dram;
    EmtNode.format(dram, inner, addressOf(inner), 1, 5, Long.MAX_VALUE);
    layout.insert(dram, inner, 0, 5, pool.field(EmtHeader.ROOT));
    layout.insert(dram, inner, 1, Long.MIN_VALUE, addressOf(leaf));
    EmtNode.format(dram, leaf, addressOf(leaf), 0, Long.MIN_VALUE, Long.MAX_VALUE);
    pool.setField(EmtHeader.LOW, 5);
    pool.setField(EmtHeader.ROOT, addressOf(inner) | 1);
    assertThat(asker.read(EmtMessage.FLOOR, 100)).isEqualTo(EmtMessage.CORRUPT);
    assertThat(asker.scan(true, 100, Long.MIN_VALUE, 10)).isEqualTo(EmtMessage.CORRUPT);
  }

  @Test
  void shouldRefuseEntriesToLoadThatDoNotAscend() {
    assertThat(asker.load(2, 10, 20, 30)).isEqualTo(EmtMessage.DONE);
    assertThatThrownBy(() -> asker.load(2, 30))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("key=30");
    assertThatThrownBy(() -> asker.load(2, 50, 40))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("key=40");
    long[] down = LongStream.range(0, 100).map(i -> -i).toArray();
    assertThatThrownBy(() -> asker.load(2, down)).isInstanceOf(IllegalArgumentException.class);
    assertThat(asker.load(2, 60, 70)).isEqualTo(EmtMessage.DONE);
    assertThat(asker.read(Operation.GET.code, 20)).isEqualTo(EmtMessage.FOUND);
  }

  /** Nodes with one child that leads on, all of them full. */
  @Test
  void shouldNotGrowAboveTheGreatestLevel() {
    asker.take(Catalogue.LEVELS_MAX);
    long[] path = new long[Catalogue.LEVELS_MAX];
    for (int level = 0; level < path.length; level++) {
      path[level] = GlobalAddress.offset(asker.get(EmtMessage.LIST + level * Long.BYTES));
    }
    long high = Long.MAX_VALUE;
    for (int level = path.length - 1; level >= 0; level--) {
      EmtNode.format(pool.dram, path[level], addressOf(path[level]), level, Long.MIN_VALUE, high);
      long child = level == 0 ? 0 : addressOf(path[level - 1]);
      layout.insert(pool.dram, path[level], 0, Long.MIN_VALUE, child);
      for (int rank = 1; rank < layout.capacity(); rank++) {
        layout.insert(pool.dram, path[level], rank, high - layout.capacity() + rank, child);
      }
      high -= layout.capacity();
    }
    pool.setField(EmtHeader.ROOT, addressOf(path[path.length - 1]) | path.length - 1);
    assertThat(put(10)).isEqualTo(EmtMessage.CORRUPT);
    assertThat(asker.get(EmtMessage.DETAIL)).isEqualTo(addressOf(path[path.length - 1]));
  }

  @Test
  void shouldRefuseUnknownOperations() {
    for (long operation : new long[] {-1, 24, 1L << 32 | EmtMessage.FLOOR}) {
      assertThatThrownBy(() -> asker.read(operation, 1))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
