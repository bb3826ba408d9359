package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.index.Act;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.TreeCheck;
import pando.index.orca.OrcaIndex;

/**
 * Another session changes entries before or behind each of an operation's verbs in turn, as far as
 * no lock keeps it out. What the operation returns and what the index holds is then as if it had
 * taken place at once, before, between or behind the other's changes; scans take each leaf at once,
 * and what they return is another test's. Not for DEX: its operations wait for each other inside a
 * compute server, and a hook has but one thread.
 */
@FewRows
@Timeout(600)
class VerbRacesTest {
  /**
   * How many kinds of changes are tried at each verb, before it and behind; else the next in turn.
   */
  private static final int MEANWHILES = Seeds.count(1, 2, 2 * Meanwhile.values().length);

  /** Where operations post more lists of verbs, some are left out. */
  private static final int POSTINGS_MAX = Seeds.count(20, 160);

  private static final int EVICTING = 400;
  private static final long FAR = 1_000_000;

  private static final String NOT_DONE = "not done";

  private static final List<String> SYSTEMS =
      List.of(
          "ORCA delta-changes=2 cache-bytes=16KiB",
          "SHERMAN validation=checksum",
          "P_SHERMAN validation=lines",
          "FG validation=versions",
          "DEFT validation=opdv",
          "DEFT validation=checksum sx-locks=off",
          "ROLEX retraining=on",
          "XSTORE_D retraining=on",
          "EMT_D kept-nodes=2",
          "SMART reserve=steps combining=off delegation=off",
          "P_SMART reserve=steps combining=off delegation=off");

  private static final List<String> MORE_SYSTEMS =
      List.of(
          "ORCA neighbours=on",
          "ORCA delta-changes=2 twin=off cache-bytes=16KiB",
          "SHERMAN validation=lines",
          "SHERMAN validation=versions",
          "FG validation=checksum",
          "DEFT validation=versions",
          "DEFT validation=checksum",
          "DEFT validation=opdv hash-leaves=off segments=off");

  /** What the other session does. */
  enum Meanwhile {
    ADDS,
    REMOVES,
    SAME_KEY,
    /** Looks for keys that are not there, so that what is cached has to go. */
    EVICTS;

    private List<Act> acts(long key) {
      return switch (this) {
        case ADDS -> around(key).mapToObj(each -> new Act(Act.Kind.PUT, each, -each)).toList();
        case REMOVES -> around(key).mapToObj(each -> new Act(Act.Kind.REMOVE, each, 0)).toList();
        case SAME_KEY ->
            List.of(
                new Act(Act.Kind.PUT, key, -1),
                new Act(Act.Kind.REMOVE, key, 0),
                new Act(Act.Kind.PUT_IF_ABSENT, key, -2));
        case EVICTS ->
            LongStream.range(0, EVICTING)
                .mapToObj(i -> new Act(Act.Kind.GET, FAR + i * FAR, 0))
                .toList();
      };
    }

    /** Returns a key and enough others near it to split leaves, or to merge them. */
    private static LongStream around(long key) {
      return LongStream.range(0, 40).map(i -> key + (i % 2 == 0 ? i / 2 : -i / 2) * 3);
    }
  }

  static Stream<String> systems() {
    Stream<String> more = MORE_SYSTEMS.stream().limit(Seeds.count(0, MORE_SYSTEMS.size()));
    return Stream.concat(SYSTEMS.stream(), more);
  }

  @ParameterizedTest
  @MethodSource("systems")
  void shouldTakePlaceAtOnceWhateverOthersDoBetweenItsVerbs(String settings) {
    String[] parts = settings.split(" ", 2);
    Configuration configuration =
        SystemUnderTest.of(parts[0]).tiny(2).with(parts[1]).withLockWait(2);
    int tries = 0;
    int races = 0;
    List<Way> ways = Way.all(configuration);
    int postings = ways.stream().mapToInt(way -> way.posted().size()).sum();
    int most = Math.ceilDiv(postings, POSTINGS_MAX);
    int step = Seeds.count(most, most, 1);
    SplittableRandom random = new SplittableRandom(Seeds.of(983));
    for (Way way : ways) {
      for (int posting = 0; posting < way.posted().size(); posting++) {
        if (random.nextInt(step) != 0) {
          continue;
        }
        for (int i = 0; i < MEANWHILES; i++) {
          Meanwhile meanwhile = Meanwhile.values()[tries % Meanwhile.values().length];
          boolean behind = tries++ / Meanwhile.values().length % 2 == 1;
          races += race(configuration, way, posting, meanwhile, behind) ? 1 : 0;
        }
      }
    }
    assertThat(races)
        .as("operations that others changed something in")
        .isGreaterThan(Seeds.count(3, 10));
  }

  /** Tells whether the other session could change something. */
  private static boolean race(
      Configuration configuration, Way way, int posting, Meanwhile meanwhile, boolean behind) {
    String what =
        "%s behind %s others, posting=%s, %s, behind=%s"
            .formatted(way.act(), way.before().size(), posting, meanwhile, behind);
    NavigableMap<Long, Long> before = new TreeMap<>();
    List<Act> done = new ArrayList<>();
    try (HookedFabric fabric = Way.open()) {
      RangeIndex index = configuration.create(fabric);
      NavigableMap<Long, Long> held;
      boolean raced;
      try (index;
          Session session = index.session();
          Session other = index.session()) {
        way.prepare(index, session, before);
        int[] left = {posting};
        fabric.hookNext(
            verbs -> left[0]-- == 0,
            verbs -> {
              if (behind) {
                verbs.post();
              }
              doAll(meanwhile.acts(way.act().key()), other, done);
              if (!behind) {
                verbs.post();
              }
            });
        Object found = NOT_DONE;
        try {
          found = way.act().run(session);
        } catch (StalledException _) {
          // The other session gave up beside this one's lock, and keeps its ticket until it goes
          // on.
        }
        fabric.unhook();
        held = Entries.scan(other);
        check(before, done, way.act(), found, held, what);
        Entries.check(session, held, what);
        if (index instanceof OrcaIndex orca) {
          assertThat(orca.audit()).as(what).isEmpty();
        }
        raced = !NOT_DONE.equals(found) && (!done.isEmpty() || meanwhile == Meanwhile.EVICTS);
      } catch (RuntimeException e) {
        throw new AssertionError(what, e);
      }
      assertThat(TreeCheck.walk(fabric, configuration).entries()).as(what).isEqualTo(held);
      return raced;
    }
  }

  /** Does changes until a lock is in the way; one that is not told apart from done is looked up. */
  private static void doAll(List<Act> acts, Session session, List<Act> done) {
    for (Act act : acts) {
      try {
        act.run(session);
        if (act.kind() != Act.Kind.GET) {
          done.add(act);
        }
      } catch (StalledException _) {
        return;
      } catch (UnknownOutcomeException _) {
        @Nullable Long found = Entries.get(session, act.key());
        if (Objects.equals(found, act.kind() == Act.Kind.REMOVE ? null : act.value())) {
          done.add(act);
        }
        return;
      }
    }
  }

  /** Looks for an order of an operation and others' that explains what it found and left. */
  private static void check(
      NavigableMap<Long, Long> before,
      List<Act> others,
      Act act,
      @Nullable Object found,
      NavigableMap<Long, Long> held,
      String what) {
    List<NavigableMap<Long, Long>> ends = new ArrayList<>();
    List<@Nullable Object> explained = new ArrayList<>();
    for (int first = 0; first <= others.size(); first++) {
      NavigableMap<Long, Long> model = new TreeMap<>(before);
      others.subList(0, first).forEach(each -> each.run(model));
      @Nullable Object expected = NOT_DONE.equals(found) ? found : act.run(model);
      others.subList(first, others.size()).forEach(each -> each.run(model));
      ends.add(model);
      if (model.equals(held)) {
        explained.add(expected);
      }
    }
    assertThat(ends).as(what).contains(held);
    if (!act.isScan() || NOT_DONE.equals(found)) {
      assertThat(explained).as(what).contains(found);
    }
  }
}
