package pando.bench.cluster;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SynchronizedHistogram;

/** What a campaign has counted, over all of its clusters. Thread-safe. */
final class Tally {
  private final LongAdder answers = new LongAdder();
  private final LongAdder unknown = new LongAdder();
  private final LongAdder unforeseen = new LongAdder();
  private final LongAdder keysBack = new LongAdder();
  private final LongAdder lostWrites = new LongAdder();
  private final Map<String, LongAdder> failures = new ConcurrentSkipListMap<>();
  private final Map<String, LongAdder> done = new ConcurrentSkipListMap<>();
  private final List<String> wrong = new CopyOnWriteArrayList<>();
  private final Histogram recoveries = new SynchronizedHistogram(3);

  void answered(int lost) {
    answers.increment();
    if (lost > 0) {
      keysBack.increment();
      lostWrites.add(lost);
    }
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

  long lostWrites() {
    return lostWrites.sum();
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

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "answers=%d, wrong=%d, unknown outcomes=%d, acknowledged writes lost=%d, of keys=%d,"
            + " failures=%s, unforeseen losses=%d%ndone: %s%n"
            + "first answer of a lost range after, in ms: p50=%d, p90=%d, longest=%d, of %d",
        answers.sum(),
        wrong.size(),
        unknown.sum(),
        lostWrites.sum(),
        keysBack.sum(),
        failures,
        unforeseen.sum(),
        done,
        recoveries.getValueAtPercentile(50),
        recoveries.getValueAtPercentile(90),
        recoveries.getMaxValue(),
        recoveries.getTotalCount());
  }
}
