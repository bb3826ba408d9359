package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;

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
import pando.index.HookedFabric;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Tree;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;

/** A compute server dies at any verb of a change, and is buried in a drain, in virtual time. */
@Timeout(600)
class DeftBurialTest {
  private static final int LIVING = 0;
  private static final int LOST = 1;
  private static final int KEYS = 260;
  private static final long NANOS_MAX = 1_000_000_000_000L;
  private static final long EVENTS_MAX = 10_000_000;

  /** Changes: all keys are added, and then removed, in an order without a pattern. */
  private static final List<Long> ORDER = new ArrayList<>();

  static {
    for (long key = 1; key <= KEYS; key++) {
      ORDER.add(key);
    }
    Collections.shuffle(ORDER, new Random(Seeds.of(945)));
  }

  /** By change, the nodes that it adds. */
  private final List<Integer> growth = new ArrayList<>();

  private final TreeMap<Long, Long> model = new TreeMap<>();
  private int verbsOfList;

  private static DeftOptions options(String validation, String sxLocks) {
    return DeftOptions.defaults()
        .withComputeServers(2)
        .withNodeBytes(448)
        .withCacheBytes(64 << 10)
        .with("validation", validation)
        .with("sx-locks", sxLocks)
        .with("merge-share", "0.5")
        .with("lock-wait-millis", "20");
  }

  /** The change with most nodes, a new root, and the last one, a root that goes. */
  @Test
  void shouldEndWhatWasHalfDone() {
    DeftOptions options = options("opdv", "on");
    List<Integer> changes = structural(options);
    int most = changes.stream().max(Comparator.comparing(growth::get)).orElseThrow();
    crashAtEachVerb(options, most);
    crashAtEachVerb(options, changes.getLast());
  }

  @Tag("campaign")
  @ParameterizedTest
  @CsvSource({"opdv, on", "versions, on", "checksum, on", "checksum, off"})
  void shouldEndEveryChangeThatWasHalfDone(String validation, String sxLocks) {
    DeftOptions options = options(validation, sxLocks);
    structural(options).forEach(change -> crashAtEachVerb(options, change));
    // A change of one entry each way.
    crashAtEachVerb(options, KEYS - 1);
    crashAtEachVerb(options, KEYS);
  }

  /** Returns the numbers of the changes that add or remove nodes. */
  private List<Integer> structural(DeftOptions options) {
    List<Integer> numbers = new ArrayList<>();
    try (Run run = new Run(options)) {
      for (int change = 0; change < 2 * KEYS; change++) {
        long before = run.lost.poolBytes();
        run.change(change);
        growth.add((int) ((run.lost.poolBytes() - before) / options.nodeBytes()));
        if (growth.get(change) != 0) {
          numbers.add(change);
        }
      }
    }
    return numbers;
  }

  private void crashAtEachVerb(DeftOptions options, int change) {
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
  private boolean crashAt(DeftOptions options, int change, int lists, int verbs) {
    String what = "change %s, %s lists, %s verbs".formatted(change, lists, verbs);
    try (Run run = new Run(options)) {
      for (int i = 0; i < change; i++) {
        run.change(i);
      }
      boolean crashed = run.crash(change, lists, verbs);
      run.bury((lists + verbs) % 2 == 0);
      run.check(what, change);
      return crashed;
    } catch (PandoException e) {
      throw new AssertionError(what, e);
    }
  }

  /** A compute server that is to die, and one that lives. */
  private final class Run implements AutoCloseable {
    private final DeftOptions options;
    private final Cluster cluster =
        new Cluster(
            ClusterOptions.defaults()
                .withServers(2, 2)
                .withBytesPerServer(1 << 20)
                .withChunkBytes(64 << 10)
                .withSeed(1));
    private final HookedFabric fabric = attach(LIVING, 1).withDrains();
    private final HookedFabric crashing = attach(LOST, 1);
    private final DeftIndex living;
    private final DeftIndex lost;
    private final Session session;
    private @Nullable DeftIndex again;

    Run(DeftOptions options) {
      this.options = options;
      model.clear();
      living = options.create(fabric, LIVING, 1);
      lost = options.join(crashing, LOST, 1);
      session = lost.session();
    }

    private HookedFabric attach(int number, long epoch) {
      return new HookedFabric(cluster.fabric(number, new ComputeServer(number, epoch)));
    }

    private void change(int number) {
      apply(session, number);
      apply(model, number);
    }

    private void apply(Session to, int number) {
      long key = ORDER.get(number % KEYS);
      if (number < KEYS) {
        to.store(key, number);
      } else {
        to.discard(key);
      }
    }

    private void apply(Map<Long, Long> to, int number) {
      long key = ORDER.get(number % KEYS);
      if (number < KEYS) {
        to.put(key, (long) number);
      } else {
        to.remove(key);
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
      } catch (PandoException ended) {
        assertThat(left[0]).isNegative();
      }
      crashing.unhook();
      fabric.fence(LOST, 2);
      return left[0] < 0;
    }

    private void bury(boolean byNextStart) {
      if (byNextStart) {
        again = options.join(attach(LOST, 2).withDrains(), LOST, 1);
      } else {
        living.bury(LOST);
      }
    }

    /** Checks by a session of each process that all is there, and that no lock is held. */
    private void check(String what, int change) {
      DeftIndex other = again;
      if (other != null) {
        cluster.core(LOST).spawn("again", () -> check(other, what, change));
      }
      cluster.core(LIVING).spawn("living", () -> check(living, what, change));
      cluster.run(NANOS_MAX, EVENTS_MAX);
      for (long key : ORDER) {
        model.put(key, -key);
      }
      cluster.core(LIVING).spawn("stores", this::storeAll);
      cluster.run(NANOS_MAX, EVENTS_MAX);
      Tree tree = options.walk(fabric);
      assertThat(tree.problems()).as(what).isEmpty();
      assertThat(tree.entries()).as(what).isEqualTo(model);
    }

    private void check(DeftIndex index, String what, int change) {
      try (Session reader = index.session()) {
        TreeMap<Long, Long> done = new TreeMap<>(model);
        apply(done, change);
        long open = ORDER.get(change % KEYS);
        assertThat(get(reader, open)).as(what).isIn(model.get(open), done.get(open));
        for (long key : ORDER) {
          if (key != open) {
            assertThat(get(reader, key)).as("%s: key %d", what, key).isEqualTo(model.get(key));
          }
        }
      }
    }

    private void storeAll() {
      try (Session writer = living.session()) {
        ORDER.forEach(key -> writer.store(key, -key));
      }
    }

    /** The lost one is not closed: nothing of it takes effect any more. */
    @Override
    public void close() {
      DeftIndex other = again;
      if (other != null) {
        other.close();
      }
      living.close();
      cluster.close();
    }
  }

  private static @Nullable Long get(Session session, long key) {
    return session.get(key) ? (Long) session.value() : null;
  }
}
