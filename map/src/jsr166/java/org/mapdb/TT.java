package org.mapdb;

/** What the JSR-166 tests ask of the project that they come from. */
public final class TT {
  private TT() {}

  /** Returns whether the tests are to do little. */
  public static boolean shortTest() {
    return !Boolean.getBoolean("pando.campaign");
  }
}
