package pando.cli.cluster;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Losses of compute servers, with the keys that each may have had: each may take such a key back
 * once. Thread-safe; one thread kills.
 *
 * <p>A loss is announced before the compute server is killed, and certain once it is dead. What
 * begins after that is answered by the one that takes over. A compute server may also be lost
 * unforeseen, where it gets no processor for as long as its session lasts. Others may answer for
 * its keys before its process ends. So where no loss explains an answer, this waits for one.
 */
final class Losses {
  private static final long LOOK_NANOS = 10_000_000;

  /** Keys from the least to the greatest one. */
  record Range(long low, long high) {
    boolean contains(long key) {
      return low <= key && key <= high;
    }
  }

  private record Loss(List<Range> possible, List<Range> sure, boolean isForeseen, long nanos) {
    boolean mayConcern(long key) {
      return contain(possible, key);
    }
  }

  private final List<Loss> all = new CopyOnWriteArrayList<>();
  private final AtomicInteger certain = new AtomicInteger();
  private final Consumer<Losses> look;
  private final long waitNanos;
  private boolean gaveUp;

  /**
   * Creates what knows of no loss.
   *
   * @param look announces unforeseen losses that have come about; called by any thread
   * @param wait longest wait for such a loss; after one wait in vain there are no more
   */
  Losses(Consumer<Losses> look, Duration wait) {
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
    all.add(new Loss(possible, sure, true, System.nanoTime()));
  }

  /**
   * Announces a loss that has come about although nothing was done.
   *
   * @param possible what the compute server may have had
   */
  void announceUnforeseen(List<Range> possible) {
    all.add(new Loss(possible, List.of(), false, System.nanoTime()));
  }

  /** Says that all that were announced have come about. */
  void haveComeAbout() {
    certain.set(all.size());
  }

  /** Returns how many have surely come about. */
  int certain() {
    return certain.get();
  }

  /**
   * Returns whether one that was announced after the first {@code known} may concern a key; where
   * none does, waits for an unforeseen one.
   */
  boolean awaitConcern(long key, int known) {
    return all.stream().skip(known).anyMatch(loss -> loss.mayConcern(key))
        || awaitUnforeseen(key, known);
  }

  private synchronized boolean awaitUnforeseen(long key, int known) {
    long start = System.nanoTime();
    while (!hasUnforeseen(key, known)) {
      gaveUp |= System.nanoTime() - start >= waitNanos;
      if (gaveUp) {
        return false;
      }
      look.accept(this);
      LockSupport.parkNanos(LOOK_NANOS);
    }
    return true;
  }

  /** One that is foreseen, and announced meanwhile, explains nothing that was answered before. */
  private boolean hasUnforeseen(long key, int known) {
    return all.stream().skip(known).anyMatch(loss -> !loss.isForeseen && loss.mayConcern(key));
  }

  /**
   * Returns how old a write was when the first loss behind it came about, of those after the first
   * {@code known}; 0 if that was unforeseen, so that nobody knows when it was.
   *
   * @param nanos when the write was acknowledged
   */
  long ageNanos(long key, int known, long nanos) {
    return all.stream()
        .skip(known)
        .filter(loss -> loss.mayConcern(key) && loss.nanos - nanos >= 0)
        .findFirst()
        .filter(Loss::isForeseen)
        .map(loss -> loss.nanos - nanos)
        .orElse(0L);
  }

  /** Returns whether one of those after the first {@code known} that are certain concerns a key. */
  boolean concern(long key, int known, int until) {
    return all.stream().limit(until).skip(known).anyMatch(loss -> contain(loss.sure, key));
  }

  static boolean contain(List<Range> ranges, long key) {
    return ranges.stream().anyMatch(range -> range.contains(key));
  }
}
