package pando.durable;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Checks what one thread reads of keys: all of it is in the log already, on the disk if answers
 * wait for it, and never older than what the thread has read before. Values of a key are all
 * different.
 */
final class LogWitness {
  private final MemoryLog log;
  private final Map<Object, Integer> seen = new HashMap<>();

  LogWitness(MemoryLog log) {
    this.log = log;
  }

  /** Checks what was read of a key; {@code null} if it was absent. */
  void sees(String what, Object key, @Nullable Object value) {
    int place = log.find(key, seen.getOrDefault(key, -1), value);
    if (place < -1) {
      throw new AssertionError(
          "not in the log: %s, key=%s, value=%s, history=%s"
              .formatted(what, key, value, log.history(key)));
    }
    if (!log.isSafe(key, place)) {
      throw new AssertionError("not on the disk: %s, key=%s, value=%s".formatted(what, key, value));
    }
    seen.put(key, place);
  }
}
