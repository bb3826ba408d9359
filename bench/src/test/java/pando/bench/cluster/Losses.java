package pando.bench.cluster;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Which compute servers were killed, with the keys that they may have had: values of these may go
 * back once for each. Thread-safe; one thread kills.
 *
 * <p>A loss is announced before the compute server is killed, and certain once it is dead. What
 * begins after that is answered by the one that takes over.
 */
final class Losses {
  /** Keys from the least to the greatest one. */
  record Range(long low, long high) {
    boolean contains(long key) {
      return low <= key && key <= high;
    }
  }

  private record Loss(List<Range> possible, List<Range> sure) {}

  private final List<Loss> all = new CopyOnWriteArrayList<>();
  private final AtomicInteger certain = new AtomicInteger();

  /**
   * Announces a loss.
   *
   * @param possible what the compute server may have
   * @param sure what it certainly has
   */
  void announce(List<Range> possible, List<Range> sure) {
    all.add(new Loss(possible, sure));
  }

  /** Says that all that were announced have come about. */
  void haveComeAbout() {
    certain.set(all.size());
  }

  /** Returns how many have surely come about. */
  int certain() {
    return certain.get();
  }

  /** Returns whether one that was announced after the first {@code known} may concern a key. */
  boolean mayConcern(long key, int known) {
    return all.stream().skip(known).anyMatch(loss -> contain(loss.possible, key));
  }

  /** Returns whether one of those after the first {@code known} that are certain concerns a key. */
  boolean concern(long key, int known, int until) {
    return all.stream().limit(until).skip(known).anyMatch(loss -> contain(loss.sure, key));
  }

  static boolean contain(List<Range> ranges, long key) {
    return ranges.stream().anyMatch(range -> range.contains(key));
  }
}
