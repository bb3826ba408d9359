package pando.fabric.verbs;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import pando.fabric.MemoryServerLostException;

/**
 * The memory servers that are lost to a fabric, as no queue pair can be made to them any more. The
 * queue pairs of other workers, by which their cards may still serve, are not used from then on: a
 * memory server that is lost to one worker is lost to all. Thread-safe.
 */
final class LostServers {
  private final AtomicReferenceArray<@Nullable String> reasons;

  /** None of them is lost yet. */
  LostServers(int memoryServers) {
    reasons = new AtomicReferenceArray<>(memoryServers);
  }

  /** Notes that a memory server is lost, for good. */
  void add(int server, MemoryServerLostException loss) {
    reasons.set(server, String.valueOf(loss.getMessage()));
  }

  /**
   * Checks that a memory server is not lost.
   *
   * @throws MemoryServerLostException if it is
   */
  void check(int server) {
    String reason = reasons.get(server);
    if (reason != null) {
      throw new MemoryServerLostException(reason);
    }
  }
}
