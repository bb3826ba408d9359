package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.local.LocalPool;
import pando.fabric.server.PoolOptions;
import pando.index.HookedFabric;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Systems;
import pando.index.Tree;

/**
 * A compute server that ends at any verb: the pool and the changes since its last flush are all
 * that it had.
 */
@Timeout(300)
class DexCrashTest {
  private static final DexOptions OPTIONS = Tiny.options(1).with("write-back-interval", "0");
  private static final int HEIR = 3;
  private static final int LOST = 5;
  private static final int KEYS = 3_000;

  private final TreeMap<Long, Long> model = new TreeMap<>();

  /** Changes since the last flush; {@code null} for a removal. */
  private final Map<Long, @Nullable Long> log = new LinkedHashMap<>();

  /** The key of the change that was under way, and what it would have had. */
  private long open;

  private @Nullable Long wanted;
  private boolean isOver;

  static IntStream seeds() {
    return IntStream.range(0, Seeds.count(40, 1_000, 20_000));
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void shouldLoseNothingWhereAnotherTakesTheRangeOver(int number) {
    SplittableRandom random = new SplittableRandom(Seeds.of(1_000 + number));
    try (LocalPool pool = start()) {
      Fabric fabric = pool.attach(new ComputeServer(HEIR, 1), 1);
      try (DexIndex heir = OPTIONS.createAt(fabric, HEIR)) {
        fill(heir, random);
        ComputeServer name = new ComputeServer(LOST, 1);
        HookedFabric crashing = new HookedFabric(pool.attach(name, 2));
        DexIndex lost = OPTIONS.joinAt(crashing, LOST);
        heir.partitions().orElseThrow().split(HEIR, 1_000 + random.nextLong(1_000), LOST);
        lost.partitions().orElseThrow().refreshPartitions();
        changeUntilTheEnd(lost, heir, random, () -> crash(crashing, fabric, name, random));
        heir.partitions().orElseThrow().takeOver(LOST, HEIR);
        check(fabric, heir);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void shouldLoseNothingWhereItStartsAgain(int number) {
    SplittableRandom random = new SplittableRandom(Seeds.of(2_000_000 + number));
    try (LocalPool pool = start()) {
      Fabric fabric = pool.attach(new ComputeServer(HEIR, 1), 1);
      ComputeServer name = new ComputeServer(LOST, 1);
      HookedFabric crashing = new HookedFabric(pool.attach(name, 2));
      DexIndex lost = OPTIONS.createAt(crashing, LOST);
      fill(lost, random);
      changeUntilTheEnd(lost, lost, random, () -> crash(crashing, fabric, name, random));
      Fabric again = pool.attach(new ComputeServer(LOST, 2), 3);
      try (DexIndex index = OPTIONS.joinAt(again, LOST)) {
        check(again, index);
      }
    }
  }

  private static LocalPool start() {
    return LocalPool.start(
        PoolOptions.defaults()
            .withMemoryServers(2)
            .withBytesPerServer(8 << 20)
            .withHandlers(Systems.handlers()));
  }

  private void fill(DexIndex index, SplittableRandom random) {
    try (Session session = index.session()) {
      for (int i = 0; i < 1_500; i++) {
        long key = random.nextLong(KEYS);
        session.put(key, i);
        model.put(key, (long) i);
      }
    }
    index.flush();
  }

  /** Has the compute server end at one of its next verbs. */
  private void crash(
      HookedFabric crashing, Fabric other, ComputeServer name, SplittableRandom random) {
    int[] left = {random.nextInt(2_000)};
    crashing.hookNext(
        _ -> left[0]-- == 0,
        posting -> {
          posting.postFirst(random.nextInt(Math.max(posting.verbs().size(), 1) + 1));
          other.fence(name.number(), name.epoch() + 1);
          isOver = true;
          throw new UnknownOutcomeException("ended by a test");
        });
  }

  private void changeUntilTheEnd(
      DexIndex lost, DexIndex other, SplittableRandom random, Runnable begin) {
    boolean grows = random.nextBoolean();
    begin.run();
    Session others = other.session();
    Session session = lost.session();
    try {
      while (!isOver) {
        long key = random.nextLong(KEYS);
        grows ^= random.nextInt(700) == 0;
        open = key;
        wanted = random.nextInt(10) < (grows ? 8 : 2) ? (Long) random.nextLong() : null;
        if (lost.serves(key)) {
          change(session, key);
          log.put(key, wanted);
        } else {
          change(others, key);
        }
        if (random.nextInt(400) == 0) {
          lost.flush();
          log.clear();
        }
      }
    } catch (PandoException e) {
      assertThat(isOver).as(e.toString()).isTrue();
    } finally {
      close(session);
      if (other != lost) {
        others.close();
      }
      close(lost);
    }
  }

  private void change(Session session, long key) {
    if (wanted == null) {
      session.discard(key);
      model.remove(key);
    } else {
      session.store(key, wanted);
      model.put(key, wanted);
    }
  }

  private static void close(AutoCloseable lost) {
    try {
      lost.close();
    } catch (Exception e) {
      assertThat(e).isInstanceOf(PandoException.class);
    }
  }

  private void check(Fabric fabric, DexIndex index) {
    try (Session session = index.session()) {
      log.forEach((key, value) -> {
        if (value == null) {
          session.discard(key);
        } else {
          session.store(key, value);
        }
      });
      if (session.get(open) ? wanted != null && session.value() == wanted : wanted == null) {
        // It took effect.
        log.put(open, wanted);
        change(session, open);
      }
      for (long key = 0; key < KEYS; key++) {
        Long found = session.get(key) ? (Long) session.value() : null;
        assertThat(found).as("key %d", key).isEqualTo(model.get(key));
      }
    }
    index.flush();
    Tree tree = OPTIONS.walk(fabric);
    assertThat(tree.problems()).isEmpty();
    assertThat(tree.entries()).isEqualTo(model);
  }
}
