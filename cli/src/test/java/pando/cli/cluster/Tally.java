package pando.cli.cluster;

import java.io.PrintStream;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SynchronizedHistogram;

/** What a campaign has counted, over all of its clusters. Thread-safe. */
final class Tally {
  /**
   * Greatest age of a write that a loss may take back, in ms: a second, which is what compute
   * servers promise by default, and as much again for a machine that is busy.
   */
  static final long LOST_AGE_MAX = 2_000;

  private static final int WRONG_MAX = 20;

  private final LongAdder answers = new LongAdder();
  private final LongAdder unknown = new LongAdder();
  private final LongAdder unforeseen = new LongAdder();
  private final LongAdder keysBack = new LongAdder();
  private final LongAdder lostWrites = new LongAdder();
  private final Map<String, LongAdder> failures = new ConcurrentSkipListMap<>();
  private final Map<String, LongAdder> done = new ConcurrentSkipListMap<>();
  private final List<String> wrong = new CopyOnWriteArrayList<>();
  private final Histogram recoveries = new SynchronizedHistogram(3);
  private final Histogram lostAges = new SynchronizedHistogram(3);

  void answered() {
    answers.increment();
  }

  /**
   * Counts acknowledged writes of a key that were lost.
   *
   * @param ageNanos how old the oldest one was then
   */
  void lost(int writes, long ageNanos) {
    keysBack.increment();
    lostWrites.add(writes);
    lostAges.recordValue(TimeUnit.NANOSECONDS.toMillis(ageNanos));
  }

  /** Counts a compute server that was lost although nothing was done to it. */
  void unforeseen() {
    unforeseen.increment();
  }

  long unforeseenLosses() {
    return unforeseen.sum();
  }

  void unknown() {
    unknown.increment();
  }

  void failed(Exception failure) {
    failures.computeIfAbsent(failure.getClass().getSimpleName(), _ -> new LongAdder()).increment();
  }

  void wrong(String text) {
    wrong.add(text);
  }

  /** Counts something that the campaign has done. */
  void done(String what) {
    done.computeIfAbsent(what, _ -> new LongAdder()).increment();
  }

  /** Counts a lost range, a key of which was answered again. */
  void recovered(long millis) {
    recoveries.recordValue(millis);
  }

  List<String> wrong() {
    return wrong;
  }

  long answers() {
    return answers.sum();
  }

  /** What was counted up to a moment, or since another. */
  record Counts(long answers, long lostWrites, long failures, int wrong) {
    Counts since(Counts before) {
      return new Counts(
          answers - before.answers,
          lostWrites - before.lostWrites,
          failures - before.failures,
          wrong - before.wrong);
    }

    @Override
    public String toString() {
      return "answers=%d, lost writes=%d, failures=%d, wrong=%d"
          .formatted(answers, lostWrites, failures, wrong);
    }
  }

  /**
   * Counts a cycle that has ended, and prints a line about it.
   *
   * @param startNanos when it began
   * @param longest operation in it, in us
   * @param before what was counted when it began
   * @return whether operations failed in it
   */
  boolean endCycle(
      PrintStream out,
      int number,
      Enum<?> kind,
      String what,
      long startNanos,
      long longest,
      Counts before) {
    done(kind.name());
    Counts counts = counts().since(before);
    out.printf(
        Locale.ROOT,
        "cycle %d %s: %s; %.1f s, longest=%d ms, %s%n",
        number,
        kind,
        what,
        (System.nanoTime() - startNanos) / 1e9,
        longest / 1_000,
        counts);
    out.flush();
    return counts.failures() > 0;
  }

  Counts counts() {
    return new Counts(answers(), lostWrites.sum(), failures(), wrong.size());
  }

  /** Returns how many operations failed, of any kind. */
  long failures() {
    return failures.values().stream().mapToLong(LongAdder::sum).sum();
  }

  /** Returns how many operations failed with an exception. */
  long failures(Class<? extends Exception> type) {
    LongAdder counted = failures.get(type.getSimpleName());
    return counted == null ? 0 : counted.sum();
  }

  Histogram recoveries() {
    return recoveries;
  }

  /** Returns how old the oldest lost write of each key was, in ms. */
  Histogram lostAges() {
    return lostAges;
  }

  /** Prints all, with the first of what is wrong. */
  void print(PrintStream out) {
    out.println(this);
    wrong.stream()
        .sorted(Comparator.comparing(text -> text.startsWith("found")))
        .limit(WRONG_MAX)
        .forEach(text -> out.println("WRONG " + text));
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "answers=%d, wrong=%d, unknown outcomes=%d, acknowledged writes lost=%d, of keys=%d,"
            + " failures=%s, unforeseen losses=%d%ndone: %s%n"
            + "oldest lost write of a key, in ms before the loss: p50=%d, p99=%d, oldest=%d%n"
            + "first answer of a lost range after, in ms: p50=%d, p90=%d, longest=%d, of %d",
        answers.sum(),
        wrong.size(),
        unknown.sum(),
        lostWrites.sum(),
        keysBack.sum(),
        failures,
        unforeseen.sum(),
        done,
        lostAges.getValueAtPercentile(50),
        lostAges.getValueAtPercentile(99),
        lostAges.getMaxValue(),
        recoveries.getValueAtPercentile(50),
        recoveries.getValueAtPercentile(90),
        recoveries.getMaxValue(),
        recoveries.getTotalCount());
  }
}
