package pando.index;

/** Where the randomness of a test starts. */
public final class Seeds {
  private Seeds() {}

  /**
   * Returns a seed and prints it; the system property {@code pando.test.seed} puts another in its
   * place.
   */
  public static long of(long seed) {
    long chosen = Long.getLong("pando.test.seed", seed);
    System.out.println("seed=" + chosen);
    return chosen;
  }
}
