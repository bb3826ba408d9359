package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import pando.index.Partitioned;
import pando.index.Partitioning;

/**
 * An ordered map from byte strings to byte strings. Keys order byte by byte, as unsigned numbers,
 * and the empty one is the least.
 *
 * <p>Thread-safe; each thread works through a {@link ByteSession} of its own.
 */
public interface ByteStrings extends Partitioned {
  /** A big-endian number at any place. */
  ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  /**
   * Opens a session for one thread.
   *
   * @throws IllegalStateException if it is closed
   */
  ByteSession session();

  /**
   * Returns which compute server serves which keys, as this process knows it: a table of byte
   * strings, which {@linkplain Partitioning#hasFences has fences}.
   */
  @Override
  Partitioning partitioning();

  /**
   * Returns whether sessions wait for other processes by network, so that many more of them than
   * there are processors are of use.
   */
  default boolean isRemote() {
    return false;
  }

  /** Returns the greatest length of a key. */
  int keyBytesMax();

  /** Returns the greatest length of a value. */
  int valueBytesMax();

  /**
   * Returns about how many entries there are. This counts them by a scan of all, unless they know a
   * shorter way.
   */
  default long sizeEstimate() {
    return sizeEstimate(MemorySegment.ofArray(new byte[0]), null);
  }

  /**
   * As {@link #sizeEstimate()}, of a range of keys.
   *
   * @param from first key, inclusive
   * @param to the first key behind the range, {@code null} if it has no end
   */
  default long sizeEstimate(MemorySegment from, @Nullable MemorySegment to) {
    try (ByteSession session = session()) {
      return session.scan(from, to, Long.MAX_VALUE, (key, value) -> true);
    }
  }
}
