package pando.cluster;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;

/**
 * For how long compute servers that have something have not served. One that starts gets some time;
 * one that starts again and again, and ends each time before it serves, must not keep its range
 * from others for good. For one thread.
 */
final class Unserved {
  /** Longest time that starts get. */
  private static final long NANOS_MAX = TimeUnit.SECONDS.toNanos(10);

  private final Host host;
  private final Map<Integer, Long> since = new HashMap<>();

  Unserved(Host host) {
    this.host = host;
  }

  /** Gives all starts their time anew. */
  void begin() {
    since.clear();
  }

  /** Looks at all compute servers that have something now. */
  void look(Set<Integer> numbers, IntPredicate serves) {
    since.keySet().removeIf(number -> !numbers.contains(number) || serves.test(number));
    for (int number : numbers) {
      if (!serves.test(number)) {
        since.putIfAbsent(number, host.nanoTime());
      }
    }
  }

  /** Returns whether starts of a compute server have had their time. */
  boolean isOverdue(int number) {
    Long from = since.get(number);
    return from != null && host.nanoTime() - from > NANOS_MAX;
  }
}
