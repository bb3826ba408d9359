package pando.map;

import java.lang.foreign.MemorySegment;

/** Receives the encoding of a value where it lies, without a copy. */
@FunctionalInterface
public interface ValueReader {
  /**
   * Receives an encoding, which is valid until this method returns.
   *
   * @param bytes which hold the encoding
   * @param offset of the encoding
   * @param length of the encoding in bytes
   */
  void read(MemorySegment bytes, long offset, int length);
}
