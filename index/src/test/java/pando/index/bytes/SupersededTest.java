package pando.index.bytes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import pando.fabric.Fabric;
import pando.fabric.VerbList.Kind;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.orca.OrcaOptions;

/** Rounds that leave out the label of a block that was split, as others have it latched. */
class SupersededTest {
  private static final int KEYS = 400;
  private static final int VALUE_BYTES = 40;
  private static final int MIDDLE = 200;

  private final Fabric pool = Pools.open(1, 16 << 20, 1);
  private final NavigableMap<String, Integer> model = new TreeMap<>();
  private final HookedFabric fabric = new HookedFabric(pool).withTasksByHand();
  private final ByteIndex index = ByteIndex.create(fabric, options());
  private final BlockSession session = (BlockSession) index.session();
  private BlockEntry left = index.directory.last();
  private BlockEntry right = left;

  private static ByteOptions options() {
    return ByteOptions.defaults()
        .withBlockBytes(ByteOptions.BLOCK_BYTES_MIN, 16)
        .withCacheBytes(10_000)
        .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));
  }

  private static String key(int number) {
    return "key%04d".formatted(number);
  }

  private static MemorySegment segment(String text) {
    return MemorySegment.ofArray(text.getBytes(UTF_8));
  }

  private static MemorySegment value(int seed) {
    byte[] bytes = new byte[VALUE_BYTES];
    bytes[0] = (byte) seed;
    return MemorySegment.ofArray(bytes);
  }

  private void store(String key, int seed) {
    session.store(segment(key), value(seed));
    model.put(key, seed);
  }

  private void remove(String key) {
    session.discard(segment(key));
    model.remove(key);
  }

  private BlockEntry blockOf(String key) {
    return index.directory.find(segment(key));
  }

  /** Splits a block whose label is in the pool, and latches its left part. */
  @BeforeEach
  void split() {
    for (int i = 0; i < KEYS; i++) {
      store(key(i), 1);
    }
    index.flush();
    left = blockOf(key(MIDDLE));
    for (int i = 0; !index.superseded.isWaiting(left); i++) {
      store(key(MIDDLE) + i, 3);
    }
    String behind =
        model.keySet().stream()
            .filter(key -> blockOf(key) == left)
            .max(String::compareTo)
            .orElseThrow();
    right = blockOf(model.higherKey(behind));
    assertThat(left.tryLatch()).isTrue();
  }

  @AfterEach
  void close() {
    pool.close();
  }

  /** Makes rounds, and opens the index as after a crash. */
  private void crash() {
    session.changes.settleSuperseded();
    session.changes.settleSuperseded();
    assertThat(index.superseded.isWaiting(left)).isTrue();
    for (int i = 0; i < 20; i++) {
      store(key(i), 5);
    }
    index.labels.flush();
    NavigableMap<String, Integer> found = new TreeMap<>();
    try (ByteIndex opened = ByteIndex.open(pool, options());
        ByteSession other = opened.session()) {
      other.scan(
          ByteKeys.of(),
          null,
          Long.MAX_VALUE,
          (key, value) -> {
            found.put(new String(ByteKeys.bytes(key), UTF_8), (int) ByteKeys.bytes(value)[0]);
            return true;
          });
    }
    assertThat(found.keySet()).containsAll(model.headMap(key(MIDDLE - 20)).keySet());
    assertThat(found.keySet()).containsAll(model.tailMap(key(MIDDLE + 20)).keySet());
  }

  @Test
  void shouldKeepValuesOfABlockThatTheLabelLeadsTo() {
    for (String key : model.keySet()) {
      if (blockOf(key) == right) {
        store(key, 4);
      }
    }
    crash();
  }

  @Test
  void shouldKeepTheLabelOfABlockBehindTheRange() {
    String inRight =
        model.keySet().stream().filter(key -> blockOf(key) == right).findFirst().orElseThrow();
    String behind =
        model.tailMap(inRight).keySet().stream()
            .filter(key -> blockOf(key) != right)
            .findFirst()
            .orElseThrow();
    BlockEntry absorbed = blockOf(behind);
    String last =
        model.tailMap(behind).keySet().stream()
            .filter(key -> blockOf(key) != absorbed)
            .findFirst()
            .orElseThrow();
    BlockEntry next = blockOf(last);
    assertThat(absorbed.tryLatch()).isTrue();
    assertThat(next.tryLatch()).isTrue();
    for (String key : model.subMap(inRight, false, behind, false).keySet().toArray(String[]::new)) {
      remove(key);
    }
    absorbed.unlatch();
    for (String key : model.subMap(behind, last).keySet().toArray(String[]::new)) {
      if (!absorbed.state().isGone()) {
        remove(key);
      }
    }
    assertThat(absorbed.state().isGone()).isTrue();
    assertThat(blockOf(behind)).isSameAs(right);
    next.unlatch();
    crash();
  }

  private boolean mayHaveRoom(long since) {
    return index.superseded.makeRoom(
        since, session.changes.labels, session.reader.blobs, List.of());
  }

  /** A change that found no room during a round may find what that round has freed. */
  @Test
  void shouldLookForRoomThatARoundMadeWhichWasUnderWay() {
    left.unlatch();
    long[] since = {0};
    fabric.hookNext(
        verbs -> verbs.kind(0) == Kind.WRITE,
        write -> {
          since[0] = index.superseded.rounds();
          write.post();
        });
    while (!index.superseded.isEmpty()) {
      session.changes.settleSuperseded();
    }
    assertThat(since[0]).isPositive();
    assertThat(mayHaveRoom(since[0])).isTrue();
    assertThat(mayHaveRoom(index.superseded.rounds())).isFalse();
  }
}
