package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList.Kind;
import pando.index.HookedFabric;
import pando.index.NotServedHereException;
import pando.index.Pools;
import pando.index.Session;
import pando.index.Threads;
import pando.index.Tree;
import pando.index.Unwritten;
import pando.index.dex.cache.DirtyNodes;
import pando.index.dex.cache.Frames;
import pando.index.pool.NodePlaces;
import pando.index.pool.PoolChange;
import pando.index.session.Marks;

/** The end of an index loses nothing, whatever peers and other threads do. */
@Timeout(300)
class DexCloseTest {
  private static final DexOptions OPTIONS =
      Tiny.options(2).with("cache-bytes", String.valueOf(512 * 192));

  private static final int KEYS = 500;

  private final TreeMap<Long, Long> model = new TreeMap<>();

  private static PoolChange peer(Fabric fabric) {
    NodePlaces places = new NodePlaces(fabric, OPTIONS.nodeBytes());
    return new PoolChange(fabric, OPTIONS.nodeBytes(), places, DexIndex.SYSTEM, _ -> {});
  }

  /** Stores entries in the partition of a compute server. */
  private void fill(DexIndex index, int server) {
    try (Session session = index.session()) {
      for (long i = 0; i < KEYS; i++) {
        long key = server == 0 ? -2 - i : i;
        session.put(key, i);
        model.put(key, i);
      }
    }
  }

  private void checkPool(Fabric fabric) {
    Tree tree = OPTIONS.walk(fabric);
    assertThat(tree.problems()).isEmpty();
    assertThat(tree.entries()).isEqualTo(model);
  }

  @ParameterizedTest(name = "interrupted={0}")
  @ValueSource(booleans = {false, true})
  void shouldWriteBackWhileAPeerStandsStillInAChange(boolean interrupted) {
    try (Fabric fabric = Pools.open(2, 8 << 20, 881)) {
      DexIndex index = DexIndex.create(fabric, OPTIONS);
      fill(index, 1);
      try (PoolChange peer = peer(fabric)) {
        peer.lock();
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
        index.close();
        assertThat(Thread.interrupted()).isEqualTo(interrupted);
      }
      checkPool(fabric);
    }
  }

  @Test
  void shouldBeClosedAgainAfterAFailure() {
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 882))) {
      DexIndex index = DexIndex.create(fabric, OPTIONS);
      fill(index, 0);
      fabric.hookEach(
          verbs -> verbs.size() > 0 && verbs.kind(0) == Kind.WRITE,
          posting -> {
            throw new UnknownOutcomeException("not answered by a test");
          });
      assertThatThrownBy(index::close).isInstanceOf(UnknownOutcomeException.class);
      assertThat(fabric.unhook()).isPositive();
      fill(index, 1);
      index.close();
      index.close();
      assertThatIllegalStateException().isThrownBy(index::session);
      checkPool(fabric);
    }
  }

  @Test
  void shouldBeClosedByTwoThreads() throws Exception {
    for (int round = 0; round < 20; round++) {
      try (Fabric fabric = Pools.open(2, 8 << 20, 883)) {
        DexIndex index = DexIndex.create(fabric, OPTIONS);
        model.clear();
        fill(index, 0);
        fill(index, 1);
        CyclicBarrier start = new CyclicBarrier(2);
        Callable<Void> closer =
            () -> {
              start.await();
              index.close();
              assertThat(index.cachedBytes()).isZero();
              checkPool(fabric);
              return null;
            };
        Threads.run(List.of(closer, closer));
      }
    }
  }

  @Test
  void shouldBeClosedBesideAPeer() throws Exception {
    for (int round = 0; round < 20; round++) {
      try (Fabric fabric = Pools.open(2, 8 << 20, 884)) {
        DexIndex one = OPTIONS.create(fabric, 0, 1);
        DexIndex two = OPTIONS.join(fabric, 1, 1);
        model.clear();
        fill(one, 0);
        fill(two, 1);
        CyclicBarrier start = new CyclicBarrier(2);
        Threads.run(List.of(closer(one, start), closer(two, start)));
        checkPool(fabric);
      }
    }
  }

  private static Callable<Void> closer(DexIndex index, CyclicBarrier start) {
    return () -> {
      start.await();
      index.close();
      return null;
    };
  }

  /** An operation that failed may have left locks, of a node or of its parent. */
  @Test
  void shouldWriteBackWhatLocksOfNobodyCover() {
    DexOptions options = OPTIONS.with("write-back-interval", "0");
    try (Fabric fabric = Pools.open(2, 8 << 20, 887)) {
      DexIndex index = DexIndex.create(fabric, options);
      fill(index, 1);
      DexServer server = index.servers().getLast();
      DirtyNodes dirty = server.cache.dirty();
      assertThat(dirty.count()).isPositive();
      List<Long> locked = lockAll(server);
      server.settle();
      locked.forEach(node -> Frames.unlockUnchanged(server.cache.memory(), node));
      assertThat(dirty.count()).isZero();
      index.close();
      checkPool(fabric);
    }
  }

  private static List<Long> lockAll(DexServer server) {
    Marks marks = server.cache.dirty().marks();
    List<Long> locked = new ArrayList<>();
    for (long next = marks.next(0); next != Marks.NONE; next = marks.next(next + 1)) {
      long node = OPTIONS.layout().offset((int) next);
      assertThat(Frames.tryLock(server.cache.memory(), node)).isTrue();
      locked.add(node);
    }
    return locked;
  }

  /** A thread that asks an index may have the list of compute servers from before. */
  @Test
  void shouldHaveNothingUnwrittenOnceAComputeServerIsGone() {
    try (Fabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 885));
        DexIndex index = DexIndex.create(fabric, OPTIONS)) {
      fill(index, 1);
      DexServer server = index.servers().getLast();
      assertThat(server.unwritten().bytes()).isPositive();
      index.partitions().orElseThrow().removeComputeServer(1);
      assertThat(server.cachedBytes()).isZero();
      assertThat(server.unwritten()).isEqualTo(Unwritten.NONE);
    }
  }

  @Test
  @SuppressWarnings("try") // Closed before it is asked once more.
  void shouldBeAloneWithoutAComputeServer() {
    try (Fabric fabric = Pools.open(2, 8 << 20, 886);
        DexIndex one = OPTIONS.create(fabric, 0, 1);
        DexIndex two = OPTIONS.join(fabric, 1, 1);
        Session session = two.session()) {
      session.put(1, 2);
      two.partitions().orElseThrow().removeComputeServer(1);
      assertThatThrownBy(() -> session.alone(() -> session.get(1)))
          .isInstanceOf(NotServedHereException.class);
      try (Session other = one.session()) {
        assertThat(other.get(1)).isTrue();
      }
      two.close();
      assertThatIllegalStateException()
          .isThrownBy(() -> session.alone(() -> {}))
          .withMessage("the index is closed");
    }
  }
}
