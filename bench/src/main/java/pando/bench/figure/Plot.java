package pando.bench.figure;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** A diagram of some numbers of a figure. */
public sealed interface Plot {
  /** Returns what is shown, in a few words. */
  String title();

  /** Returns the numbers in their order. */
  List<Mark> marks();

  /**
   * Bars in groups. A mark's group is the heading that it stands below, its label names the bar.
   */
  record Bars(String title, List<Mark> marks) implements Plot {}

  /**
   * Curves. A mark's group is its place on the axis, its label names the curve.
   *
   * @param across what the axis stands for
   */
  record Curves(String title, String across, List<Mark> marks) implements Plot {}

  /**
   * A number and its place.
   *
   * @param group may be empty in bars without headings
   */
  record Mark(String group, String label, FigureLine line) {}

  /**
   * Returns bars, a diagram for each measure. The group is what stands before the last comma of a
   * line's name.
   */
  static List<Plot> bars(List<FigureLine> lines) {
    List<Plot> plots = new ArrayList<>();
    grouped(lines, FigureLine::measure)
        .forEach(
            (measure, its) -> plots.add(new Bars(measure, its.stream().map(Plot::mark).toList())));
    return plots;
  }

  /**
   * Returns curves, where measures are places, such as {@code threads=4}, and names end in those of
   * the curves: a diagram for each group.
   */
  static List<Plot> curves(String unit, String across, List<FigureLine> lines) {
    List<Plot> plots = new ArrayList<>();
    grouped(lines.stream().map(Plot::mark).toList(), Mark::group)
        .forEach((group, marks) ->
            plots.add(
                new Curves(group + ": " + unit, across, marks.stream().map(Plot::point).toList())));
    return plots;
  }

  private static Mark point(Mark mark) {
    String place = mark.line().measure().replaceFirst("^.*=", "");
    return new Mark(place, mark.label(), mark.line());
  }

  private static Mark mark(FigureLine line) {
    int comma = line.what().lastIndexOf(", ");
    return comma < 0
        ? new Mark("", line.what(), line)
        : new Mark(line.what().substring(0, comma), line.what().substring(comma + 2), line);
  }

  /** Groups in the order of their first lines. */
  static <K, T> Map<K, List<T>> grouped(List<T> all, Function<T, K> key) {
    Map<K, List<T>> groups = new LinkedHashMap<>();
    all.forEach(each -> groups.computeIfAbsent(key.apply(each), _ -> new ArrayList<>()).add(each));
    return groups;
  }
}
