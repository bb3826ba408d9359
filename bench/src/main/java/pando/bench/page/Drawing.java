package pando.bench.page;

import pando.bench.figure.Plot;

/** A diagram of a given width in SVG, from its upper left corner at 0, 0. */
interface Drawing {
  /** The rules that drawings need beside those of the {@link Palette}. */
  String RULES =
      """
      text{font:11px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:var(--text)}
      text.lesser{fill:var(--lesser)}text.strong{font-weight:600}
      .ours{fill:var(--c)}.paper{fill:none;stroke:var(--c)}
      .curve{fill:none;stroke:var(--c);stroke-width:2}.curve.other{stroke-dasharray:5 3}
      .rule{stroke:var(--rule)}.point{fill:var(--c);stroke:var(--background)}
      """;

  /** Height of letters above the line that they stand on. */
  int LETTER = 8;

  /** Width of a letter, on the average of a text, in fonts that are wide. */
  double LETTER_WIDTH = 7;

  /** Significant digits of numbers beside bars. */
  int DIGITS = 3;

  /**
   * Prepares a drawing.
   *
   * @param subject class of the system that the diagram is about, for bars that name none
   */
  static Drawing of(Plot plot, String subject, int width) {
    return switch (plot) {
      case Plot.Bars bars -> new BarDrawing(bars, subject, width);
      case Plot.Curves curves -> new CurveDrawing(curves, width);
    };
  }

  int height();

  void write(Markup svg);

  /** Returns about how wide a text is. */
  static double widthOf(String text) {
    return text.length() * LETTER_WIDTH;
  }
}
