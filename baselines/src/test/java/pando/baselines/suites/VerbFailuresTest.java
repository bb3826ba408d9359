package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import pando.baselines.deft.DeftPokes;
import pando.fabric.MemoryServerLostException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.index.Act;
import pando.index.Break;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.Tree;
import pando.index.TreeCheck;

/**
 * Breaks operations of every system at each of their verbs in turn, in several ways. The entry is
 * then as before or as after, all others stay, other sessions read and write the same keys, the
 * index can be closed, and what is in the pool is sound, with no lock held.
 */
@FewRows
@Timeout(300)
class VerbFailuresTest {
  private static final List<String> SYSTEMS =
      List.of(
          "DEX caching=on",
          "ORCA delta-changes=2",
          "ORCA image-share=0.4",
          "SHERMAN validation=checksum",
          "P_SHERMAN validation=lines",
          "FG validation=versions",
          "DEFT validation=opdv",
          "DEFT validation=checksum sx-locks=off",
          "ROLEX retraining=on",
          "XSTORE_D retraining=on",
          "SMART reserve=steps combining=off delegation=off",
          "P_SMART reserve=steps combining=off delegation=off",
          "EMT_D kept-nodes=2");

  private static final List<String> MORE_SYSTEMS =
      List.of(
          "DEX offloading=off",
          "DEX contrary=0.5",
          "SMART reserve=whole combining=off delegation=off",
          "ORCA neighbours=on",
          "ORCA twin=off",
          "SHERMAN validation=lines",
          "SHERMAN validation=versions",
          "SHERMAN validation=checksum combine=off local-locks=off",
          "P_SHERMAN validation=checksum",
          "FG validation=checksum",
          "DEFT validation=versions",
          "DEFT validation=checksum",
          "DEFT validation=opdv hash-leaves=off segments=off");

  /** Of so many verbs one is broken in each way, others in other ways; in a campaign, all. */
  private static final int ONE_OF = Seeds.count(11, 7, 1);

  static Stream<Arguments> systemsAndBreaks() {
    Stream<String> more = MORE_SYSTEMS.stream().limit(Seeds.count(0, MORE_SYSTEMS.size()));
    return Stream.concat(SYSTEMS.stream(), more)
        .flatMap(system -> Stream.of(Break.values()).map(how -> Arguments.of(how, system)));
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("systemsAndBreaks")
  void shouldLoseNothingWhereverAnOperationBreaks(Break how, String settings) {
    String[] parts = settings.split(" ", 2);
    SystemUnderTest system = SystemUnderTest.of(parts[0]);
    Configuration configuration = system.tiny(2).with(parts[1]).withLockWait(500);
    int broken = 0;
    int next = how.place();
    for (Way way : Way.all(configuration)) {
      for (int posting = 0; posting < way.posted().size(); posting++) {
        for (int verb = 0; verb < Math.max(way.posted().get(posting), 1); verb++) {
          if (next++ % ONE_OF == 0) {
            broken += breaks(configuration, way, how, posting, verb) ? 1 : 0;
          }
        }
      }
    }
    assertThat(broken).as("verbs broken").isGreaterThanOrEqualTo(10 / ONE_OF);
  }

  /** Tells whether to break a verb: of READs posted together, one stands for all. */
  private static boolean isWorthIt(VerbList verbs, int number, Break how) {
    boolean another = number > 0 && isRead(verbs, number) && isRead(verbs, number - 1);
    return !another && (how.isAnswered() || !DeftPokes.leavesTicket(verbs, how.done(number)));
  }

  private static boolean isRead(VerbList verbs, int number) {
    return number < verbs.size() && verbs.kind(number) == Kind.READ;
  }

  /** Breaks an operation at one verb; {@code false} where that is not worth it. */
  private static boolean breaks(
      Configuration configuration, Way way, Break how, int posting, int verb) {
    Act act = way.act();
    String what =
        act
            + " behind "
            + way.before().size()
            + " others: "
            + how
            + ", posting="
            + posting
            + ", verb="
            + verb;
    NavigableMap<Long, Long> model = new TreeMap<>();
    try (HookedFabric fabric = Way.open()) {
      RangeIndex index = configuration.create(fabric);
      try (index;
          Session session = index.session();
          Session other = index.session()) {
        way.prepare(index, session, model);
        @Nullable Long before = model.get(act.key());
        act.run(model);
        @Nullable Long after = model.get(act.key());
        int[] left = {posting};
        fabric.hookNext(
            verbs -> left[0]-- == 0 && isWorthIt(verbs, verb, how),
            broken -> how.happen(fabric, broken, verb));
        Throwable failure = catchThrowable(() -> act.run(session));
        if (fabric.unhook() == 0 && failure == null) {
          return false;
        }
        @Nullable Long found = Entries.get(other, act.key());
        checkOutcome(failure, before, after, found, what);
        Act.settle(model, act.key(), found);
        Entries.check(session, model, what);
        for (Session each : List.of(other, session)) {
          for (Act again : act.again()) {
            again.run(each);
            again.run(model);
          }
        }
        Entries.check(other, model, what);
      } catch (RuntimeException e) {
        throw new AssertionError(what, e);
      }
      Tree tree = TreeCheck.walk(fabric, configuration);
      assertThat(tree.entries()).as(what).isEqualTo(model);
      return true;
    }
  }

  private static void checkOutcome(
      @Nullable Throwable failure,
      @Nullable Long before,
      @Nullable Long after,
      @Nullable Long found,
      String what) {
    if (failure == null) {
      assertThat(found).as(what).isEqualTo(after);
    } else if (failure instanceof MemoryServerLostException) {
      assertThat(found).as(what).isEqualTo(before);
    } else {
      assertThat(failure)
          .as(what)
          .isInstanceOfAny(UnknownOutcomeException.class, OutOfMemoryError.class);
      assertThat(found).as(what).isIn(before, after);
    }
  }
}
