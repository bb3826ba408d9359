package pando.bench.figure;

/**
 * One number of a figure.
 *
 * @param what was run
 * @param measure what was measured, with its unit
 * @param paper the paper's number, NaN where it gives none
 * @param ours this run's
 */
public record FigureLine(String what, String measure, double paper, double ours) {
  /** Marks a number that the paper does not give. */
  public static final double NOT_GIVEN = Double.NaN;
}
