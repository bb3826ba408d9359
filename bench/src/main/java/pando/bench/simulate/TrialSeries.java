package pando.bench.simulate;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import pando.sim.fault.Fault;

/**
 * Many seeds of a trial, on all cores. Each runs in a thread of its own, which is left behind where
 * it hangs: code under simulation that spins without a pause cannot be stopped.
 */
public final class TrialSeries {
  private static final int STEP_MILLIS = 20;

  private final TrialPlan plan;
  private final long first;
  private final long count;
  private final long stuckNanos;
  private final LongConsumer progress;
  private final AtomicLong next;
  private final Map<Fault, Long> faults = new TreeMap<>();
  private @Nullable TrialResult failed;
  private long done;
  private long failures;
  private long events;
  private long changes;
  private long unknown;

  /**
   * Prepares a series.
   *
   * @param first seed
   * @param count of seeds
   * @param stuckNanos real time after which a seed without a new event counts as stuck
   * @param progress told of each seed that is done
   */
  public TrialSeries(
      TrialPlan plan, long first, long count, long stuckNanos, LongConsumer progress) {
    this.plan = plan;
    this.first = first;
    this.count = count;
    this.stuckNanos = stuckNanos;
    this.progress = progress;
    this.next = new AtomicLong(first);
  }

  /**
   * What a series came to.
   *
   * @param seeds that ran
   * @param failures seeds with violations
   * @param failed the lowest of them, {@code null} where all is well
   * @param faults how often each struck
   * @param changes of partitions
   * @param unknown operations whose outcome their client never learned
   * @param events of all simulations
   */
  public record Summary(
      long seeds,
      long failures,
      @Nullable TrialResult failed,
      Map<Fault, Long> faults,
      long changes,
      long unknown,
      long events) {
    /** Keeps a copy. */
    public Summary {
      faults = new TreeMap<>(faults);
    }
  }

  /**
   * Runs all seeds.
   *
   * @throws IllegalStateException where one is stuck, with the stack of every client
   */
  public Summary run() throws InterruptedException {
    int threads = (int) Math.min(Runtime.getRuntime().availableProcessors(), count);
    List<Runner> runners = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Runner runner = new Runner();
      runners.add(runner);
      Thread.ofPlatform().daemon().name("trial-" + i).start(runner);
    }
    for (Runner runner : runners) {
      while (!runner.ended) {
        Thread.sleep(STEP_MILLIS);
        runners.forEach(Runner::checkProgress);
      }
    }
    synchronized (this) {
      return new Summary(done, failures, failed, faults, changes, unknown, events);
    }
  }

  private synchronized void add(TrialResult result) {
    done++;
    events += result.events();
    changes += result.changes();
    unknown += result.unknown();
    result.faults().forEach((fault, times) -> faults.merge(fault, (long) times, Long::sum));
    if (!result.violations().isEmpty()) {
      failures++;
      if (failed == null || result.seed() < failed.seed()) {
        failed = result;
      }
    }
    progress.accept(1);
  }

  /** Runs one seed after the other. */
  private final class Runner implements Runnable {
    volatile boolean ended;
    private volatile @Nullable Trial trial;
    private volatile @Nullable Throwable failure;
    private long eventsSeen;
    private long seenAt = System.nanoTime();

    @Override
    public void run() {
      try {
        for (long seed = next.getAndIncrement();
            seed < first + count;
            seed = next.getAndIncrement()) {
          Trial started = new Trial(plan, seed);
          trial = started;
          add(started.run());
          trial = null;
        }
      } catch (RuntimeException | Error e) {
        failure = e;
      } finally {
        ended = true;
      }
    }

    void checkProgress() {
      Throwable thrown = failure;
      if (thrown != null) {
        throw new IllegalStateException("a trial could not be run", thrown);
      }
      Trial current = trial;
      long seen = current == null ? -1 : current.progress();
      long now = System.nanoTime();
      if (seen != eventsSeen || current == null) {
        eventsSeen = seen;
        seenAt = now;
      } else if (now - seenAt > stuckNanos) {
        throw new IllegalStateException(
            "a simulation hangs: seed=" + current.seed() + "\n" + current.stacks());
      }
    }
  }
}
