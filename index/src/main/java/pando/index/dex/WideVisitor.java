package pando.index.dex;

import java.lang.foreign.MemorySegment;

/** Receives the entries of a scan. */
@FunctionalInterface
public interface WideVisitor {
  /**
   * Receives an entry, whose key is valid until this method returns. What it may do is as in {@link
   * pando.index.EntryVisitor}.
   *
   * @return whether the scan goes on
   */
  boolean visit(MemorySegment key, long value);
}
