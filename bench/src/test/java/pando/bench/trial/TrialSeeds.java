package pando.bench.trial;

/** How many seeds a trial runs in tests. */
final class TrialSeeds {
  private TrialSeeds() {}

  /** Returns few, in a campaign more, and with {@code -Psoak} as many as before a change lands. */
  static int count(int few, int campaign, int soak) {
    if (Boolean.getBoolean("pando.soak")) {
      return soak;
    }
    return Boolean.getBoolean("pando.campaign") ? campaign : few;
  }
}
