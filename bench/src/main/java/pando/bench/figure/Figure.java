package pando.bench.figure;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A figure or table of a paper, or of the project's own.
 *
 * @param name on the command line, such as {@code sherman-10}
 * @param title of one line
 * @param records that are loaded unless another number is asked for
 * @param parts the figures that it consists of, in the order in which they run; or itself alone
 * @param runner runs it
 * @param drawing makes the diagrams of its numbers; each line is in one
 * @param reasons why its numbers differ from the paper's where they differ by more than a third
 * @param summary makes what there is to say about its numbers in one line, or nothing
 */
public record Figure(
    String name,
    String title,
    long records,
    List<Figure> parts,
    Runner runner,
    Function<List<FigureLine>, List<Plot>> drawing,
    List<Reason> reasons,
    Function<List<FigureLine>, Optional<String>> summary) {
  /** Receives a line before each index is run, if it is bound. */
  public static final ScopedValue<Consumer<String>> PROGRESS = ScopedValue.newInstance();

  private static final long RECORDS = 20_000_000;

  /** Runs a figure. */
  @FunctionalInterface
  public interface Runner {
    /**
     * Returns its numbers.
     *
     * @param records to load; the papers have 10 to 50 times as many as the default of 20 M
     */
    List<FigureLine> run(long records, long seed);
  }

  /** A figure of bars. */
  Figure(String name, String title, Runner runner) {
    this(name, title, RECORDS, List.of(), runner, Plot::bars, List.of(), _ -> Optional.empty());
  }

  /** Returns a figure that consists of {@link Rows}. */
  static Figure ofRows(String name, String title, Lab.Testbed testbed, Consumer<Rows> table) {
    Runner runner =
        (records, seed) -> {
          Rows rows = new Rows(testbed.with(records, seed));
          table.accept(rows);
          return rows.lines();
        };
    return new Figure(name, title, runner);
  }

  Figure withRecords(long number) {
    return new Figure(name, title, number, parts, runner, drawing, reasons, summary);
  }

  Figure withParts(List<Figure> figures) {
    return new Figure(name, title, records, figures, runner, drawing, reasons, summary);
  }

  Figure drawnBy(Function<List<FigureLine>, List<Plot>> other) {
    return new Figure(name, title, records, parts, runner, other, reasons, summary);
  }

  Figure because(Reason... why) {
    return new Figure(name, title, records, parts, runner, drawing, List.of(why), summary);
  }

  Figure summedUpBy(Function<List<FigureLine>, Optional<String>> other) {
    return new Figure(name, title, records, parts, runner, drawing, reasons, other);
  }

  /** Returns all figures, ORCA's first, in the order of a page. */
  public static List<Figure> all() {
    return Stream.of(
            OwnFigures.all(),
            ShermanFigures.all(),
            SmartFigures.all(),
            DexFigures.all(),
            DeftFigures.all(),
            RolexFigures.all())
        .flatMap(List::stream)
        .toList();
  }

  /** Returns the figure with a name, if there is one. */
  public static Optional<Figure> named(String name) {
    return all().stream().filter(figure -> figure.name().equals(name)).findFirst();
  }

  @Override
  public List<Figure> parts() {
    return parts.isEmpty() ? List.of(this) : parts;
  }

  /** Runs it, as {@link Runner#run}. */
  public List<FigureLine> run(long number, long seed) {
    return runner.run(number, seed);
  }

  /** Returns the diagrams of its numbers. */
  public List<Plot> plots(List<FigureLine> lines) {
    return drawing.apply(lines);
  }

  /** Returns what there is to say about its numbers in one line, or nothing. */
  public Optional<String> remark(List<FigureLine> lines) {
    return summary.apply(lines);
  }
}
