package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.Configuration;
import pando.index.Costs;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;

/**
 * Scans down take the verbs of scans up over the same entries: but for the first leaf and the last,
 * and for what is drawn to be cached.
 */
@FewRows(products = 1, baselines = 0)
@Timeout(300)
class ScanCostTest {
  private static final int ENTRIES = 20_000;
  private static final int SCANS = 400;
  private static final long STEP = 1_000;

  private final NavigableMap<Long, Long> model = Entries.spaced(ENTRIES, STEP);

  @Tag("campaign")
  @ParameterizedTest(name = "{0} entries={1} {2}")
  @CsvSource({
    "DEX,       5,     cache-bytes=256KiB",
    "DEX,       1000,  cache-bytes=256KiB",
    "ORCA,      5,     image-share=0",
    "ORCA,      100,   image-share=0",
    "ORCA,      1000,  image-share=0",
    "ORCA,      100,   cache-bytes=256KiB image-share=0.5",
    "SHERMAN,   5,     cache-bytes=8MiB",
    "SHERMAN,   1000,  cache-bytes=8MiB",
    "SHERMAN,   1000,  cache-bytes=8KiB",
    "FG,        100,   validation=versions",
    "P_SHERMAN, 100,   cache-bytes=8MiB",
    "DEFT,      5,     cache-bytes=8MiB",
    "DEFT,      1000,  cache-bytes=8MiB",
    "DEFT,      1000,  cache-bytes=8KiB",
    "ROLEX,     5,     retraining=off",
    "ROLEX,     100,   retraining=off",
    "ROLEX,     1000,  retraining=off",
    "XSTORE_D,  100,   retraining=off",
    "SMART,     5,     cache-bytes=8MiB",
    "SMART,     1000,  cache-bytes=8MiB",
    "SMART,     1000,  cache-bytes=64KiB",
    "P_SMART,   100,   cache-bytes=8MiB",
  })
  void shouldScanDownAtTheCostOfScansUp(SystemUnderTest system, int entries, String settings) {
    Configuration configuration = system.defaults().with(settings);
    Percentage near = Percentage.withPercentage(settings.contains("image-share=0.") ? 10 : 4);
    for (boolean bounded : new boolean[] {false, true}) {
      VerbCounters up = scan(configuration, entries, false, bounded);
      VerbCounters down = scan(configuration, entries, true, bounded);
      System.out.println("up: " + Costs.text(up) + "; down: " + Costs.text(down));
      assertThat(down.reads).as("READs").isCloseTo(up.reads, near);
      assertThat(down.roundTrips).as("round trips").isCloseTo(up.roundTrips, near);
      assertThat(down.bytesIn).as("bytes").isCloseTo(up.bytesIn, near);
      assertThat(down.writes + down.atomics + down.calls).as("others").isZero();
    }
  }

  /**
   * Scans some entries at random places.
   *
   * @param bounded whether the last key ends a scan, not the limit
   */
  private VerbCounters scan(
      Configuration configuration, int entries, boolean down, boolean bounded) {
    SplittableRandom random = new SplittableRandom(Seeds.of(551));
    try (Fabric fabric = Pools.open(2, 16 << 20, 551);
        RangeIndex index = configuration.create(fabric);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      Entries.scan(session);
      return Costs.of(
          index,
          () -> {
            for (int i = 0; i < SCANS; i++) {
              long least = (1 + random.nextInt(ENTRIES - entries)) * STEP;
              long greatest = least + (entries - 1) * STEP;
              long limit = bounded ? Long.MAX_VALUE : entries;
              long visited =
                  down
                      ? session.scanDown(
                          greatest, bounded ? least : Long.MIN_VALUE, limit, (_, _) -> true)
                      : session.scan(
                          least, bounded ? greatest : Long.MAX_VALUE, limit, (_, _) -> true);
              assertThat(visited).isEqualTo(entries);
            }
          });
    }
  }
}
