package pando.bench.figure;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** A figure or table of a paper, or of the project's own. */
public interface Figure {
  /** Receives a line before each index is run, if it is bound. */
  ScopedValue<Consumer<String>> PROGRESS = ScopedValue.newInstance();

  /** Returns all figures, ORCA's first, in the order of a page. */
  static List<Figure> all() {
    return List.of(
        new Orca(),
        new OrcaTable2(),
        new OrcaCaches(),
        new OrcaWorkloads(),
        new OrcaAblation(),
        new OrcaScaling(),
        new AllSystems(),
        new Sherman10(),
        new Sherman11(),
        new Dex6(),
        new DexTable2(),
        new DexThreads(),
        new DexCaches(),
        new DexAblation(),
        new DexOffloading(),
        new DexRepartitioning(),
        new Dex16(),
        new DeftYcsb(),
        new DeftAblation(),
        new DeftDex(),
        new RolexYcsb(),
        new RolexScaling(),
        new RolexData(),
        new RolexRetraining(),
        new RolexEmpty());
  }

  /** Returns the figure with a name, if there is one. */
  static Optional<Figure> named(String name) {
    return all().stream().filter(figure -> figure.name().equals(name)).findFirst();
  }

  /** Returns the name on the command line, such as {@code sherman-10}. */
  String name();

  /** Returns a title of one line. */
  String title();

  /** Returns how many records are loaded unless another number is asked for. */
  default long records() {
    return 20_000_000;
  }

  /** Returns the figures that it consists of, in the order in which they run; or itself alone. */
  default List<Figure> parts() {
    return List.of(this);
  }

  /**
   * Runs it.
   *
   * @param records to load; the papers have 10 to 50 times as many as the default of 20 M
   */
  List<FigureLine> run(long records, long seed);

  /** Returns the diagrams of its numbers: bars, unless it says otherwise. Each line is in one. */
  default List<Plot> plots(List<FigureLine> lines) {
    return Plot.bars(lines);
  }

  /** Returns why its numbers differ from the paper's where they differ by more than a third. */
  default List<Reason> reasons() {
    return List.of();
  }

  /** Returns what there is to say about its numbers in one line, or nothing. */
  default Optional<String> remark(List<FigureLine> lines) {
    return Optional.empty();
  }
}
