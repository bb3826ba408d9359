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

  /** Returns whether tests run in full: with {@code -Pcampaign}, or {@code -Psoak}. */
  public static boolean isCampaign() {
    return Boolean.getBoolean("pando.campaign");
  }

  /** Returns how much of something a test does: little, or in a campaign more. */
  public static int count(int little, int campaign) {
    return isCampaign() ? campaign : little;
  }

  /**
   * Returns how much of something a test does: little, in a campaign more, and with {@code -Psoak}
   * as much as takes minutes for this test alone.
   */
  public static int count(int little, int campaign, int soak) {
    return Boolean.getBoolean("pando.soak") ? soak : count(little, campaign);
  }
}
