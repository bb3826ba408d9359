package pando.index;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import pando.sim.history.History;
import pando.sim.history.HistoryCheck;
import pando.sim.history.RecordedOperation;
import pando.sim.history.RecordedOperation.Kind;

/** Records the operations of one thread. */
final class StressLog {
  private final AtomicLong clock;
  private final int thread;
  private final List<RecordedOperation> operations = new ArrayList<>();

  StressLog(AtomicLong clock, int thread) {
    this.clock = clock;
    this.thread = thread;
  }

  long start() {
    return clock.getAndIncrement();
  }

  void end(long start, Kind kind, long key, long stored, long expected, @Nullable Long before) {
    long end = clock.getAndIncrement();
    operations.add(new RecordedOperation(thread, start, end, kind, key, stored, expected, before));
  }

  /** Records lookups of several keys. */
  void end(long start, long[] keys, long[] values, boolean[] found) {
    long end = clock.getAndIncrement();
    for (int i = 0; i < keys.length; i++) {
      operations.add(
          RecordedOperation.read(thread, start, end, keys[i], found[i] ? values[i] : null));
    }
  }

  /** Records that values were stored under several keys. */
  void end(long start, long[] keys, long[] stored) {
    long end = clock.getAndIncrement();
    for (int i = 0; i < keys.length; i++) {
      operations.add(
          new RecordedOperation(thread, start, end, Kind.STORE, keys[i], stored[i], null));
    }
  }

  /** Returns what no order of all threads' operations on an empty map explains. */
  static List<String> violations(List<StressLog> logs) {
    History history = new History();
    logs.forEach(log -> log.operations.forEach(history::add));
    return HistoryCheck.violations(history);
  }
}
