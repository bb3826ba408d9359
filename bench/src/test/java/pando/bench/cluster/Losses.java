package pando.bench.cluster;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Which compute servers were lost, with the keys that they may have had: values of these may go
 * back once for each. Thread-safe; one thread kills.
 *
 * <p>A loss is announced before the compute server is killed, and certain once it is dead. What
 * begins after that is answered by the one that takes over. A compute server to which nothing was
 * done may be lost, too, where it gets no processor for as long as its session lasts; others may
 * answer before it knows, and ends. So where no loss explains what a key has, this waits for one.
 */
final class Losses {
  private static final long LOOK_NANOS = 10_000_000;

  /** Keys from the least to the greatest one. */
  record Range(long low, long high) {
    boolean contains(long key) {
      return low <= key && key <= high;
    }
  }

  private record Loss(List<Range> possible, List<Range> sure) {}

  private final List<Loss> all = new CopyOnWriteArrayList<>();
  private final AtomicInteger certain = new AtomicInteger();
  private final Runnable look;
  private final long waitNanos;
  private boolean hasWaited;

  /**
   * Creates what knows of no loss.
   *
   * @param look announces what was lost although nothing was done to it; called by any thread
   * @param wait longest wait for that; where nothing came of it once, this waits no more
   */
  Losses(Runnable look, Duration wait) {
    this.look = look;
    this.waitNanos = wait.toNanos();
  }

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
    return isAnnounced(key, known) || isUnforeseen(key, known);
  }

  private synchronized boolean isUnforeseen(long key, int known) {
    long start = System.nanoTime();
    while (!isAnnounced(key, known)) {
      hasWaited |= System.nanoTime() - start >= waitNanos;
      if (hasWaited) {
        return false;
      }
      look.run();
      LockSupport.parkNanos(LOOK_NANOS);
    }
    return true;
  }

  private boolean isAnnounced(long key, int known) {
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
