package pando.index;

/** Receives the entries of a scan. */
@FunctionalInterface
public interface EntryVisitor {
  /**
   * Receives one entry. While the visitor runs, every operation of the scanning session, and its
   * close, throws {@link IllegalStateException}; other sessions may be used. The scan holds no lock
   * then. The index may be closed, by the visitor or meanwhile: the scan then throws {@link
   * IllegalStateException} when it needs its next leaf. An exception from the visitor ends the scan
   * and reaches the caller; no lock stays behind.
   *
   * @return whether the scan should go on
   */
  boolean visit(long key, long value);
}
