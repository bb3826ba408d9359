package pando.bench.cluster;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;

/** What clients have counted. Thread-safe. */
final class Tally {
  private final LongAdder answers = new LongAdder();
  private final LongAdder unknown = new LongAdder();
  private final LongAdder keysBack = new LongAdder();
  private final LongAdder lostWrites = new LongAdder();
  private final Map<String, LongAdder> failures = new ConcurrentSkipListMap<>();
  private final List<String> wrong = new CopyOnWriteArrayList<>();

  void answered(int lost) {
    answers.increment();
    if (lost > 0) {
      keysBack.increment();
      lostWrites.add(lost);
    }
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

  List<String> wrong() {
    return wrong;
  }

  long answers() {
    return answers.sum();
  }

  long lostWrites() {
    return lostWrites.sum();
  }

  /** Returns how many operations failed with an exception. */
  long failures(String exception) {
    LongAdder counted = failures.get(exception);
    return counted == null ? 0 : counted.sum();
  }

  long failures() {
    return failures.values().stream().mapToLong(LongAdder::sum).sum();
  }

  @Override
  public String toString() {
    return "answers=%d, wrong=%d, unknown outcomes=%d, acknowledged writes lost=%d, of keys=%d, failures=%s"
        .formatted(
            answers.sum(), wrong.size(), unknown.sum(), lostWrites.sum(), keysBack.sum(), failures);
  }
}
