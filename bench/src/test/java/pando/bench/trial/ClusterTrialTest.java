package pando.bench.trial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.index.Systems;
import pando.index.bytes.ByteOptions;
import pando.index.orca.OrcaOptions;
import pando.sim.fault.Fault;

/**
 * Whole clusters under faults. Replay a seed with {@code pando simulate --cluster --seeds 1
 * --seed}.
 */
@Timeout(value = 2, unit = TimeUnit.HOURS)
class ClusterTrialTest {
  private static final Set<Fault> HARMLESS =
      EnumSet.of(
          Fault.TORN,
          Fault.LATE_READ,
          Fault.DELAY,
          Fault.PAUSE,
          Fault.CLOCK_JUMP,
          Fault.STALE_ROUTE);

  /** All after which a cluster is whole again. */
  private static final Set<Fault> ALL = all();

  private static Set<Fault> all() {
    Set<Fault> all = EnumSet.copyOf(ClusterTrial.FAULTS);
    all.removeAll(Set.of(Fault.LOSE_MEMORY, Fault.RESTART_ALL));
    return all;
  }

  /** All from which a cluster recovers that has data folders. */
  private static final Set<Fault> RESTARTS = restarts();

  private static Set<Fault> restarts() {
    Set<Fault> restarts = EnumSet.copyOf(ClusterTrial.FAULTS);
    restarts.remove(Fault.FULL_POOL);
    return restarts;
  }

  private static final int SEEDS = TrialSeeds.count(2, 20, 1_000);

  private static TrialSeries.Summary run(String system, Set<Fault> faults) {
    boolean strings = system.equals(ByteOptions.SYSTEM);
    TrialPlan words = TrialPlan.of(strings ? OrcaOptions.ORCA : Systems.named(system), faults);
    TrialPlan plan = strings ? words.withStrings() : words;
    TrialSeries.Summary summary =
        TrialSeries.run(seed -> ClusterTrial.run(plan, seed), 1, SEEDS, seeds -> {});
    TrialResult failed = summary.failed();
    assertThat(failed == null ? "" : failed.seed() + ": " + failed.violations().getFirst())
        .isEmpty();
    assertThat(summary.hangs()).isZero();
    assertThat(summary.faults().keySet()).isEqualTo(faults);
    assertThat(summary.counts()).containsEntry("changes not over", 0L);
    return summary;
  }

  /** Nothing is lost, and every operation is carried out. */
  @ParameterizedTest
  @ValueSource(strings = {"dex", "orca", "p-sherman", "byte-strings"})
  void shouldKeepItsPromisesWhereRoutesAreOld(String system) {
    TrialSeries.Summary summary = run(system, HARMLESS);
    assertThat(summary.faults().get(Fault.STALE_ROUTE)).isPositive();
    assertThat(summary.unknown()).isZero();
    assertThat(summary.counts().get("changes done")).isPositive();
    assertThat(summary.counts()).containsEntry("ends LOST", 0L);
  }

  /** The others lose sessions where everything starts again, too. */
  @ParameterizedTest
  @ValueSource(strings = {"orca", "p-sherman"})
  void shouldKeepItsPromisesWhereSessionsAreLost(String system) {
    loseSessions(system);
  }

  @Tag("campaign")
  @ParameterizedTest
  @ValueSource(strings = {"dex", "byte-strings"})
  void shouldKeepTheOthersPromisesWhereSessionsAreLost(String system) {
    loseSessions(system);
  }

  private static void loseSessions(String system) {
    TrialSeries.Summary summary = run(system, ALL);
    assertThat(summary.faults().get(Fault.SESSION_LOST)).isPositive();
    // One that was fenced has ended; others have joined again.
    long ended = summary.counts().getOrDefault("ends LOST", 0L);
    assertThat(ended + summary.counts().getOrDefault("joined again", 0L)).isPositive();
  }

  /** What they could not allocate is undone, and no change waits for room. */
  @Tag("campaign")
  @ParameterizedTest
  @ValueSource(strings = {"dex", "orca", "p-sherman", "byte-strings"})
  void shouldEndChangesWhereThePoolIsFull(String system) {
    TrialSeries.Summary summary = run(system, EnumSet.of(Fault.FULL_POOL, Fault.STALE_ROUTE));
    assertThat(summary.faults().get(Fault.FULL_POOL)).isPositive();
    assertThat(summary.counts()).containsEntry("ends LOST", 0L);
  }

  /** A fence waits for the memory server, and keeps no other change back. */
  @Tag("campaign")
  @ParameterizedTest
  @ValueSource(strings = {"dex", "orca", "p-sherman", "byte-strings"})
  void shouldEndChangesWhereAMemoryServerIsLost(String system) {
    TrialSeries.Summary summary = run(system, EnumSet.of(Fault.LOSE_MEMORY, Fault.SESSION_LOST));
    assertThat(summary.faults().get(Fault.LOSE_MEMORY)).isPositive();
  }

  /** With data folders, whatever ends. */
  @ParameterizedTest
  @ValueSource(strings = {"dex", "orca", "byte-strings"})
  void shouldLoseNothingWhereEverythingStartsAgain(String system) {
    TrialSeries.Summary summary = run(system, RESTARTS);
    assertThat(summary.faults().get(Fault.RESTART_ALL)).isPositive();
    assertThat(summary.counts().get("generations")).isGreaterThan(SEEDS);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldRunTheSameWayForTheSameSeed(boolean restarts) {
    TrialPlan plan = TrialPlan.of(Systems.named("orca"), restarts ? RESTARTS : ALL);
    TrialResult first = ClusterTrial.run(plan, 7);
    TrialResult second = ClusterTrial.run(plan, 7);
    assertThat(second.hash()).isEqualTo(first.hash());
    assertThat(second.counts()).isEqualTo(first.counts());
    assertThat(second.history().operations()).isEqualTo(first.history().operations());
    assertThat(second.history().losses()).isEqualTo(first.history().losses());
  }

  @Test
  void shouldRefuseWhatIsNoCluster() {
    assertThatThrownBy(() -> ClusterTrial.check(TrialPlan.of(Systems.named("sherman"), Set.of())))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("sherman");
    assertThatThrownBy(
            () -> ClusterTrial.check(TrialPlan.of(Systems.named("dex"), Set.of(Fault.FENCE))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("fence");
    assertThatThrownBy(() ->
            ClusterTrial.check(TrialPlan.of(Systems.named("p-sherman"), Set.of(Fault.RESTART_ALL))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("restart-all");
  }
}
