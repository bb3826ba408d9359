package pando.index.cache;

/**
 * Bugs that a test plants to show that the checks find them. One is active if the JVM was started
 * with {@code -Dpando.plant=} and its name; otherwise the constants are false and cost nothing.
 */
public final class PlantedBug {
  private static final String PLANTED = System.getProperty("pando.plant", "");

  /** A split does not check whether the node has changed since it was found. */
  public static final boolean MISSING_VALIDATION = PLANTED.equals("missing-validation");

  /** A dirty node is evicted without being written back. */
  static final boolean LOST_WRITE_BACK = PLANTED.equals("lost-write-back");

  /** A shared node is unlocked before its image is written. */
  public static final boolean EARLY_UNLOCK = PLANTED.equals("early-unlock");

  /** A DEFT leaf keeps its stamp when it is written as a whole. */
  public static final boolean FIXED_VERSION = PLANTED.equals("fixed-version");

  /** ROLEX does not retire the old leaves of a model that was retrained. */
  public static final boolean KEPT_LEAVES = PLANTED.equals("kept-leaves");

  private PlantedBug() {}
}
