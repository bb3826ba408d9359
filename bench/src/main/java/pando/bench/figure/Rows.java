package pando.bench.figure;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import pando.bench.simulate.SimResult;
import pando.index.IndexOptions;

/**
 * The rows of a figure: a measure of an index under a load, and the paper's number. What several
 * rows need runs once.
 */
final class Rows {
  private final List<Row> rows = new ArrayList<>();
  private Lab lab;

  Rows(Lab lab) {
    this.lab = lab;
  }

  /** An index in a testbed. */
  private record Subject(Lab lab, IndexOptions index) {
    Results run(List<Run> runs) {
      return lab.run(index, runs.stream().map(Run::load).toList());
    }
  }

  private record Run(Subject subject, Load load) {
    SimResult of(Map<Subject, Results> results) {
      return Objects.requireNonNull(results.get(subject)).of(load);
    }
  }

  /**
   * What one line shows, before it is run.
   *
   * @param over runs by whose greatest number this one is divided, if there are any
   */
  private record Row(String what, Measure measure, double paper, Run run, List<Run> over) {
    Stream<Run> runs() {
      return Stream.concat(Stream.of(run), over.stream());
    }

    FigureLine line(Map<Subject, Results> results) {
      double greatest =
          over.stream().mapToDouble(other -> measure.of(other.of(results))).max().orElse(1);
      return new FigureLine(what, measure.name(), paper, measure.of(run.of(results)) / greatest);
    }
  }

  /** Returns the testbed of the rows that follow. */
  Lab lab() {
    return lab;
  }

  /** Sets the testbed of the rows that follow. */
  void setLab(Lab other) {
    lab = other;
  }

  void add(String what, Measure measure, double paper, IndexOptions index, Load load) {
    rows.add(new Row(what, measure, paper, run(index, load), List.of()));
  }

  /** Adds a row for which the paper gives no number. */
  void add(String what, Measure measure, IndexOptions index, Load load) {
    add(what, measure, FigureLine.NOT_GIVEN, index, load);
  }

  /** Adds rows for which the paper gives no numbers. */
  void addEach(String what, List<Measure> measures, IndexOptions index, Load load) {
    measures.forEach(measure -> add(what, measure, index, load));
  }

  /** Adds a row: throughput over that of another index, of the best if there are several. */
  void addOver(String what, double paper, IndexOptions index, Load load, IndexOptions... others) {
    List<Run> over = Stream.of(others).map(other -> run(other, load)).toList();
    rows.add(new Row(what, Measure.RATIO, paper, run(index, load), over));
  }

  /** Adds a row: throughput over that of another index under another load. */
  void addOverOther(
      String what, double paper, IndexOptions index, Load load, IndexOptions other, Load its) {
    rows.add(new Row(what, Measure.RATIO, paper, run(index, load), List.of(run(other, its))));
  }

  private Run run(IndexOptions index, Load load) {
    return new Run(new Subject(lab, index), load);
  }

  /** Runs each index under all of its loads, and returns the lines. */
  List<FigureLine> lines() {
    List<Run> runs = rows.stream().flatMap(Row::runs).distinct().toList();
    Map<Subject, Results> results = new LinkedHashMap<>();
    Plot.grouped(runs, Run::subject)
        .forEach((subject, its) -> results.put(subject, subject.run(its)));
    return rows.stream().map(row -> row.line(results)).toList();
  }
}
