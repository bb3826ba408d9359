package pando.bench.figure;

import java.util.ArrayList;
import java.util.List;
import pando.bench.figure.Plot.Mark;

/** The diagrams of rows of {@link Beside}. */
final class BesidePlots {
  private BesidePlots() {}

  /** Returns bars: a diagram for each unit. Where DEX is the best, its bar is there once. */
  static List<Plot> bars(List<FigureLine> lines) {
    List<Plot> plots = new ArrayList<>();
    Plot.grouped(cells(lines), Cell::unit)
        .forEach((unit, its) -> plots.add(new Plot.Bars(unit, marks(its))));
    return plots;
  }

  private static List<Mark> marks(List<Cell> cells) {
    return cells.stream().filter(cell -> !cell.isTwice(cells)).map(Cell::bar).toList();
  }

  /**
   * Returns curves, where rows are named by a workload and a place: a diagram for each workload and
   * unit.
   *
   * @param across what the places are
   */
  static List<Plot> curves(String across, List<FigureLine> lines) {
    List<Plot> plots = new ArrayList<>();
    Plot.grouped(cells(lines), cell -> cell.workload() + ": " + cell.unit())
        .forEach((title, its) -> plots.add(new Plot.Curves(title, across, points(its))));
    return plots;
  }

  /** Returns the points of a diagram. Where DEX is the best throughout, its curve is there once. */
  private static List<Mark> points(List<Cell> cells) {
    List<String> best = cells.stream().map(Cell::best).distinct().toList();
    String name = best.size() == 1 ? best.getFirst() : "best of the others";
    boolean isDexThere = cells.stream().anyMatch(cell -> cell.subject().equals(name));
    return cells.stream()
        .filter(cell -> !(isDexThere && cell.subject().equals(Beside.BEST)))
        .map(cell -> cell.point(name))
        .toList();
  }

  private static List<Cell> cells(List<FigureLine> lines) {
    return lines.stream().map(Cell::of).toList();
  }

  /** A number of a row, without its names. */
  private record Cell(String row, String best, String subject, String unit, FigureLine line) {
    static Cell of(FigureLine line) {
      int beside = line.what().indexOf(Beside.BESIDE);
      int space = line.measure().indexOf(' ');
      if (beside < 0 || (space < 0 && !line.measure().equals(Measure.RATIO.name()))) {
        throw new IllegalArgumentException("not a number of a row: " + line);
      }
      return new Cell(
          line.what().substring(0, beside),
          line.what().substring(beside + Beside.BESIDE.length()),
          line.measure().substring(0, Math.max(space, 0)),
          line.measure().substring(space + 1),
          line);
    }

    /** Returns whether it is of the best system, which has a number of its own, too. */
    boolean isTwice(List<Cell> cells) {
      return subject.equals(Beside.BEST)
          && cells.stream().anyMatch(cell -> cell.row.equals(row) && cell.subject.equals(best));
    }

    /** Returns the workload of the row. */
    String workload() {
      return row.split(", ", 2)[0];
    }

    /** Returns what else names the row. */
    String place() {
      String[] parts = row.split(", ", 2);
      return parts[parts.length - 1].replaceFirst("^.*=", "");
    }

    Mark bar() {
      return new Mark(row, label(best, best + " (best)"), line);
    }

    Mark point(String nameOfBest) {
      return new Mark(place(), label(nameOfBest, nameOfBest), line);
    }

    private String label(String other, String alone) {
      return switch (subject) {
        case "" -> "ORCA over " + other;
        case Beside.BEST -> alone;
        default -> subject;
      };
    }
  }
}
