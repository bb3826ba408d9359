package pando.client.server;

import java.util.function.Supplier;
import pando.client.wire.ClientFrame;
import pando.client.wire.StatusWord;
import pando.index.Metered;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import pando.index.bytes.ByteStrings;

/**
 * The index that a service serves.
 *
 * @param metered itself
 * @param partitioning gives who serves which keys, as this process knows it
 * @param workers makes a worker
 * @param isOfStrings whether keys and values are byte strings, not words
 * @param keyBytesMax greatest length of a key that clients may give
 * @param valueBytesMax greatest length of a value that clients may give
 */
record ServiceIndex(
    Metered metered,
    Supplier<Partitioning> partitioning,
    Supplier<ServiceWorker<?>> workers,
    boolean isOfStrings,
    int keyBytesMax,
    int valueBytesMax) {
  static ServiceIndex of(RangeIndex index) {
    return new ServiceIndex(
        index, index::partitioning, () -> new WordWorker(index), false, Long.BYTES, Long.BYTES);
  }

  static ServiceIndex of(ByteStrings strings) {
    return new ServiceIndex(
        strings,
        strings::partitioning,
        () -> new ByteWorker(strings),
        true,
        Math.min(strings.keyBytesMax(), ClientFrame.KEY_BYTES_MAX),
        Math.min(strings.valueBytesMax(), ClientFrame.VALUE_BYTES_MAX));
  }

  /** Returns a word of its status; 0 for those of its service. */
  long statusWord(int place) {
    return switch (place) {
      case StatusWord.STRINGS -> isOfStrings ? 1 : 0;
      case StatusWord.KEY_BYTES_MAX -> keyBytesMax;
      case StatusWord.VALUE_BYTES_MAX -> valueBytesMax;
      default -> 0;
    };
  }
}
