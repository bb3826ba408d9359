package pando.bench.figure;

import java.util.regex.Pattern;

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

  /** What may stand in a name: no markup, no line ends, and no formula of a spreadsheet. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9%][A-Za-z0-9 ,.+%/='-]{0,99}");

  /** Numbers differ by more than a third above this ratio, and below the other. */
  private static final double FAR_ABOVE = 4.0 / 3;

  private static final double FAR_BELOW = 2.0 / 3;

  /** Checks the names: up to 100 letters, digits, spaces and a few signs. */
  public FigureLine {
    if (!NAME.matcher(what).matches() || !NAME.matcher(measure).matches()) {
      throw new IllegalArgumentException(
          "a name has other signs than these: letters, digits, space ,.+%/='-, or it is empty or"
              + " longer than 100: what="
              + what
              + ", measure="
              + measure);
    }
  }

  /** Returns a number that the paper does not give. */
  static FigureLine ours(String what, String measure, double ours) {
    return new FigureLine(what, measure, NOT_GIVEN, ours);
  }

  /** Returns whether the paper gives the number. */
  public boolean isGiven() {
    return !Double.isNaN(paper);
  }

  /** Returns this run's number over the paper's; NaN if the paper gives none, or zero. */
  public double ratio() {
    return paper == 0 ? Double.NaN : ours / paper;
  }

  /** Returns whether this run's number differs from the paper's by more than a third of it. */
  public boolean isFar() {
    return ratio() > FAR_ABOVE || ratio() < FAR_BELOW;
  }
}
