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

  /**
   * Returns how much of something a test does: little, or with the system property {@code
   * pando.campaign} as much as a campaign does.
   */
  public static int count(int little, int campaign) {
    return Boolean.getBoolean("pando.campaign") ? campaign : little;
  }
}
