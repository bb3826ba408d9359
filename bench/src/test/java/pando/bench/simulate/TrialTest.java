package pando.bench.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.sim.fault.Fault;

/** Small clusters under faults. Replay a seed with {@code pando simulate --seeds 1 --seed}. */
@Timeout(180)
class TrialTest {
  private static final Set<Fault> HARMLESS =
      EnumSet.of(Fault.TORN, Fault.DELAY, Fault.PAUSE, Fault.CLOCK_JUMP);
  private static final long STUCK_NANOS = 60_000_000_000L;

  private static TrialPlan plan(Set<Fault> faults) {
    return new TrialPlan(3, 3, 2, 2_000, faults, Set.of());
  }

  @Test
  void shouldKeepItsPromisesUnderHarmlessFaults() throws InterruptedException {
    TrialSeries.Summary summary =
        new TrialSeries(plan(HARMLESS), 1, 200, STUCK_NANOS, seeds -> {}).run();
    TrialResult failed = summary.failed();
    assertThat(failed == null ? "" : failed.seed() + ": " + failed.violations().getFirst())
        .isEmpty();
    assertThat(summary.seeds()).isEqualTo(200);
    assertThat(summary.changes()).isGreaterThan(500);
    assertThat(summary.faults().keySet()).isEqualTo(HARMLESS);
    assertThat(summary.faults().values()).allMatch(times -> times > 0);
  }

  /** Seeds that once failed, each for a reason of its own. */
  @ParameterizedTest
  @ValueSource(longs = {64, 169, 221, 246, 299, 369, 507, 541, 550, 670, 1571})
  void shouldKeepItsPromisesWhereItOnceBrokeThem(long seed) {
    assertThat(Trial.run(plan(HARMLESS), seed).violations()).isEmpty();
    assertThat(Trial.run(plan(Set.of()), seed).violations()).isEmpty();
  }

  @Test
  void shouldRunTheSameWayForTheSameSeed() {
    for (long seed = 1; seed <= 4; seed++) {
      TrialResult first = Trial.run(plan(HARMLESS), seed);
      TrialResult second = Trial.run(plan(HARMLESS), seed);
      assertThat(second.hash()).isEqualTo(first.hash());
      assertThat(second.history().operations()).isEqualTo(first.history().operations());
      assertThat(second.history().scans()).isEqualTo(first.history().scans());
    }
  }

  /** What is lost then is told and not hidden; but nothing hangs and no JVM dies. */
  @ParameterizedTest
  @ValueSource(strings = {"crash-compute", "crash-memory", "wipe-memory", "lost-completion"})
  void shouldEndUnderFaultsThatHarm(String fault) throws InterruptedException {
    TrialPlan plan = plan(EnumSet.of(Fault.of(fault), Fault.TORN));
    TrialSeries.Summary summary = new TrialSeries(plan, 1, 6, STUCK_NANOS, seeds -> {}).run();
    assertThat(summary.seeds()).isEqualTo(6);
  }
}
