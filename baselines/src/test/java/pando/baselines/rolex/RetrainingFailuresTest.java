package pando.baselines.rolex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.fabric.MemoryServerLostException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Session;
import pando.index.Tree;

/** A retrainer whose verbs fail, each in turn: for a moment, or for good as if it had died. */
@Tag("campaign")
@Timeout(300)
class RetrainingFailuresTest {
  private static final long STEP = 100;
  private static final int ENTRIES = 400;

  private static final RolexOptions OPTIONS =
      RolexOptions.defaults()
          .withComputeServers(2)
          .with("node-bytes", "384")
          .with("delta", "4")
          .with("epsilon", "4")
          .with("leaves-max", "8")
          .with("lock-wait-millis", "20");

  /** What is left of the verbs. */
  enum Break {
    /** None of them takes effect. */
    LOST,
    /** All of them take effect, and nobody is told. */
    DONE_AND_UNKNOWN,
    /** All but the last take effect. */
    ALL_BUT_ONE_LOST,
    /** Nothing takes effect from then on. */
    DEATH,
    /** The verbs take effect, and nothing does after them. */
    DEATH_BEHIND;

    private boolean isForGood() {
      return this == DEATH || this == DEATH_BEHIND;
    }

    private void happen(HookedFabric fabric, HookedFabric.Posting posting) {
      switch (this) {
        case LOST -> {}
        case DONE_AND_UNKNOWN -> {
          posting.post();
          throw new UnknownOutcomeException("done, not answered");
        }
        case ALL_BUT_ONE_LOST -> posting.postFirst(posting.verbs().size() - 1);
        case DEATH -> fabric.hookEach(verbs -> true, dead -> die());
        case DEATH_BEHIND -> {
          posting.post();
          fabric.hookEach(verbs -> true, dead -> die());
        }
      }
      die();
    }

    private static void die() {
      throw new MemoryServerLostException("lost by a test");
    }
  }

  /** What retraining does with models. */
  enum Change {
    /** One becomes several, in a page that takes them. */
    SPLIT,
    /** One becomes so many that its page is divided. */
    SPLIT_OF_PAGES,
    /** Several become one, and pages, too. */
    MERGE;

    /** Makes models due; returns what the index holds then. */
    private NavigableMap<Long, Long> prepare(RolexIndex index, Session session) {
      NavigableMap<Long, Long> model = new TreeMap<>();
      LongStream.rangeClosed(1, ENTRIES).forEach(i -> model.put(i * STEP, i));
      index.bulkLoad(Entries.of(model), 0.7);
      if (this == MERGE) {
        for (long key = 100 * STEP; key <= 180 * STEP; key += STEP) {
          session.remove(key);
          model.remove(key);
        }
        return model;
      }
      int added = this == SPLIT ? 14 : 90;
      for (long key = 100 * STEP + 1; key <= 100 * STEP + added; key++) {
        session.put(key, key);
        model.put(key, key);
      }
      return model;
    }
  }

  private static void checkAll(Session session, NavigableMap<Long, Long> model, String what) {
    model.forEach((key, value) -> {
      assertThat(session.get(key)).as("%s: key %d", what, key).isTrue();
      assertThat(session.value()).as(what).isEqualTo(value);
      assertThat(key % STEP == 0 && session.get(key + 99))
          .as("%s: key %d", what, key + 99)
          .isFalse();
    });
    NavigableMap<Long, Long> seen = new TreeMap<>();
    session.scan(
        Long.MIN_VALUE,
        Long.MAX_VALUE,
        (key, value) -> {
          assertThat(seen.put(key, value)).as(what).isNull();
          return true;
        });
    assertThat(seen).as(what).isEqualTo(model);
  }

  /** Counts the posts that all of the retraining takes. */
  private static int posts(Change change) {
    int[] posts = {0};
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 1201)).withTasksByHand();
        RolexIndex index = OPTIONS.create(fabric, 0, 1);
        Session session = index.session()) {
      change.prepare(index, session);
      fabric.hookEach(
          verbs -> true,
          posting -> {
            posts[0]++;
            posting.post();
          });
      fabric.runTasks();
      fabric.unhook();
      return posts[0];
    }
  }

  @ParameterizedTest
  @EnumSource(Break.class)
  void shouldLoseNothingWhereverItBreaks(Break how) {
    for (Change change : Change.values()) {
      int posts = posts(change);
      System.out.println(change + ": posts=" + posts);
      int step = Math.max(1, posts / (how.isForGood() ? 7 : 20));
      for (int post = 0; post < posts; post += step) {
        breakAt(how, change, post);
      }
    }
  }

  private static void breakAt(Break how, Change change, int post) {
    String what = change + " " + how + " at post " + post;
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 1201)).withTasksByHand();
        RolexIndex index = OPTIONS.create(fabric, 0, 1);
        Session session = index.session()) {
      NavigableMap<Long, Long> model = change.prepare(index, session);
      int[] left = {post};
      fabric.hookNext(verbs -> left[0]-- == 0, posting -> how.happen(fabric, posting));
      fabric.runTasks();
      assertThat(fabric.unhook()).as(what).isPositive();
      checkAll(session, model, what);
      long others;
      try (RolexIndex joined = OPTIONS.with("retraining", "off").join(fabric, 1, 1);
          Session other = joined.session()) {
        checkAll(other, model, what);
        write(how, other, model, what);
        checkAll(session, model, what);
        others = joined.poolBytes();
      }
      if (!how.isForGood()) {
        write(how, session, model, what);
        fabric.runTasks();
        checkAll(session, model, what);
        Tree tree = OPTIONS.walk(fabric);
        assertThat(tree.problems()).as(what).isEmpty();
        assertThat(tree.entries()).as(what).isEqualTo(model);
        assertThat(tree.bytes()).as(what).isEqualTo(index.poolBytes() + others);
      }
    }
  }

  /**
   * Changes an entry of every model; where the retrainer died, those it held say who holds them.
   */
  private static void write(
      Break how, Session session, NavigableMap<Long, Long> model, String what) {
    int written = 0;
    for (long key = STEP; key <= ENTRIES * STEP; key += 3 * STEP) {
      long value = model.getOrDefault(key, 0L) + 1;
      long changed = key;
      Throwable failure = catchThrowable(() -> session.put(changed, value));
      if (failure == null) {
        model.put(key, value);
        written++;
      } else {
        assertThat(how.isForGood()).as("%s: %s", what, failure).isTrue();
        assertThat(failure)
            .as(what)
            .isInstanceOf(StalledException.class)
            .hasMessageContaining("holder=computeServer 0 session ");
      }
    }
    assertThat(written).as(what).isGreaterThan(ENTRIES / 6);
  }

  @Test
  void shouldGoOnWithItsNextModelAfterAFailure() {
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 1202)).withTasksByHand();
        RolexIndex index = OPTIONS.create(fabric, 0, 1);
        Session session = index.session()) {
      Change.SPLIT.prepare(index, session);
      fabric.hookNext(
          verbs -> true,
          posting -> {
            throw new MemoryServerLostException("lost by a test");
          });
      fabric.runTasks();
      assertThat(fabric.unhook()).isPositive();
      assertThat(index.retrainings().failed()).isPositive();
      assertThat(index.retrainings().lastFailure()).hasMessageContaining("lost by a test");
      for (long key = 300 * STEP + 1; key < 300 * STEP + 40; key++) {
        session.put(key, key);
      }
      fabric.runTasks();
      assertThat(index.cache().admissions()).isPositive();
    }
  }
}
