package pando.index.bytes;

import java.lang.foreign.MemorySegment;

/** Receives the entries of a scan. */
@FunctionalInterface
public interface ByteVisitor {
  /**
   * Receives an entry, whose bytes are valid until this method returns.
   *
   * @return whether the scan goes on
   */
  boolean visit(MemorySegment key, MemorySegment value);
}
