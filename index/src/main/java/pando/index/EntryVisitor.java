package pando.index;

/** Takes the entries of a scan. */
@FunctionalInterface
public interface EntryVisitor {
  /**
   * Takes one entry. The session that scans must not be used from here.
   *
   * @return whether the scan should go on
   */
  boolean visit(long key, long value);
}
