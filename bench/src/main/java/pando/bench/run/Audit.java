package pando.bench.run;

/**
 * What reading every entry once more found, all of them right.
 *
 * @param entries found
 * @param inserted records that were inserted since the load
 */
public record Audit(long entries, long inserted) {
  /** Returns this and what another process found in its part. */
  public Audit plus(Audit other) {
    return new Audit(entries + other.entries, inserted + other.inserted);
  }

  /**
   * Checks that nothing is missing.
   *
   * @param plan tells how many records were loaded
   */
  void check(Plan plan) {
    if (entries != plan.records() + inserted) {
      throw new WrongResultException(
          "records are missing: entries="
              + entries
              + ", loaded="
              + plan.records()
              + ", inserted="
              + inserted
              + ", seed="
              + plan.seed());
    }
  }
}
