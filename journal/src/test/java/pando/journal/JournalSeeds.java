package pando.journal;

/** Where the randomness of a test starts, and how much it does. */
final class JournalSeeds {
  private JournalSeeds() {}

  /**
   * Returns a seed and prints it; the system property {@code pando.test.seed} puts another in its
   * place.
   */
  static long of(long seed) {
    long chosen = Long.getLong("pando.test.seed", seed);
    System.out.println("seed=" + chosen);
    return chosen;
  }

  /** Returns how much a test does: little, in a campaign more, with {@code -Psoak} for minutes. */
  static int count(int little, int campaign, int soak) {
    if (Boolean.getBoolean("pando.soak")) {
      return soak;
    }
    return Boolean.getBoolean("pando.campaign") ? campaign : little;
  }
}
