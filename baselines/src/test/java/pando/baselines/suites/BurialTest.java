package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.ComputeServer;
import pando.fabric.PandoException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.local.LocalPool;
import pando.fabric.server.PoolOptions;
import pando.index.HookedFabric;
import pando.index.IndexOptions;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Systems;
import pando.index.Tree;

/** A compute server dies at any verb of a change, and another one, or its next start, buries it. */
@Timeout(600)
class BurialTest {
  private static final int LIVING = 0;
  private static final int LOST = 1;
  private static final int KEYS = 120;

  /** The changes: all keys are added, and then removed, in an order without a pattern. */
  private static final List<Long> ORDER = new ArrayList<>();

  static {
    for (long key = 1; key <= KEYS; key++) {
      ORDER.add(key);
    }
    Collections.shuffle(ORDER, new Random(Seeds.of(7)));
  }

  private final TreeMap<Long, Long> model = new TreeMap<>();

  /** By change, the bytes of the pool that it adds. */
  private final List<Long> growth = new ArrayList<>();

  /** Verbs of the list at which the compute server died last. */
  private int verbsOfList;

  @ParameterizedTest
  @CsvSource({
    "sherman, validation=checksum",
    "rolex,   retraining=on",
    "smart,   reserve=steps",
  })
  void shouldEndWhatWasHalfDone(String system, String setting) {
    IndexOptions options = options(system, setting);
    List<Integer> changes = structural(options);
    // The one that adds most nodes, such as a new root, and the last merge.
    int most = changes.stream().max(Comparator.comparing(growth::get)).orElseThrow();
    for (int change : List.of(most, changes.getLast())) {
      crashAtEachVerb(options, change);
    }
  }

  @Tag("campaign")
  @ParameterizedTest
  @CsvSource({
    "sherman,   validation=lines",
    "sherman,   validation=checksum",
    "sherman,   validation=versions",
    "fg,        validation=lines",
    "fg,        validation=checksum",
    "fg,        validation=versions",
    "p-sherman, validation=lines",
    "p-sherman, validation=checksum",
    "p-sherman, validation=versions",
    "rolex,     retraining=on",
    "rolex,     retraining=off",
    "xstore-d,  retraining=on",
    "smart,     reserve=steps",
    "smart,     reserve=whole",
    "p-smart,   reserve=steps",
  })
  void shouldEndEveryChangeThatWasHalfDone(String system, String setting) {
    IndexOptions options = options(system, setting);
    for (int change : structural(options)) {
      crashAtEachVerb(options, change);
    }
    // A change of one entry each way.
    crashAtEachVerb(options, KEYS - 1);
    crashAtEachVerb(options, KEYS);
  }

  @Test
  void shouldNotBuryWhatLivesHere() {
    try (LocalPool pool = pool();
        RangeIndex index =
            options("sherman", "validation=lines").create(attach(pool, LIVING, 1), LIVING, 1)) {
      assertThatThrownBy(() -> index.bury(LIVING))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("lives here");
    }
  }

  private static IndexOptions options(String system, String setting) {
    String[] parts = setting.split("=", 2);
    return Systems.named(system)
        .tiny()
        .withComputeServers(2)
        .with("lock-wait-millis", "20")
        .with(parts[0], parts[1]);
  }

  private static LocalPool pool() {
    return LocalPool.start(
        PoolOptions.defaults()
            .withMemoryServers(2)
            .withBytesPerServer(8 << 20)
            .withHandlers(Systems.handlers()));
  }

  private static HookedFabric attach(LocalPool pool, int number, long epoch) {
    return new HookedFabric(pool.attach(new ComputeServer(number, epoch), 10L * number + epoch))
        .withTasksByHand();
  }

  /** Returns the numbers of the changes that add or remove nodes. */
  private List<Integer> structural(IndexOptions options) {
    List<Integer> numbers = new ArrayList<>();
    try (Run run = new Run(options)) {
      for (int change = 0; change < 2 * KEYS; change++) {
        long before = run.lost.poolBytes();
        run.change(change);
        growth.add(run.lost.poolBytes() - before);
        if (growth.get(change) != 0) {
          numbers.add(change);
        }
      }
    }
    return numbers;
  }

  private void crashAtEachVerb(IndexOptions options, int change) {
    int lists = 0;
    int verbs = 0;
    while (crashAt(options, change, lists, verbs)) {
      // The list before was the last one where there are no more verbs.
      if (verbs < verbsOfList) {
        verbs++;
      } else {
        verbs = 0;
        lists++;
      }
    }
    assertThat(lists).as("change %d", change).isPositive();
  }

  /**
   * Has the compute server die at a change when it has posted so many lists, and so many verbs of
   * the next one; returns whether it has that many.
   */
  private boolean crashAt(IndexOptions options, int change, int lists, int verbs) {
    String what =
        "%s, change %s, %s lists, %s verbs".formatted(options.system(), change, lists, verbs);
    try (Run run = new Run(options)) {
      for (int i = 0; i < change; i++) {
        run.change(i);
      }
      run.warmUp();
      boolean crashed = run.crash(change, lists, verbs);
      run.bury((lists + verbs) % 2 == 0);
      try {
        run.check(what, change);
      } catch (PandoException e) {
        throw new AssertionError(what, e);
      }
      return crashed;
    }
  }

  /** A compute server that is to die, and one that lives. */
  private final class Run implements AutoCloseable {
    private final IndexOptions options;
    private final LocalPool pool = pool();
    private final HookedFabric fabric = attach(pool, LIVING, 1);
    private final HookedFabric crashing = attach(pool, LOST, 1);
    private final RangeIndex living;
    private final RangeIndex lost;
    private final Session session;
    private @Nullable RangeIndex again;

    Run(IndexOptions options) {
      this.options = options;
      model.clear();
      living = options.create(fabric, LIVING, 1);
      lost = options.join(crashing, LOST, 1);
      session = lost.session();
    }

    private void change(int number) {
      apply(session, number);
      apply(model, number);
      crashing.runTasks();
    }

    private static void apply(Session to, int number) {
      long key = ORDER.get(number % KEYS);
      if (number < KEYS) {
        to.store(key, number);
      } else {
        to.discard(key);
      }
    }

    private static void apply(Map<Long, Long> to, int number) {
      long key = ORDER.get(number % KEYS);
      if (number < KEYS) {
        to.put(key, (long) number);
      } else {
        to.remove(key);
      }
    }

    /** Has the one that lives know the nodes. */
    private void warmUp() {
      if (!options.isPartitioned()) {
        try (Session reader = living.session()) {
          ORDER.forEach(key -> assertThat(get(reader, key)).isEqualTo(model.get(key)));
        }
      }
    }

    private boolean crash(int number, int lists, int verbs) {
      int[] left = {lists};
      crashing.hookNext(
          _ -> left[0]-- == 0,
          posting -> {
            verbsOfList = Math.max(posting.verbs().size(), 1);
            posting.postFirst(verbs);
            fabric.fence(LOST, 2);
            throw new UnknownOutcomeException("ended by a test");
          });
      try {
        apply(session, number);
        crashing.runTasks();
      } catch (PandoException ended) {
        assertThat(left[0]).isNegative();
      }
      boolean crashed = left[0] < 0;
      crashing.unhook();
      fabric.fence(LOST, 2);
      close(session);
      close(lost);
      return crashed;
    }

    private void bury(boolean byNextStart) {
      if (byNextStart) {
        again = options.join(attach(pool, LOST, 2), LOST, 1);
      } else if (options.isPartitioned()) {
        living.partitions().orElseThrow().takeOver(LOST, LIVING);
      } else {
        living.bury(LOST);
      }
    }

    private void check(String what, int change) {
      RangeIndex other = again;
      try (Session reader =
          other != null && options.isPartitioned() ? other.session() : living.session()) {
        TreeMap<Long, Long> done = new TreeMap<>(model);
        apply(done, change);
        long open = ORDER.get(change % KEYS);
        assertThat(get(reader, open)).as(what).isIn(model.get(open), done.get(open));
        for (long key : ORDER) {
          if (key != open) {
            assertThat(get(reader, key)).as("%s: key %d", what, key).isEqualTo(model.get(key));
          }
        }
        for (long key : ORDER) {
          reader.store(key, -key);
          model.put(key, -key);
        }
        assertThat(get(reader, open)).as(what).isEqualTo(-open);
      }
      fabric.runTasks();
      Tree tree = options.walk(fabric);
      assertThat(tree.problems()).as(what).isEmpty();
      assertThat(tree.entries()).as(what).isEqualTo(model);
    }

    @Override
    public void close() {
      RangeIndex other = again;
      if (other != null) {
        other.close();
      }
      close(session);
      close(lost);
      living.close();
      pool.close();
    }

    private static void close(AutoCloseable lost) {
      try {
        lost.close();
      } catch (Exception e) {
        assertThat(e).isInstanceOfAny(PandoException.class, IllegalStateException.class);
      }
    }
  }

  private static @Nullable Long get(Session session, long key) {
    return session.get(key) ? (Long) session.value() : null;
  }
}
