package pando.cluster;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Waits for what others write into the coordinator. */
final class Waiting {
  private static final System.Logger LOG = System.getLogger(Waiting.class.getName());

  /** Looks again after so long, where the coordinator reported no change. */
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private Waiting() {}

  /**
   * Waits until something holds.
   *
   * @param longest wait
   * @param condition looked at after each change
   * @param otherwise says what it waited for
   * @throws WaitOverException if it does not hold in time
   * @throws ClusterException if the thread is interrupted
   */
  static void until(
      Host host,
      Membership membership,
      Duration longest,
      BooleanSupplier condition,
      Supplier<String> otherwise) {
    if (!isTrue(host, membership, longest, condition)) {
      throw new WaitOverException(otherwise.get() + ", waited=" + longest);
    }
  }

  /**
   * Waits until there is a value, and returns it; else as {@link #until}.
   *
   * @param value looked for after each change, until there is one
   */
  static <T> T forValue(
      Host host,
      Membership membership,
      Duration longest,
      Supplier<Optional<T>> value,
      Supplier<String> otherwise) {
    AtomicReference<@Nullable T> found = new AtomicReference<>();
    until(
        host,
        membership,
        longest,
        () -> {
          value.get().ifPresent(found::set);
          return found.get() != null;
        },
        otherwise);
    return Objects.requireNonNull(found.get());
  }

  /**
   * Waits until something holds; returns whether it does, in time.
   *
   * @throws ClusterException if the thread is interrupted
   */
  static boolean isTrue(
      Host host, Membership membership, Duration longest, BooleanSupplier condition) {
    Host.Signal changed = host.signal();
    Runnable give = changed::give;
    membership.watch(give);
    try {
      long start = host.nanoTime();
      while (!holds(condition)) {
        if (host.nanoTime() - start > longest.toNanos()) {
          return false;
        }
        changed.await(LOOK_NANOS);
      }
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterException("interrupted while waiting for others");
    } finally {
      membership.unwatch(give);
    }
  }

  /** While the coordinator does not answer, nothing is known to hold. */
  private static boolean holds(BooleanSupplier condition) {
    try {
      return condition.getAsBoolean();
    } catch (CoordinatorLostException e) {
      LOG.log(Level.DEBUG, "asked again", e);
      return false;
    }
  }
}
