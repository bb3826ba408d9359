package pando.bench.figure;

import java.util.regex.Pattern;

/**
 * Why numbers of a figure differ from the paper's by more than a third. The text stands in
 * docs/systems.md, too, and a test compares the two.
 *
 * @param lines which numbers: their names and measures, as in {@code "A, DEFT: Mops"}
 * @param isMore whether it is why they are above the paper's, not why they are below
 * @param text a sentence without its full stop
 */
public record Reason(Pattern lines, boolean isMore, String text) {
  /** Says why numbers are above the paper's. */
  static Reason above(String lines, String text) {
    return new Reason(Pattern.compile(lines), true, text);
  }

  /** Says why numbers are below the paper's. */
  static Reason below(String lines, String text) {
    return new Reason(Pattern.compile(lines), false, text);
  }

  /** Returns whether it says why this number differs. */
  boolean isOf(FigureLine line) {
    return line.isFar()
        && line.ratio() > 1 == isMore
        && lines.matcher(line.what() + ": " + line.measure()).matches();
  }
}
