package pando.durable.holder;

/**
 * Bugs that a test plants to show that the simulator's trials find them. One is active if the JVM
 * was started with {@code -Dpando.plant=} and its name; otherwise the constants are false.
 */
public final class PlantedLogBug {
  private static final String PLANTED = System.getProperty("pando.plant", "");

  /** A change is acknowledged once one holder has it. */
  static final boolean ONE_HOLDER = PLANTED.equals("cluster-log-one-holder");

  /** The head goes on before all that is before it is in the pool. */
  static final boolean HEAD_EARLY = PLANTED.equals("cluster-log-head-early");

  /** A range is given away while its changes are in the giver's log. */
  static final boolean GIVEN_UNWRITTEN = PLANTED.equals("cluster-log-given-unwritten");

  /** What is read while a log is replayed is answered. */
  public static final boolean SERVED_EARLY = PLANTED.equals("cluster-log-served-early");

  /** The heir forgets the log before the pool has what it replayed. */
  static final boolean DROPPED_EARLY = PLANTED.equals("cluster-log-dropped-early");

  /** A holder says that it has what its data folder does not have. */
  static final boolean UNFILED = PLANTED.equals("cluster-folder-unfiled");

  /** The other data folder does not get the entries with which a generation begins. */
  static final boolean UNCOPIED = PLANTED.equals("cluster-folder-uncopied");

  private PlantedLogBug() {}
}
