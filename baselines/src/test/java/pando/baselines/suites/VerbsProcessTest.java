package pando.baselines.suites;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import pando.fabric.Fabric;
import pando.fabric.memory.Closing;
import pando.fabric.verbs.Cards;
import pando.index.IndexProcess;
import pando.index.Seeds;
import pando.index.SystemUnderTest;

/**
 * Indexes over RDMA, each with two memory servers and two compute processes in processes of their
 * own, of which one is killed and comes back. Only where there is a card.
 */
@Tag("verbs")
@EnabledIfSystemProperty(named = "pando.verbs", matches = "true")
class VerbsProcessTest {
  /** Rounds before the kill, and after it. */
  private static final int ROUNDS = Seeds.count(2, 4, 280);

  /** As many compute servers each process has. */
  private static final int FIRST = 2;

  /** Without a campaign, one of each kind; those that {@code -Dpando.systems} names, if it does. */
  private static final List<SystemUnderTest> SYSTEMS =
      Stream.of(System.getProperty("pando.systems", systems()).split(","))
          .map(SystemUnderTest::of)
          .toList();

  private final String card = Cards.names().getFirst();
  private final List<SharedKeys> indexes = new ArrayList<>();

  /** For each index, where its memory servers are. */
  private final List<String> places = new ArrayList<>();

  private static String systems() {
    return Boolean.getBoolean("pando.campaign") ? "dex,orca,sherman,deft,rolex" : "dex,orca,deft";
  }

  @Test
  @Timeout(value = 3, unit = TimeUnit.HOURS)
  void shouldShareIndexesWithAProcessThatIsKilledAndComesBack() throws Exception {
    long seed = Seeds.of(1701);
    try (IndexProcess first = IndexProcess.verbsMemoryServers(card, 0, SYSTEMS.size());
        IndexProcess second = IndexProcess.verbsMemoryServers(card, 1, SYSTEMS.size())) {
      try {
        for (int i = 0; i < SYSTEMS.size(); i++) {
          places.add(first.places().get(i) + "," + second.places().get(i));
          Fabric fabric = IndexProcess.verbsFabric(List.of(places.get(i).split(",")), card, 1);
          indexes.add(new SharedKeys(SYSTEMS.get(i), i, fabric, FIRST, ROUNDS, seed));
        }
        killAndComeBack();
      } finally {
        // While the memory servers still serve.
        Closing.all(indexes.reversed().stream().<Runnable>map(keys -> keys::close).toList());
      }
    }
  }

  private void killAndComeBack() throws Exception {
    try (IndexProcess other = computeServers()) {
      for (SharedKeys keys : indexes) {
        keys.share(other, true);
      }
      other.kill();
    }
    try (IndexProcess other = computeServers()) {
      for (SharedKeys keys : indexes) {
        keys.checkAll(other);
        keys.share(other, false);
        System.out.println(keys);
      }
    }
  }

  private IndexProcess computeServers() throws IOException {
    return IndexProcess.verbsComputeServers(SYSTEMS, FIRST, card, places);
  }
}
