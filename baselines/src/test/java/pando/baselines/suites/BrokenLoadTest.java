package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import pando.index.Break;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.Tree;
import pando.index.TreeCheck;

/** A bulk load that breaks at each of its verbs in turn: nothing is loaded, or all. */
@FewRows
@Timeout(300)
class BrokenLoadTest {
  private static final int KEYS = 60;

  /** Of so many postings one is broken in each way, others in other ways; in a campaign, all. */
  private static final int ONE_OF = Seeds.count(7, 4, 1);

  static Stream<Arguments> systemsAndBreaks() {
    return SystemUnderTest.ALL.stream()
        .flatMap(system -> Stream.of(Break.values()).map(how -> Arguments.of(system, how)));
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("systemsAndBreaks")
  void shouldLoadNothingOrAll(SystemUnderTest system, Break how) {
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(Seeds.of(931)), KEYS);
    boolean broken = true;
    int posting = how.place() % ONE_OF;
    for (; broken; posting += ONE_OF) {
      broken = breaks(system.tiny(3), how, posting, model);
    }
    assertThat(posting).isGreaterThan(10);
  }

  private static boolean breaks(
      Configuration configuration, Break how, int posting, NavigableMap<Long, Long> model) {
    boolean broken;
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 931)).withTasksByHand()) {
      try (RangeIndex index = configuration.create(fabric);
          Session session = index.session()) {
        session.put(1, 1);
        session.remove(1);
        int[] left = {posting};
        fabric.hookNext(verbs -> left[0]-- == 0, lost -> how.happen(fabric, lost, 0));
        Throwable failure = catchThrowable(() -> index.bulkLoad(Entries.of(model), 0.7));
        broken = fabric.unhook() > 0;
        assertThat(broken || failure == null).as("posting=%d", posting).isTrue();
        if (Entries.scan(session).isEmpty()) {
          session.put(1, 1);
          session.remove(1);
          index.bulkLoad(Entries.of(model), 0.7);
        }
        Entries.check(session, model, "posting=" + posting);
      }
      configuration.join(fabric, 0, 3).close();
      Tree tree = TreeCheck.walk(fabric, configuration);
      assertThat(tree.entries()).as("posting=%d", posting).isEqualTo(model);
    }
    return broken;
  }
}
