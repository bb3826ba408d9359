package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Receives what each operation of a batch came to. */
@FunctionalInterface
public interface ByteReceiver {
  /**
   * Receives what one operation came to.
   *
   * @param place of its key in the batch
   * @param value that a lookup found, whose bytes are valid until this method returns; {@code null}
   *     if the key is absent, and always if values are stored
   * @param failure that the operation would have thrown by itself, {@code null} if it was done
   * @return whether operations begin that have not begun yet
   */
  boolean receive(int place, @Nullable MemorySegment value, @Nullable RuntimeException failure);
}
