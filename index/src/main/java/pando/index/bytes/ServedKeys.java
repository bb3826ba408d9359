package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.KeyOrder;
import pando.index.Partitioning;

/**
 * The range of keys that a process serves, and the labels of its blocks. Immutable.
 *
 * @param low the first key
 * @param high the first key behind the range, {@code null} if it has no end
 * @param lowLabel least label, above {@code highLabel} if the process serves nothing
 * @param highLabel greatest label
 */
record ServedKeys(MemorySegment low, @Nullable MemorySegment high, long lowLabel, long highLabel) {
  private static final MemorySegment EMPTY = MemorySegment.ofArray(new byte[0]);

  static final ServedKeys NONE = new ServedKeys(EMPTY, EMPTY, Long.MAX_VALUE, Long.MIN_VALUE);

  /**
   * Returns the keys of a compute server by a table of byte strings, {@link #NONE} if it has none.
   */
  static ServedKeys of(Partitioning table, int server) {
    if (!table.hasServer(server)) {
      return NONE;
    }
    int range = table.rangeOfServer(server);
    return new ServedKeys(
        table.fenceOfRange(range),
        KeyBounds.fenceBehind(table, range),
        table.lowOfRange(range),
        table.highOfRange(range));
  }

  boolean isNone() {
    return lowLabel > highLabel;
  }

  /** Returns whether they are all keys. */
  boolean isAll() {
    return high == null && low.byteSize() == 0;
  }

  /** Returns whether a key is among them. */
  boolean has(MemorySegment key) {
    return isFrom(key) && (high == null || KeyOrder.compare(key, high) < 0);
  }

  /**
   * Returns whether the keys just below another one are among them.
   *
   * @param key {@code null} for the end of all keys
   */
  boolean hasBelow(@Nullable MemorySegment key) {
    if (key == null) {
      return high == null;
    }
    return KeyOrder.compare(key, low) > 0 && (high == null || KeyOrder.compare(key, high) <= 0);
  }

  private boolean isFrom(MemorySegment key) {
    return low.byteSize() == 0 || KeyOrder.compare(key, low) >= 0;
  }

  /** Returns whether they begin where others do. */
  boolean beginsWith(ServedKeys other) {
    return KeyOrder.compare(low, other.low) == 0;
  }

  /** Returns whether they end where others do. */
  boolean endsWith(ServedKeys other) {
    return isSameEnd(high, other.high);
  }

  /** Returns whether two ends are the same key, or both are that of all keys. */
  static boolean isSameEnd(@Nullable MemorySegment one, @Nullable MemorySegment other) {
    if (one == null || other == null) {
      return one == null && other == null;
    }
    return KeyOrder.compare(one, other) == 0;
  }
}
