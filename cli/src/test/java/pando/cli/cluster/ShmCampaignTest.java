package pando.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import pando.cli.cluster.ShmCampaign.Kind;
import pando.fabric.MemoryServerLostException;

/**
 * Processes that share a pool stand still, and are killed, while clients check every answer. {@code
 * -Dpando.campaign.cycles=N} draws so many cycles, {@code .kinds=KILL,PAUSE} of these alone. {@code
 * .seed}, {@code .system}, {@code .cache} and {@code .removes=true} change the rest.
 */
@EnabledOnOs(OS.LINUX)
@Tag("campaign")
@Timeout(36_000)
final class ShmCampaignTest {
  private static final String PREFIX = "pando.campaign";
  private static final int CYCLES =
      Integer.getInteger(PREFIX + ".cycles", Boolean.getBoolean("pando.soak") ? 500 : 8);
  private static final long SEED = Long.getLong(PREFIX + ".seed", 3);
  private static final boolean REMOVES = Boolean.getBoolean(PREFIX + ".removes");
  private static final ShmPool.Plan PLAN =
      new ShmPool.Plan(
          System.getProperty(PREFIX + ".system", "orca"),
          2,
          3,
          System.getProperty(PREFIX + ".cache", "96KiB"));

  /** With the logs of servers; kept if the campaign fails. */
  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private Path directory;

  private final Tally tally = new Tally();

  @Test
  void shouldAnswerRightWhileProcessesStandStillAndEnd() throws Exception {
    SplittableRandom random = new SplittableRandom(SEED);
    List<Kind> kinds =
        Stream.of(System.getProperty(PREFIX + ".kinds", all()).split(","))
            .map(Kind::valueOf)
            .toList();
    int cycle = 0;
    int pools = 0;
    try {
      while (cycle < CYCLES && tally.wrong().isEmpty()) {
        try (ShmCampaign campaign = start(pools++, random.split())) {
          while (cycle < CYCLES && !campaign.isSpent() && tally.wrong().isEmpty()) {
            campaign.cycle(cycle, kinds.get(cycle % kinds.size()));
            cycle++;
          }
        }
      }
    } finally {
      System.out.printf("seed=%d, plan=%s, removes=%s, pools=%d%n", SEED, PLAN, REMOVES, pools);
      tally.print(System.out);
    }
    assertThat(tally.wrong()).isEmpty();
    assertThat(tally.answers()).isPositive();
    assertThat(tally.lostAges().getMaxValue()).isLessThanOrEqualTo(Tally.LOST_AGE_MAX);
    if (PLAN.outlivesKills()) {
      assertThat(tally.failures()).isEqualTo(tally.failures(MemoryServerLostException.class));
    }
  }

  private static String all() {
    return Stream.of(Kind.values())
        .filter(kind -> PLAN.hasRanges() || !kind.needsRanges())
        .map(Kind::name)
        .collect(Collectors.joining(","));
  }

  private ShmCampaign start(int pool, SplittableRandom random) throws IOException {
    Path own = Files.createDirectory(directory.resolve("pool-" + pool));
    return new ShmCampaign(PLAN, own, random, REMOVES, tally, System.out);
  }
}
