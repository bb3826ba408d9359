package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import pando.index.blob.Spread;

/**
 * Hashes of keys, by which records are cached, and which the sums of their values are made with.
 */
final class ByteKeyHash {
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private ByteKeyHash() {}

  /** Returns the hash of a key. */
  static long of(MemorySegment key) {
    long length = key.byteSize();
    long hash = length * SPREAD;
    long at = 0;
    for (; at + Long.BYTES <= length; at += Long.BYTES) {
      hash = Spread.of(hash ^ key.get(Block.LONG, at));
    }
    long rest = 0;
    for (; at < length; at++) {
      rest = rest << Byte.SIZE | (key.get(ValueLayout.JAVA_BYTE, at) & 0xff);
    }
    return Spread.of(hash ^ rest);
  }
}
