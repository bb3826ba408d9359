package pando.bench.figure;

import java.util.List;
import java.util.Map;
import pando.bench.simulate.SimResult;

/** The results of one index in a lab. */
record Results(Map<Load, SimResult> byLoad) {
  SimResult of(Load load) {
    SimResult result = byLoad.get(load);
    if (result == null) {
      throw new IllegalArgumentException("this was not run: " + load);
    }
    return result;
  }

  double number(Measure measure, Load load) {
    return measure.of(of(load));
  }

  /** Returns lines for which the paper gives no numbers. */
  List<FigureLine> lines(String what, List<Measure> measures, Load load) {
    return measures.stream()
        .map(measure -> FigureLine.ours(what, measure.name(), number(measure, load)))
        .toList();
  }
}
