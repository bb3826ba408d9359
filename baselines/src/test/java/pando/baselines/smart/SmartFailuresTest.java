package pando.baselines.smart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.StalledException;
import pando.index.CorruptNodeException;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.Session;

/** Leaves that stay locked, and damaged nodes. */
@Timeout(300)
class SmartFailuresTest {
  private static final long KEY = 1 << 20;

  private final SmartOptions options =
      SmartOptions.smart().withComputeServers(1).with("lock-wait-millis", "20");

  private static NavigableMap<Long, Long> entries() {
    NavigableMap<Long, Long> model = new TreeMap<>();
    for (long i = 0; i < 100; i++) {
      model.put(i << 20, i);
    }
    return model;
  }

  @Test
  void shouldSayWhoHasLockedALeaf() {
    try (Fabric fabric = Pools.open(1, 8 << 20, 971);
        SmartIndex index = SmartIndex.create(fabric, options);
        Session session = index.session();
        SmartPokes pokes = new SmartPokes(fabric, options)) {
      index.bulkLoad(Entries.of(entries()), 1);
      int owner = LeafLayout.owner(5, 77);
      lock(pokes, owner);
      assertThat(session.get(KEY)).isTrue();
      assertThat(session.put(KEY, 1)).as("the same value").isTrue();
      assertThatThrownBy(() -> session.put(KEY, 2))
          .isInstanceOf(StalledException.class)
          .hasMessageContaining("key=" + KEY)
          .hasMessageContaining("computeServer=5, session=77");
      assertThat(session.put(KEY + 1, 2)).isFalse();
      lock(pokes, 0);
      assertThat(session.put(KEY, 2)).isTrue();
    }
  }

  private static void lock(SmartPokes pokes, int owner) {
    long leaf = pokes.path(KEY)[0];
    byte[] bytes = pokes.peek(leaf);
    ByteBuffer words = words(bytes);
    long state = words.getLong(LeafLayout.STATE);
    words.putLong(LeafLayout.STATE, LeafLayout.with(state, owner, LeafLayout.LIVE));
    pokes.poke(leaf, bytes, false);
  }

  private static ByteBuffer words(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Of a leaf, and of nodes on the way to it. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void shouldRefuseWhatIsNoNode(int level) {
    try (Fabric fabric = Pools.open(1, 8 << 20, 972);
        SmartIndex index = SmartIndex.create(fabric, options);
        Session session = index.session();
        SmartPokes pokes = new SmartPokes(fabric, options)) {
      index.bulkLoad(Entries.of(entries()), 1);
      long[] path = pokes.path(KEY);
      byte[] sound = pokes.peek(path[level]);
      byte[] damaged = sound.clone();
      words(damaged).putLong(level == 0 ? LeafLayout.CHECK : NodeLayout.HEADER, -1);
      pokes.poke(path[level], damaged, false);
      assertThatThrownBy(() -> session.get(KEY)).isInstanceOf(CorruptNodeException.class);
      assertThatThrownBy(() -> session.put(KEY, 3)).isInstanceOf(CorruptNodeException.class);
      assertThat(options.walk(fabric).problems()).isNotEmpty();
      pokes.poke(path[level], sound, false);
      assertThat(session.put(KEY, 3)).isTrue();
      assertThat(session.get(KEY)).isTrue();
    }
  }

  /** A slot of the node above a leaf leads to that node itself. */
  @Test
  void shouldNotGoRoundInNodes() {
    try (Fabric fabric = Pools.open(1, 8 << 20, 973);
        SmartIndex index = SmartIndex.create(fabric, options);
        Session session = index.session();
        SmartPokes pokes = new SmartPokes(fabric, options)) {
      index.bulkLoad(Entries.of(entries()), 1);
      long node = pokes.path(KEY)[1];
      byte[] damaged = pokes.peek(node);
      int slot = pokes.slotAt(0);
      int first = Slot.byteOf(words(damaged).getLong(slot));
      words(damaged).putLong(slot, Slot.node(first, 0, node));
      pokes.poke(node, damaged, false);
      assertThatThrownBy(session::sizeEstimate).isInstanceOf(CorruptNodeException.class);
    }
  }
}
