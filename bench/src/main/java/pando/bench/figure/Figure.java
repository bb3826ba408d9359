package pando.bench.figure;

import java.util.List;

/** A figure or table of a paper. */
public interface Figure {
  /** Returns all figures. */
  static List<Figure> all() {
    return List.of(
        new Sherman10(),
        new Sherman11(),
        new Dex6(),
        new DexTable2(),
        new DeftYcsb(),
        new DeftAblation(),
        new DeftDex(),
        new RolexYcsb(),
        new RolexScaling(),
        new RolexData(),
        new RolexRetraining(),
        new RolexEmpty(),
        new AllSystems());
  }

  /** Returns the name on the command line, such as {@code sherman-10}. */
  String name();

  /** Returns a title of one line. */
  String title();

  /**
   * Runs it.
   *
   * @param records to load; the papers have 10 to 50 times as many as the default of 20 M
   */
  List<FigureLine> run(long records, long seed);
}
