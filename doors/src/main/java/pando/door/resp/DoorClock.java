package pando.door.resp;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The clock by which keys of a door expire: that of the system, or the latest time that was read,
 * where the system's goes back. So a key that has expired does not come back. Thread-safe.
 */
final class DoorClock {
  private final LongSupplier system;
  private final AtomicLong latest = new AtomicLong();

  /**
   * Makes a clock.
   *
   * @param system returns milliseconds since 1970
   */
  DoorClock(LongSupplier system) {
    this.system = system;
  }

  /** Returns milliseconds since 1970, never fewer than before. */
  long millis() {
    long now = system.getAsLong();
    long before = latest.get();
    return now > before ? latest.accumulateAndGet(now, Math::max) : before;
  }
}
