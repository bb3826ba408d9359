package pando.index.cache;

/**
 * Bugs that a test plants to see that they are found. There are none unless the JVM was started
 * with {@code -Dpando.plant=} and the name of one; the constants are false else, and cost nothing.
 */
public final class PlantedBug {
  private static final String PLANTED = System.getProperty("pando.plant", "");

  /** A split does not look whether the node has changed since it was found. */
  public static final boolean MISSING_VALIDATION = PLANTED.equals("missing-validation");

  /** A dirty node is evicted and not written back. */
  static final boolean LOST_WRITE_BACK = PLANTED.equals("lost-write-back");

  /** A shared node is unlocked before its image is written. */
  public static final boolean EARLY_UNLOCK = PLANTED.equals("early-unlock");

  /** A leaf of DEFT keeps its stamp when it is written as a whole. */
  public static final boolean FIXED_VERSION = PLANTED.equals("fixed-version");

  /** ROLEX does not retire the leaves of a model that was trained anew. */
  public static final boolean KEPT_LEAVES = PLANTED.equals("kept-leaves");

  private PlantedBug() {}
}
