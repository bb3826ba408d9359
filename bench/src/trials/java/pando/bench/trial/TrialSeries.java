package pando.bench.trial;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import pando.sim.fault.Fault;

/** Many seeds of a trial, on all cores. */
public final class TrialSeries {
  private final Map<Fault, Long> faults = new TreeMap<>();
  private @Nullable TrialResult lowest;
  private @Nullable TrialResult failed;
  private @Nullable TrialResult hanging;
  private long seeds;
  private long failures;
  private long hangs;
  private long changes;
  private final Map<String, Long> counts = new LinkedHashMap<>();
  private long unknown;
  private long events;

  private TrialSeries() {}

  /**
   * The results of a series.
   *
   * @param seeds that ran
   * @param failures seeds with violations
   * @param lowest result of the lowest seed
   * @param failed the lowest of the seeds with violations, {@code null} if there is none
   * @param hangs seeds in which operations hang for good
   * @param hanging the lowest of those, {@code null} if there is none
   * @param faults how often each struck
   * @param changes of partitions
   * @param unknown operations whose outcome their client never learned
   * @param events of all simulations
   * @param counts of what else happened, by what it is
   */
  public record Summary(
      long seeds,
      long failures,
      TrialResult lowest,
      @Nullable TrialResult failed,
      long hangs,
      @Nullable TrialResult hanging,
      Map<Fault, Long> faults,
      long changes,
      long unknown,
      long events,
      Map<String, Long> counts) {
    /** Keeps a copy. */
    public Summary {
      faults = new TreeMap<>(faults);
      counts = Collections.unmodifiableMap(new LinkedHashMap<>(counts));
    }
  }

  /**
   * Runs so many seeds, at least one.
   *
   * @param progress receives the number of seeds that are done
   * @throws HangException if one makes no progress
   */
  public static Summary run(TrialPlan plan, long first, long count, LongConsumer progress) {
    return run(seed -> Trial.run(plan, seed), first, count, progress);
  }

  /**
   * Runs so many seeds of a trial, at least one.
   *
   * @param trial runs one seed
   * @param progress receives the number of seeds that are done
   * @throws HangException if one makes no progress
   */
  public static Summary run(
      LongFunction<TrialResult> trial, long first, long count, LongConsumer progress) {
    TrialSeries series = new TrialSeries();
    LongStream.range(0, count)
        .map(i -> first + i)
        .parallel()
        .forEach(seed -> {
          series.add(trial.apply(seed));
          progress.accept(1);
        });
    return series.summary();
  }

  private synchronized void add(TrialResult result) {
    seeds++;
    changes += result.changes();
    unknown += result.unknown();
    events += result.events();
    result.counts().forEach((what, times) -> counts.merge(what, times, Long::sum));
    result.faults().forEach((fault, times) -> faults.merge(fault, (long) times, Long::sum));
    lowest = lower(lowest, result);
    if (!result.violations().isEmpty()) {
      failures++;
      failed = lower(failed, result);
    }
    if (result.hangs().count() > 0) {
      hangs++;
      hanging = lower(hanging, result);
    }
  }

  private static TrialResult lower(@Nullable TrialResult one, TrialResult other) {
    return one == null || other.seed() < one.seed() ? other : one;
  }

  private synchronized Summary summary() {
    if (lowest == null) {
      throw new IllegalArgumentException("a series has at least one seed");
    }
    return new Summary(
        seeds, failures, lowest, failed, hangs, hanging, faults, changes, unknown, events, counts);
  }
}
