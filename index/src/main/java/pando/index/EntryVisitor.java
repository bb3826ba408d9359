package pando.index;

/** Takes the entries of a scan. */
@FunctionalInterface
public interface EntryVisitor {
  /**
   * Takes one entry. The session that scans refuses every operation, and to be closed, with {@link
   * IllegalStateException} while its visitor runs; other sessions may be used. Nothing is locked
   * meanwhile, nor where the visitor throws: what it throws ends the scan.
   *
   * @return whether the scan should go on
   */
  boolean visit(long key, long value);
}
