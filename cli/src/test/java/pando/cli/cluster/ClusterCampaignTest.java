package pando.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import pando.cli.cluster.ClusterCampaign.Kind;

/**
 * Servers of a cluster are killed, and ranges change, while clients check every answer. {@code
 * -Dpando.soak=true} draws 500 cycles of all kinds; {@code -Dpando.campaign.cycles=N} so many,
 * {@code .kinds=LEADER,PAUSE} of these alone. {@code .seed}, {@code .system}, {@code .session} (in
 * seconds), {@code .lease} (in ms), {@code .cache}, {@code .removes=true}, {@code .data=true} and
 * {@code .machines=THREE} (of {@code testbed/network}) change the rest.
 */
@EnabledOnOs(OS.LINUX)
@Tag("campaign")
@Timeout(36_000)
final class ClusterCampaignTest {
  private static final String PREFIX = "pando.campaign";
  private static final boolean IS_LONG = Boolean.getBoolean("pando.soak");
  private static final int CYCLES = Integer.getInteger(PREFIX + ".cycles", IS_LONG ? 500 : 2);

  /** Compute servers that may lose their sessions as the machine has other work. */
  private static final int UNFORESEEN_MAX = 1 + CYCLES / 100;

  private static final long SEED = Long.getLong(PREFIX + ".seed", 3);
  private static final boolean REMOVES = Boolean.getBoolean(PREFIX + ".removes");

  private static final TestedCluster.Plan PLAN =
      new TestedCluster.Plan(
          Machines.valueOf(System.getProperty(PREFIX + ".machines", "ONE")),
          System.getProperty(PREFIX + ".system", "dex"),
          2,
          3,
          Integer.getInteger(PREFIX + ".session", IS_LONG ? 2 : 5),
          Integer.getInteger(PREFIX + ".lease", IS_LONG ? 500 : 1_000),
          System.getProperty(PREFIX + ".cache", "96KiB"),
          Boolean.getBoolean(PREFIX + ".data"));

  /** With the logs of servers; kept if the campaign fails. */
  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private Path directory;

  private final SplittableRandom random = new SplittableRandom(SEED);
  private final Tally tally = new Tally();
  private int clusters;

  private ClusterCampaign start() throws IOException {
    Path own = Files.createDirectory(directory.resolve("cluster-" + clusters++));
    return new ClusterCampaign(PLAN, own, random.split(), REMOVES, tally, System.out);
  }

  private static List<Kind> kinds() {
    String kinds = System.getProperty(PREFIX + ".kinds");
    if (kinds != null) {
      return Stream.of(kinds.split(",")).map(Kind::valueOf).toList();
    }
    return IS_LONG
        ? Stream.of(Kind.values()).filter(kind -> !kind.needsMore()).toList()
        : List.of(Kind.LEADER_IN_CHANGE, Kind.ZOOKEEPER_AND_OWNER);
  }

  private void report() {
    System.out.printf("seed=%d, plan=%s, removes=%s, clusters=%d%n", SEED, PLAN, REMOVES, clusters);
    tally.print(System.out);
  }

  @Test
  void shouldAnswerRightWhileServersAreKilled() throws Exception {
    List<Kind> kinds = kinds();
    int cycle = 0;
    try {
      while (cycle < CYCLES && tally.wrong().isEmpty()) {
        try (ClusterCampaign campaign = start()) {
          while (cycle < CYCLES && !campaign.isSpent() && tally.wrong().isEmpty()) {
            campaign.cycle(
                cycle, kinds.get(IS_LONG ? random.nextInt(kinds.size()) : cycle % kinds.size()));
            cycle++;
          }
        }
      }
    } finally {
      report();
    }
    assertThat(tally.wrong()).isEmpty();
    assertThat(tally.answers()).isPositive();
    if (!PLAN.system().equals("p-sherman")) {
      assertThat(tally.counts().lostWrites()).isZero();
    }
    assertThat(tally.lostAges().getMaxValue()).isLessThanOrEqualTo(Tally.LOST_AGE_MAX);
    assertThat(tally.unforeseenLosses()).isLessThanOrEqualTo(UNFORESEEN_MAX);
  }

  @Test
  void shouldAnswerRightWhileRangesChange() throws Exception {
    try (ClusterCampaign campaign = start()) {
      Histogram waits = campaign.changeUnderLoad(Integer.getInteger(PREFIX + ".rounds", 10));
      System.out.printf(
          Locale.ROOT,
          "operations during changes: %d, p50=%.2f ms, p99=%.2f ms, longest=%.2f ms%n",
          waits.getTotalCount(),
          waits.getValueAtPercentile(50) / 1e3,
          waits.getValueAtPercentile(99) / 1e3,
          waits.getMaxValue() / 1e3);
    } finally {
      report();
    }
    assertThat(tally.wrong()).isEmpty();
    assertThat(tally.failures()).isZero();
  }
}
