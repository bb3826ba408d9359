package pando.bench.run;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import pando.bench.records.SortedRecords;
import pando.bench.subject.Access;
import pando.bench.subject.Subject;
import pando.bench.workload.Inserts;
import pando.bench.workload.Workload;
import pando.cli.WrongResultException;
import pando.cli.text.Progress;
import pando.index.EntryVisitor;

/** A testbed in this process: all of it, or one process's part of a larger one. */
public final class LocalTestbed implements Testbed {
  private final Subject subject;
  private final Plan plan;
  private final Share share;
  private final StartSignal start;
  private final Activity activity;
  private final Dataset dataset;
  private final Duration loadTime;
  private @Nullable Run lastRun;

  private LocalTestbed(
      Subject subject,
      Plan plan,
      Share share,
      StartSignal start,
      Activity activity,
      Duration loadTime) {
    this.subject = subject;
    this.plan = plan;
    this.share = share;
    this.start = start;
    this.activity = activity;
    this.loadTime = loadTime;
    dataset = new Dataset(plan.supply(), plan.records(), share);
  }

  /**
   * Loads a map and readies it, all in this process.
   *
   * @param subject empty; closed with the testbed, and where loading fails
   */
  public static LocalTestbed load(Subject subject, Plan plan) {
    return load(subject, plan, new Activity());
  }

  /**
   * Loads a map and readies it, all in this process.
   *
   * @param subject empty; closed with the testbed, and where loading fails
   * @param activity counts what its clients do
   */
  public static LocalTestbed load(Subject subject, Plan plan, Activity activity) {
    try {
      Duration time = fill(subject, plan);
      return new LocalTestbed(subject, plan, Share.WHOLE, StartSignal.AT_ONCE, activity, time);
    } catch (RuntimeException | Error e) {
      subject.close();
      throw e;
    }
  }

  /**
   * Loads the first records into an empty map; returns how long that took, once they were sorted.
   */
  public static Duration fill(Subject subject, Plan plan) {
    try (Progress progress = Progress.of("load", plan.records())) {
      SortedRecords records = new SortedRecords(plan.supply(), plan.records(), progress::step);
      long start = System.nanoTime();
      subject.load(records, plan.fill());
      return Duration.ofNanos(System.nanoTime() - start);
    }
  }

  /**
   * Readies this process's part of a loaded map.
   *
   * @param subject closed with the testbed
   * @param start lets all processes begin together
   */
  public static LocalTestbed ofPart(Subject subject, Plan plan, Share share, StartSignal start) {
    return new LocalTestbed(subject, plan, share, start, new Activity(), Duration.ZERO);
  }

  @Override
  public Duration loadTime() {
    return loadTime;
  }

  @Override
  public Measurement run(Workload workload) {
    Run run = new Run(subject, dataset, plan, share, workload, start, activity);
    lastRun = run;
    return run.execute();
  }

  @Override
  public Audit audit() {
    Inserts inserts = lastRun == null ? new Inserts(plan.records(), 1, 0, 1) : lastRun.inserts();
    Checker checker = new Checker(dataset, inserts);
    try (Access access = subject.access();
        Progress progress = Progress.of("audit", plan.records())) {
      Auditor auditor = new Auditor(checker, progress);
      access.scan(share.low(), share.high(), Long.MAX_VALUE, auditor);
    }
    return new Audit(checker.verified(), lastRun == null ? 0 : lastRun.inserted());
  }

  @Override
  public Footprint footprint(long records) {
    return new Footprint(records, subject.bytes(), subject.cachedBytes());
  }

  @Override
  public void close() {
    subject.close();
  }

  /** Checks that entries come in order, and each of them. */
  private static final class Auditor implements EntryVisitor {
    private static final int REPORT_EVERY = 1 << 16;

    private final Checker checker;
    private final Progress progress;
    private long previous;

    Auditor(Checker checker, Progress progress) {
      this.checker = checker;
      this.progress = progress;
    }

    @Override
    public boolean visit(long key, long value) {
      if (checker.verified() > 0 && key <= previous) {
        throw new WrongResultException(
            "an audit is out of order: key=" + key + ", after=" + previous);
      }
      previous = key;
      checker.entry(key, value);
      if (checker.verified() % REPORT_EVERY == 0) {
        progress.step(REPORT_EVERY);
      }
      return true;
    }
  }
}
