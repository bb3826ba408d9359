package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.Worker;
import pando.fabric.local.LocalPool;
import pando.fabric.server.PoolOptions;
import pando.index.Entries;
import pando.index.NotServedHereException;
import pando.index.Session;
import pando.index.Systems;

/** Ranges that go to compute servers of other fabrics, as if these were in other processes. */
@Timeout(100)
class DexElsewhereTest {
  private static final DexOptions OPTIONS = Tiny.options(1);

  private final NavigableMap<Long, Long> model =
      new TreeMap<>(Entries.random(new SplittableRandom(7), 3_000));
  private LocalPool pool;
  private Fabric first;
  private Fabric second;
  private DexIndex giver;

  @BeforeEach
  void start() {
    pool =
        LocalPool.start(
            PoolOptions.defaults()
                .withMemoryServers(2)
                .withBytesPerServer(16 << 20)
                .withHandlers(Systems.handlers()));
    first = pool.attach(new ComputeServer(5, 1), 1);
    second = pool.attach(new ComputeServer(3, 1), 2);
    giver = OPTIONS.createAt(first, 5);
    giver.bulkLoad(Entries.of(model), 0.7);
  }

  @AfterEach
  void end() {
    pool.close();
  }

  @Test
  void shouldGiveHalfOfARangeToAnotherProcess() {
    try (DexIndex receiver = OPTIONS.joinAt(second, 3)) {
      assertServes(receiver, new TreeMap<>());
      assertThat(giver.partitions().orElseThrow().addComputeServer(5, 3)).isTrue();
      long low = giver.partitioning().lowOfServer(3);
      assertThat(model.headMap(low).size()).as("entries that stay").isBetween(400, 2_600);
      receiver.partitions().orElseThrow().refreshPartitions();
      assertServes(giver, model.headMap(low, false));
      assertServes(receiver, model.tailMap(low, true));
      receiver.partitions().orElseThrow().removeComputeServer(3);
      giver.partitions().orElseThrow().refreshPartitions();
      assertServes(giver, model);
      assertThat(giver.partitioning().servers()).isEqualTo(1);
    }
    giver.close();
  }

  @Test
  void shouldSplitAtAKey() {
    long middle = model.keySet().stream().sorted().skip(1_000).findFirst().orElseThrow();
    try (DexIndex receiver = OPTIONS.joinAt(second, 3)) {
      assertThatThrownBy(() -> giver.partitions().orElseThrow().split(5, middle, 5))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> receiver.partitions().orElseThrow().split(5, middle, 7))
          .isInstanceOf(IllegalArgumentException.class);
      assertThat(giver.partitions().orElseThrow().split(5, middle, 3)).isTrue();
      try (Session session = receiver.session()) {
        assertThat(session.get(middle)).as("without a refresh").isTrue();
        assertThatThrownBy(() -> session.get(Long.MIN_VALUE))
            .isInstanceOf(NotServedHereException.class);
      }
    }
    giver.close();
  }

  @Test
  void shouldTakeOverFromOneThatIsFenced() {
    DexIndex lost = OPTIONS.joinAt(second, 3);
    assertThat(giver.partitions().orElseThrow().addComputeServer(5, 3)).isTrue();
    lost.partitions().orElseThrow().refreshPartitions();
    assertThatThrownBy(() -> giver.partitions().orElseThrow().takeOver(5, 5))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> lost.partitions().orElseThrow().takeOver(5, 7))
        .isInstanceOf(IllegalArgumentException.class);
    first.fence(3, 2);
    giver.partitions().orElseThrow().takeOver(3, 5);
    giver.partitions().orElseThrow().takeOver(3, 5);
    assertThat(giver.partitioning().epoch()).isEqualTo(4);
    assertServes(giver, model);
    giver.close();
  }

  @Test
  void shouldGiveTheLowestRangeUpwardsOrToOneWithoutARange() {
    DexIndex other = OPTIONS.joinAt(pool.attach(new ComputeServer(9, 1), 3), 9);
    try (DexIndex heir = OPTIONS.joinAt(second, 3)) {
      assertThat(giver.partitions().orElseThrow().addComputeServer(5, 3)).isTrue();
      giver.close();
      other.fabric().fence(5, 2);
      other.partitions().orElseThrow().takeOver(5, 9);
      heir.partitions().orElseThrow().refreshPartitions();
      assertThat(heir.partitioning().ownerOfRange(0)).isEqualTo(9);
      long low = heir.partitioning().lowOfServer(3);
      assertServes(other, model.headMap(low, false));
      other.close();
      second.fence(9, 2);
      heir.partitions().orElseThrow().takeOver(9, 3);
      assertServes(heir, model);
    }
  }

  @Test
  void shouldTakeTheTablesLockFromOneThatIsFenced() {
    DexIndex heir = OPTIONS.joinAt(second, 3);
    setLock(new ComputeServer(5, 1).process() << 20 | 77);
    second.fence(5, 2);
    heir.partitions().orElseThrow().takeOver(5, 3);
    assertServes(heir, model);
    heir.close();
  }

  private void setLock(long word) {
    try (var memory = first.register(64);
        Worker worker = first.worker(memory)) {
      assertThat(worker.cas(192, 0, word)).isZero();
    }
  }

  private static void assertServes(DexIndex index, NavigableMap<Long, Long> entries) {
    TreeMap<Long, Long> found = new TreeMap<>();
    try (Session session = index.session()) {
      for (long key : entries.keySet()) {
        assertThat(session.get(key)).as("key=%s", key).isTrue();
        found.put(key, session.value());
      }
    }
    assertThat(found).isEqualTo(entries);
  }
}
