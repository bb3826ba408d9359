package pando.cluster;

/**
 * Bugs that a test plants to show that the simulator's trials find them. One is active if the JVM
 * was started with {@code -Dpando.plant=} and its name; otherwise the constants are false.
 */
final class PlantedClusterBug {
  private static final String PLANTED = System.getProperty("pando.plant", "");

  /** An heir takes over at once, and not when the lease of the one that is lost is over. */
  static final boolean LEASE_NOT_AWAITED = PLANTED.equals("cluster-lease-not-awaited");

  /** A session answers from its cache though the lease is over. */
  static final boolean LEASE_UNCHECKED = PLANTED.equals("cluster-lease-unchecked");

  /** What is lost is not fenced at the memory servers. */
  static final boolean FENCE_SKIPPED = PLANTED.equals("cluster-fence-skipped");

  /** A compute server that starts does not end what earlier starts of its number do. */
  static final boolean PREDECESSORS_KEPT = PLANTED.equals("cluster-predecessors-kept");

  /** A compute server does not look into the pool for ranges that it was given. */
  static final boolean NOT_ADOPTED = PLANTED.equals("cluster-not-adopted");

  /** A change that fails is tried again, and does not end. */
  static final boolean FAILURE_REPEATED = PLANTED.equals("cluster-failure-repeated");

  /** A compute server whose session has ended goes on without a look whether it was fenced. */
  static final boolean REJOINED_UNLOOKED = PLANTED.equals("cluster-rejoined-unlooked");

  private PlantedClusterBug() {}
}
