package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;

/** What compute servers hold in caches, as they tell it. */
@FewRows
@Timeout(300)
class CachedBytesTest {
  private static final int ENTRIES = 20_000;
  private static final int COMPUTE_SERVERS = 2;

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldGrowWithWhatIsRead(SystemUnderTest system) {
    SplittableRandom random = new SplittableRandom(Seeds.of(261));
    Configuration configuration = system.tiny(COMPUTE_SERVERS);
    NavigableMap<Long, Long> model = Entries.random(random, ENTRIES);
    try (Fabric fabric = Pools.open(2, 16 << 20, 261)) {
      RangeIndex index = configuration.create(fabric);
      long most;
      try (index) {
        index.bulkLoad(Entries.of(model), 0.7);
        long empty = index.cachedBytes();
        try (Session session = index.session()) {
          model.keySet().forEach(session::get);
        }
        most = index.cachedBytes();
        if (system.systemName().equals("emt-d")) {
          assertThat(most).as("nothing is cached").isZero();
        } else {
          assertThat(most).isGreaterThan(empty).isLessThan(index.poolBytes());
        }
      }
      // Nobody is there who could not be asked.
      assertThat(index.cachedBytes()).isBetween(0L, most);
    }
  }

  @Test
  void shouldNotExceedTheRoomForNodes() {
    SplittableRandom random = new SplittableRandom(Seeds.of(262));
    Configuration configuration = SystemUnderTest.DEX.tiny(COMPUTE_SERVERS);
    long room = COMPUTE_SERVERS * configuration.options().cacheBytes();
    NavigableMap<Long, Long> model = Entries.random(random, ENTRIES);
    try (Fabric fabric = Pools.open(2, 16 << 20, 262);
        RangeIndex index = configuration.create(fabric);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      assertThat(index.cachedBytes()).isZero();
      model.keySet().forEach(session::get);
      assertThat(index.cachedBytes()).isBetween(room / 2, room);
    }
  }
}
