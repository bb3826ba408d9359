package pando.bench.run;

import pando.cli.WrongResultException;

/**
 * The result of reading every entry again; all were right.
 *
 * @param entries found
 * @param inserted records that were inserted since the load
 */
public record Audit(long entries, long inserted) {
  /** Returns the sum of this and the audit of another process's part. */
  public Audit plus(Audit other) {
    return new Audit(entries + other.entries, inserted + other.inserted);
  }

  /**
   * Checks that nothing is missing.
   *
   * @param plan has the number of loaded records
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
