package org.mapdb;

/** A class that the JSR-166 tests import, and do not use. */
public final class SortedTableMap {
  private SortedTableMap() {}
}
