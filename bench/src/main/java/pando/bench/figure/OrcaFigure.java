package pando.bench.figure;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import pando.cli.text.Numbers;

/**
 * A figure of ORCA beside other systems. Its remark says where ORCA is behind, and which places
 * have no row, because their caches are too small.
 */
interface OrcaFigure extends Figure {
  /** With so many, all of them end in some minutes. */
  @Override
  default long records() {
    return 500_000;
  }

  /** Returns what names the rows of each workload, if they are those of a sweep. */
  default List<String> places() {
    return List.of();
  }

  @Override
  default Optional<String> remark(List<FigureLine> lines) {
    List<FigureLine> ratios =
        lines.stream().filter(line -> line.measure().equals(Beside.RATIO)).toList();
    if (ratios.isEmpty()) {
      return Optional.empty();
    }
    List<FigureLine> behind = ratios.stream().filter(line -> line.ours() < 1).toList();
    String start = "ORCA does not lead in " + behind.size() + " of " + ratios.size() + " rows";
    String rows =
        behind.stream()
            .map(line -> line.what() + " (" + Numbers.decimal(line.ours(), 2) + " x)")
            .collect(Collectors.joining("; "));
    return Optional.of((rows.isEmpty() ? start : start + ": " + rows) + "." + leftOut(lines));
  }

  private String leftOut(List<FigureLine> lines) {
    String missing =
        places().stream()
            .filter(place ->
                lines.stream()
                    .noneMatch(line -> line.what().contains(", " + place + Beside.BESIDE)))
            .collect(Collectors.joining(", "));
    return missing.isEmpty()
        ? ""
        : " Left out, as caches do not hold ORCA's directory: " + missing + ".";
  }
}
