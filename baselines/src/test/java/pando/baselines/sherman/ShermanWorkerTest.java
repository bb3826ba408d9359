package pando.baselines.sherman;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.baselines.lock.LockTables;
import pando.fabric.Fabric;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.session.NeighbourSearch;
import pando.index.session.NeighbourSearch.Outcome;

/** What a session's workers hold, and let go where something fails. */
@Tag("campaign")
@Timeout(300)
class ShermanWorkerTest {
  private static final long HOLDER = (5L << LockTables.SESSION_BITS) | 7;

  private boolean failing;

  private static ShermanOptions tiny(ShermanOptions options) {
    return options.with("node-bytes", "192").with("lock-wait-millis", "20");
  }

  /** Returns a fabric of which some calls fail, and some of its workers'. */
  private Fabric failing(Fabric fabric, BiPredicate<String, @Nullable Object[]> fails) {
    return failing(Fabric.class, fabric, fails);
  }

  private <T> T failing(Class<T> type, T real, BiPredicate<String, @Nullable Object[]> fails) {
    Object proxy =
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, arguments) -> {
              if (failing && fails.test(method.getName(), arguments)) {
                throw new IllegalStateException("fails: " + method.getName());
              }
              Object result = call(real, method, arguments);
              return result instanceof Worker worker
                  ? failing(Worker.class, worker, fails)
                  : result;
            });
    return type.cast(proxy);
  }

  private static @Nullable Object call(
      Object real, Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
    try {
      return method.invoke(real, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  @Test
  void shouldGiveBackItsNumberWhereASessionCannotBeOpened() {
    ShermanOptions options = tiny(ShermanOptions.sherman()).withComputeServers(1);
    try (Fabric real = Pools.open(1, 8 << 20, 861)) {
      Fabric fabric = failing(real, (method, _) -> method.equals("register"));
      try (ShermanIndex index = ShermanIndex.create(fabric, options)) {
        failing = true;
        for (int i = 0; i <= ShermanOptions.SESSIONS_MAX; i++) {
          assertThatThrownBy(index::session).hasMessageContaining("fails: register");
        }
        failing = false;
        try (Session session = index.session()) {
          assertThat(session.put(1, 1)).isFalse();
        }
      }
    }
  }

  @Test
  void shouldUnlockAtEveryComputeServerWhereOneFails() {
    ShermanOptions options = tiny(ShermanOptions.partitionedSherman()).withComputeServers(2);
    try (Fabric real = Pools.open(1, 8 << 20, 862)) {
      Fabric fabric = failing(real, this::isFirstUnlock);
      try (ShermanIndex index = ShermanIndex.create(fabric, options);
          Session session = index.session();
          Session other = index.session()) {
        failing = true;
        assertThatThrownBy(() -> session.ceiling(-9)).hasMessageContaining("fails: post");
        assertThat(failing).isFalse();
        assertThat(other.put(-9, 1)).isFalse();
        assertThat(other.put(1, 1)).isFalse();
        assertThat(session.ceiling(0)).isTrue();
        assertThat(session.key()).isEqualTo(1);
      }
    }
  }

  /** A partition's own leaf is unlocked by a list without verbs. */
  private boolean isFirstUnlock(String method, @Nullable Object[] arguments) {
    boolean first = method.equals("post") && ((VerbList) arguments[0]).size() == 0;
    failing &= !first;
    return first;
  }

  @Test
  void shouldNotWaitForALockWhileItHoldsAnother() {
    ShermanOptions options =
        tiny(ShermanOptions.sherman()).withComputeServers(1).with("validation", "versions");
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(Seeds.of(863)), 1_000);
    try (Fabric fabric = Pools.open(1, 8 << 20, 863);
        ShermanPokes pokes = new ShermanPokes(fabric, options);
        ShermanIndex index = ShermanIndex.create(fabric, options);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      long last = pokes.high(pokes.path(0)[1]);
      long beyond = pokes.path(last + 1)[1];
      assertThat(session.get(last)).isFalse();
      ShermanWorker worker = Objects.requireNonNull(index.worker(0));
      NeighbourSearch neighbours = worker.neighbours();
      pokes.setLock(beyond, HOLDER);
      assertThat(neighbours.lookAndLock(last, false)).isEqualTo(Outcome.FURTHER);
      assertThat(neighbours.lookAndLock(neighbours.bound(), false)).isEqualTo(Outcome.BUSY);
      neighbours.unlock();
      pokes.setLock(beyond, 0);
      neighbours.awaitBusy();
      assertThat(neighbours.lookAndLock(last, false)).isEqualTo(Outcome.FURTHER);
      assertThat(neighbours.lookAndLock(neighbours.bound(), false)).isEqualTo(Outcome.FOUND);
      assertThat(neighbours.key()).isEqualTo(model.higherKey(last));
      neighbours.unlock();
      assertThat(options.walk(fabric).problems()).isEmpty();
    }
  }

  @Test
  void shouldNotWaitAtOneComputeServerWhileItHoldsLocksAtAnother() {
    ShermanOptions options =
        tiny(ShermanOptions.partitionedSherman())
            .withComputeServers(3)
            .with("validation", "versions");
    try (Fabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 864));
        ShermanPokes pokes = new ShermanPokes(fabric, options);
        ShermanIndex index = ShermanIndex.create(fabric, options)) {
      long root = pokes.path(0)[1];
      NeighbourSearch left = neighbours(index, 0);
      NeighbourSearch middle = neighbours(index, 1);
      NeighbourSearch right = neighbours(index, 2);
      assertThat(left.lookAndLock(Long.MIN_VALUE, false)).isEqualTo(Outcome.FURTHER);
      pokes.setLock(root, HOLDER);
      assertThat(middle.lookAndLock(left.bound(), false)).isEqualTo(Outcome.BUSY);
      left.unlock();
      pokes.setLock(root, 0);
      middle.awaitBusy();
      assertThat(left.lookAndLock(Long.MIN_VALUE, false)).isEqualTo(Outcome.FURTHER);
      assertThat(middle.lookAndLock(left.bound(), false)).isEqualTo(Outcome.FURTHER);
      assertThat(right.lookAndLock(middle.bound(), false)).isEqualTo(Outcome.NONE);
    }
  }

  /** A session that begins anew may need what it waited for at another compute server. */
  @Test
  void shouldNotBeInItsOwnWayAtAnotherComputeServer() {
    ShermanOptions options =
        tiny(ShermanOptions.partitionedSherman())
            .withComputeServers(2)
            .with("validation", "versions");
    try (Fabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 865));
        ShermanPokes pokes = new ShermanPokes(fabric, options);
        ShermanIndex index = ShermanIndex.create(fabric, options)) {
      long root = pokes.path(0)[1];
      NeighbourSearch left = neighbours(index, 0);
      NeighbourSearch right = neighbours(index, 1);
      pokes.setLock(root, HOLDER);
      assertThat(right.lookAndLock(0, false)).isEqualTo(Outcome.BUSY);
      pokes.setLock(root, 0);
      right.awaitBusy();
      assertThat(left.lookAndLock(Long.MIN_VALUE, false)).isEqualTo(Outcome.FURTHER);
      assertThat(right.lookAndLock(left.bound(), false)).isEqualTo(Outcome.NONE);
    }
  }

  private static NeighbourSearch neighbours(ShermanIndex index, int server) {
    return Objects.requireNonNull(index.worker(server)).neighbours();
  }

  @Test
  void shouldForgetWhomItWaitedForWhereSomethingFailed() {
    ShermanOptions options = tiny(ShermanOptions.partitionedSherman()).withComputeServers(2);
    try (Fabric real = Pools.open(1, 8 << 20, 867)) {
      Fabric fabric = failing(real, this::isFirstUnlock);
      try (ShermanIndex index = ShermanIndex.create(fabric, options);
          Session session = index.session()) {
        assertThat(neighbours(index, 1).lookAndLock(0, false)).isEqualTo(Outcome.NONE);
        failing = true;
        assertThatThrownBy(() -> session.ceiling(-9)).hasMessageContaining("fails: post");
        assertThat(neighbours(index, 0).lookAndLock(-9, false)).isEqualTo(Outcome.FURTHER);
        assertThatThrownBy(() -> session.ceiling(-9))
            .isInstanceOf(StalledException.class)
            .hasNoSuppressedExceptions();
      }
    }
  }

  @Test
  void shouldEndEveryWorkerWhereOneCannotBeEnded() {
    ShermanOptions options = tiny(ShermanOptions.partitionedSherman()).withComputeServers(2);
    try (Fabric real = Pools.open(1, 8 << 20, 866)) {
      int[] closed = {0};
      Fabric fabric = failing(real, (method, _) -> method.equals("close") && closed[0]++ == 0);
      try (ShermanIndex index = ShermanIndex.create(fabric, options);
          Session session = index.session()) {
        session.put(-9, 1);
        session.put(9, 1);
        failing = true;
        assertThatThrownBy(session::close).hasMessageContaining("fails: close");
        assertThat(closed[0]).isEqualTo(2);
        assertThatThrownBy(() -> session.get(9)).hasMessageContaining("closed");
        failing = false;
      }
    }
  }
}
