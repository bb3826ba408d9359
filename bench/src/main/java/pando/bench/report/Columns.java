package pando.bench.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import pando.bench.run.Footprint;
import pando.bench.run.Measurement;
import pando.cli.text.Numbers;
import pando.cli.text.TextTable;

/**
 * The columns of a table that has a line for each result.
 *
 * @param <R> results
 */
final class Columns<R> {
  private static final double NANOS_PER_MICRO = 1_000;

  private final Map<String, Function<R, String>> cells = new LinkedHashMap<>();
  private final Function<R, Measurement> measurement;
  private int labels;

  Columns(Function<R, Measurement> measurement) {
    this.measurement = measurement;
  }

  /** Adds a column that names the result; it comes before all others. */
  Columns<R> label(String header, Function<R, String> cell) {
    labels++;
    return add(header, cell);
  }

  Columns<R> add(String header, Function<R, String> cell) {
    cells.put(header, cell);
    return this;
  }

  Columns<R> measured(String header, Function<Measurement, String> cell) {
    return add(header, measurement.andThen(cell));
  }

  /** Adds a number of each operation. */
  Columns<R> perOperation(String header, int decimals, Function<Measurement, Long> count) {
    return measured(
        header,
        measured -> Numbers.decimal(measured.perOperation(count.apply(measured)), decimals));
  }

  /** Adds millions of operations per second. */
  Columns<R> megaOps() {
    return measured("Mops/s", measured -> Numbers.decimal(measured.throughput / 1e6, 3));
  }

  /** Adds the microseconds within which so many percent of the operations ended. */
  Columns<R> micros(String header, double percentile) {
    return measured(
        header,
        measured -> Numbers.decimal(measured.latencyNanos(percentile) / NANOS_PER_MICRO, 2));
  }

  /** Adds the verbs and round trips of an operation. */
  Columns<R> verbs() {
    return perOperation("READs", 4, measured -> measured.verbs.reads)
        .perOperation("WRITEs", 4, measured -> measured.verbs.writes)
        .perOperation("atomics", 4, measured -> measured.verbs.atomics)
        .perOperation("CALLs", 4, measured -> measured.verbs.calls)
        .perOperation("trips", 4, measured -> measured.verbs.roundTrips);
  }

  /**
   * Adds the bytes of an operation's verbs, its cache hits, and the memory for each record: of all
   * compute servers' caches, and of the pool.
   */
  Columns<R> memory(Function<R, Footprint> footprint) {
    return perOperation("bytes", 1, measured -> measured.verbs.bytes())
        .measured("cache hits", measured -> Numbers.percent(measured.cacheHitRatio()))
        .add(
            "cached B/record",
            footprint.andThen(its -> Numbers.decimal(its.cachedBytesPerRecord(), 3)))
        .add(
            "pool B/record",
            footprint.andThen(its -> Numbers.decimal(its.poolBytesPerRecord(), 2)));
  }

  String table(List<R> results) {
    TextTable table = new TextTable(labels, List.copyOf(cells.keySet()));
    for (R result : results) {
      table.add(cells.values().stream().map(cell -> cell.apply(result)).toList());
    }
    return table.toString();
  }
}
