package pando.bench.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import pando.bench.cluster.ClusterCampaign.Kind;

/** Servers of a cluster are killed, while clients check every answer. */
@EnabledOnOs(OS.LINUX)
@Timeout(3_600)
final class ClusterCampaignTest {
  private static final int CYCLES = Integer.getInteger("pando.campaign.cycles", 6);
  private static final long SEED = Long.getLong("pando.campaign.seed", 1);
  private static final String SYSTEM = System.getProperty("pando.campaign.system", "dex");

  @TempDir private Path directory;

  @Test
  void shouldGiveNoWrongAnswer() throws InterruptedException {
    TestedCluster.Plan plan =
        new TestedCluster.Plan(Machines.ONE, SYSTEM, 2, 3, 2, 500, "131072");
    System.out.println("seed: " + SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    Kind[] kinds = Kind.values();
    try (ClusterCampaign campaign = new ClusterCampaign(plan, directory, SEED, Boolean.getBoolean("pando.campaign.removes"), System.out)) {
      for (int cycle = 0; cycle < CYCLES; cycle++) {
        Kind kind = kinds[random.nextInt(kinds.length - 1)];
        if (!campaign.cycle(cycle, kind)) {
          break;
        }
      }
      campaign.report();
      assertThat(campaign.tally().wrong()).isEmpty();
    }
  }
}
