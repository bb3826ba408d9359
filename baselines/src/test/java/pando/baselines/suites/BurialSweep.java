package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import pando.fabric.PandoException;
import pando.fabric.UnknownOutcomeException;
import pando.index.HookedFabric;
import pando.index.IndexOptions;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Tree;

/**
 * Has a compute server die at each verb of a change, and be buried by one that lives or by its next
 * start. The changes: all keys are added, and then removed, in an order without a pattern.
 */
public abstract class BurialSweep {
  protected static final int LIVING = 0;
  protected static final int LOST = 1;

  /** Keys, and so the number of the first change that removes one. */
  protected final int keys;

  private final List<Long> order = new ArrayList<>();
  private final TreeMap<Long, Long> model = new TreeMap<>();

  /** By change, the bytes of the pool that it adds. */
  private final List<Long> growth = new ArrayList<>();

  /** Verbs of the list at which the compute server died last. */
  private int verbsOfList;

  protected BurialSweep(int keys, long seed) {
    this.keys = keys;
    for (long key = 1; key <= keys; key++) {
      order.add(key);
    }
    Collections.shuffle(order, new Random(Seeds.of(seed)));
  }

  /** Opens an empty index with the two compute servers. */
  protected abstract Run open(IndexOptions options);

  /** Returns the numbers of the changes that add or remove nodes. */
  protected final List<Integer> structural(IndexOptions options) {
    List<Integer> numbers = new ArrayList<>();
    try (Run run = open(options)) {
      for (int change = 0; change < 2 * keys; change++) {
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

  /** Crashes at the change that adds most nodes, such as a new root, and at the last merge. */
  protected final void crashAtEachVerbOfSome(IndexOptions options) {
    List<Integer> changes = structural(options);
    crashAtEachVerb(options, changes.stream().max(Comparator.comparing(growth::get)).orElseThrow());
    crashAtEachVerb(options, changes.getLast());
  }

  /** Crashes at all changes that add or remove nodes, and at one of an entry each way. */
  protected final void crashAtEachVerbOfAll(IndexOptions options) {
    structural(options).forEach(change -> crashAtEachVerb(options, change));
    crashAtEachVerb(options, keys - 1);
    crashAtEachVerb(options, keys);
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
    try (Run run = open(options)) {
      for (int i = 0; i < change; i++) {
        run.change(i);
      }
      run.warmUp();
      boolean crashed = run.crash(change, lists, verbs);
      run.bury((lists + verbs) % 2 == 0);
      run.check(what, change);
      return crashed;
    } catch (PandoException e) {
      throw new AssertionError(what, e);
    }
  }

  private void apply(Session to, int number) {
    long key = order.get(number % keys);
    if (number < keys) {
      to.store(key, number);
    } else {
      to.discard(key);
    }
  }

  private void apply(Map<Long, Long> to, int number) {
    long key = order.get(number % keys);
    if (number < keys) {
      to.put(key, (long) number);
    } else {
      to.remove(key);
    }
  }

  private static @Nullable Long get(Session session, long key) {
    return session.get(key) ? (Long) session.value() : null;
  }

  /** A compute server that is to die, and one that lives. */
  protected abstract class Run implements AutoCloseable {
    protected final IndexOptions options;
    protected final HookedFabric fabric;
    protected final HookedFabric crashing;
    protected final RangeIndex living;
    protected final RangeIndex lost;
    protected final Session session;

    /** The next start of the one that died, if it has one. */
    protected @Nullable RangeIndex again;

    /**
     * Opens them.
     *
     * @param fabric of the one that lives
     * @param crashing of the one that is to die
     */
    protected Run(IndexOptions options, HookedFabric fabric, HookedFabric crashing) {
      this.options = options;
      this.fabric = fabric;
      this.crashing = crashing;
      model.clear();
      living = options.create(fabric, LIVING, 1);
      lost = options.join(crashing, LOST, 1);
      session = lost.session();
    }

    /** Returns the fabric of the next start of the one that died. */
    protected abstract HookedFabric attachAgain();

    /** Has the one that lives bury the other one. */
    protected abstract void buryByLiving();

    /** Checks the entries, that no lock is held, and the tree. */
    protected abstract void check(String what, int change);

    private void change(int number) {
      apply(session, number);
      apply(model, number);
      crashing.runTasks();
    }

    /** Has the one that lives know the nodes. */
    private void warmUp() {
      if (!options.isPartitioned()) {
        try (Session reader = living.session()) {
          order.forEach(key -> assertThat(get(reader, key)).isEqualTo(model.get(key)));
        }
      }
    }

    /** Returns whether it has died. */
    protected boolean crash(int number, int lists, int verbs) {
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
      crashing.unhook();
      fabric.fence(LOST, 2);
      return left[0] < 0;
    }

    private void bury(boolean byNextStart) {
      if (byNextStart) {
        again = options.join(attachAgain(), LOST, 1);
      } else {
        buryByLiving();
      }
    }

    /** Checks that each entry is there, but those of the change as before it or behind it. */
    protected final void checkEntries(Session reader, String what, int change) {
      TreeMap<Long, Long> done = new TreeMap<>(model);
      apply(done, change);
      long open = order.get(change % keys);
      assertThat(get(reader, open)).as(what).isIn(model.get(open), done.get(open));
      for (long key : order) {
        if (key != open) {
          assertThat(get(reader, key)).as("%s: key %d", what, key).isEqualTo(model.get(key));
        }
      }
    }

    /** Stores a value under each key. */
    protected final void storeAll(Session writer) {
      for (long key : order) {
        writer.store(key, -key);
        model.put(key, -key);
      }
    }

    protected final void checkTree(String what) {
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
      living.close();
    }
  }
}
