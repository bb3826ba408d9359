package pando.baselines.rolex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.TreeCheck;

/** Settings at their limits, and keys in extreme places. */
@Tag("campaign")
@Timeout(300)
class RolexShapesTest {
  private static final int OPERATIONS = 3_000;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "epsilon=1 delta=2 leaves-max=1",
        "epsilon=1 delta=2 leaves-max=63",
        "epsilon=1000 delta=2 leaves-max=63",
        "epsilon=1 delta=60 leaves-max=63",
        "epsilon=1000 delta=60 leaves-max=1",
        "epsilon=16 delta=16 leaves-max=2 retrain-fill=0.1",
        "epsilon=16 delta=16 leaves-max=63 retrain-fill=1 synonym-share=0",
      })
  void shouldServeExtremeKeys(String settings) {
    for (SystemUnderTest system :
        new SystemUnderTest[] {SystemUnderTest.of("rolex"), SystemUnderTest.of("xstore-d")}) {
      for (int loaded : new int[] {0, 1, 2, 2_000}) {
        serveExtremeKeys(system.tiny(2).with(settings), loaded);
      }
    }
  }

  private static void serveExtremeKeys(Configuration configuration, int loaded) {
    SplittableRandom random = new SplittableRandom(Seeds.of(1201));
    TreeMap<Long, Long> model = new TreeMap<>();
    for (int i = 0; i < loaded; i++) {
      long key =
          loaded == 1 ? Long.MIN_VALUE : i % 2 == 0 ? Long.MIN_VALUE + i : Long.MAX_VALUE - i / 2;
      model.put(key, (long) i);
    }
    try (Fabric fabric = Pools.open(2, 16 << 20, 1)) {
      RangeIndex index = configuration.create(fabric);
      try (index;
          Session session = index.session()) {
        index.bulkLoad(Entries.of(model), 1);
        for (int i = 0; i < OPERATIONS; i++) {
          long key = key(random);
          if (random.nextInt(3) > 0) {
            assertThat(session.put(key, i)).isEqualTo(model.put(key, (long) i) != null);
          } else {
            assertThat(session.remove(key)).isEqualTo(model.remove(key) != null);
          }
          long near = key(random);
          assertThat(session.ceiling(near)).isEqualTo(model.ceilingKey(near) != null);
          assertThat(session.floor(near)).isEqualTo(model.floorKey(near) != null);
          if (model.floorKey(near) != null) {
            assertThat(session.key()).isEqualTo(model.floorKey(near));
          }
        }
      }
      assertThat(TreeCheck.walk(fabric, configuration, index).entries()).isEqualTo(model);
    }
  }

  /** A key at either end, around zero, or in a dense row. */
  private static long key(SplittableRandom random) {
    int near = random.nextInt(200);
    return switch (random.nextInt(4)) {
      case 0 -> Long.MIN_VALUE + near;
      case 1 -> Long.MAX_VALUE - near;
      case 2 -> near - 100;
      default -> (1L << 40) + near;
    };
  }
}
