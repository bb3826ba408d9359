package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.Configuration;
import pando.index.Costs;
import pando.index.Entries;
import pando.index.IndexOptions;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;

/** How near the estimate of the number of entries is, and what it takes. */
@FewRows
@Timeout(300)
class SizeEstimateTest {
  private static final int ENTRIES = 12_000;
  private static final int MANY = 100_000;
  private static final Percentage NEAR = Percentage.withPercentage(10);

  /** What an estimate of one partition may take with nodes of the usual size. */
  private static final int READS_MAX = 600;

  /** As that, where each of up to 1,000 entries that are counted is a READ. */
  private static final int READS_OF_ENTRIES_MAX = 1_900;

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldCountFewEntries(SystemUnderTest system) {
    try (Fabric fabric = Pools.open(2, 8 << 20, 571);
        RangeIndex index = system.tiny(2).create(fabric);
        Session session = index.session()) {
      assertThat(session.sizeEstimate()).isZero();
      session.put(Long.MAX_VALUE, 1);
      assertThat(session.sizeEstimate()).isEqualTo(1);
      for (long i = 0; i < 998; i++) {
        session.put(i * i * i - (1 << 28), i);
      }
      assertThat(session.sizeEstimate()).isEqualTo(999);
      session.remove(Long.MAX_VALUE);
      assertThat(session.sizeEstimate()).isEqualTo(998);
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldBeNear(SystemUnderTest system) {
    long seed = Seeds.of(572);
    SplittableRandom random = new SplittableRandom(seed);
    NavigableMap<Long, Long> model = Entries.random(random, ENTRIES);
    try (Fabric fabric = Pools.open(2, 16 << 20, seed);
        RangeIndex index = system.tiny(2).with("cache-bytes", "256KiB").create(fabric);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      check("loaded", index, session, model);
      for (long key : model.keySet().stream().filter(_ -> random.nextInt(10) < 4).toList()) {
        session.remove(key);
        model.remove(key);
      }
      check("thinned out", index, session, model);
      long middle = model.ceilingKey(0L);
      for (int i = 0; i < ENTRIES; i++) {
        long key = middle + random.nextInt(10 * ENTRIES);
        session.put(key, i);
        model.put(key, (long) i);
      }
      check("one place grown", index, session, model);
      for (long key : model.headMap(0L).keySet().stream().toList()) {
        session.remove(key);
      }
      model.headMap(0L).clear();
      check("half removed", index, session, model);
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldTakeSomeHundredReads(SystemUnderTest system) {
    long seed = Seeds.of(573);
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(seed), MANY);
    IndexOptions options = system.defaults().options().withComputeServers(1);
    Configuration configuration = new Configuration(options).with("cache-bytes", "1MiB");
    try (Fabric fabric = Pools.open(2, 32 << 20, seed);
        RangeIndex index = configuration.create(fabric);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      VerbCounters verbs = check("loaded", index, session, model);
      boolean single = system.systemName().endsWith("smart");
      assertThat(verbs.reads).isLessThan(single ? READS_OF_ENTRIES_MAX : READS_MAX);
      assertThat(verbs.writes + verbs.atomics).isZero();
      // EMT-D scans the first entries by CALLs.
      assertThat(verbs.calls).isLessThanOrEqualTo(system.systemName().equals("emt-d") ? 4 : 0);
    }
  }

  private static VerbCounters check(
      String what, RangeIndex index, Session session, NavigableMap<Long, Long> model) {
    long[] size = {0};
    VerbCounters verbs = Costs.of(index, () -> size[0] = session.sizeEstimate());
    System.out.println(
        "%s: %s of %s, %s".formatted(what, size[0], model.size(), Costs.text(verbs)));
    assertThat(size[0]).as(what).isCloseTo(model.size(), NEAR);
    return verbs;
  }
}
