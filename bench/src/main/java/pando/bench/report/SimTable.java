package pando.bench.report;

import java.util.List;
import java.util.function.Function;
import pando.bench.keys.KeySet;
import pando.bench.simulate.SimResult;
import pando.cli.text.Numbers;

/**
 * Runs in virtual time as three tables: speed, cost, and utilization. Each line starts with its
 * workload and index, its keys if they are not uniform, and all parameters that differ between
 * lines.
 */
public record SimTable(List<SimResult> results) {
  /** Returns throughput and latencies. */
  public String speed() {
    return columns()
        .add("clients", result -> Numbers.count(result.plan().clients()))
        .megaOps()
        .micros("p50 us", 50)
        .micros("p90 us", 90)
        .micros("p99 us", 99)
        .micros("p99.9 us", 99.9)
        .measured("operations", measured -> Numbers.count(measured.operations))
        .measured("verified", measured -> Numbers.count(measured.verified))
        .table(results);
  }

  /** Returns verbs, bytes and cache hits per operation, and memory per record. */
  public String cost() {
    return columns()
        .verbs()
        .add("trips p50", result -> trips(result, 50))
        .add("trips p99", result -> trips(result, 99))
        .memory(SimResult::footprint)
        .table(results);
  }

  private static String trips(SimResult result, double percentile) {
    return Numbers.count(result.roundTrips().getValueAtPercentile(percentile));
  }

  /** Returns how busy cards and processors were, on the average and at the most. */
  public String busy() {
    return columns()
        .add("compute out", result -> shares(result.utilization().computeOut()))
        .add("compute in", result -> shares(result.utilization().computeIn()))
        .add("memory out", result -> shares(result.utilization().memoryOut()))
        .add("memory in", result -> shares(result.utilization().memoryIn()))
        .add("processors", result -> shares(result.utilization().processors()))
        .add("events", result -> Numbers.count(result.events()))
        .add("M events/s", result -> Numbers.decimal(result.events() / seconds(result) / 1e6, 2))
        .add("seconds", result -> Numbers.decimal(seconds(result), 1))
        .table(results);
  }

  private static double seconds(SimResult result) {
    return result.realNanos() / 1e9;
  }

  private static String shares(List<Double> shares) {
    double mean = shares.stream().mapToDouble(Double::doubleValue).average().orElse(0);
    double most = shares.stream().mapToDouble(Double::doubleValue).max().orElse(0);
    return Numbers.percent(mean) + ", " + Numbers.percent(most);
  }

  private Columns<SimResult> columns() {
    Columns<SimResult> columns =
        new Columns<>(SimResult::measurement)
            .label("workload", SimResult::workload)
            .label("index", result -> result.setup().index());
    if (results.stream().anyMatch(result -> result.plan().keys() != KeySet.UNIFORM)) {
      columns.label("keys", result -> result.plan().keys().toString());
    }
    labelIfDiffers(columns, "values", result -> result.plan().values().toString());
    labelIfDiffers(columns, "distribution", result -> result.plan().distribution().toString());
    labelIfDiffers(columns, "cache", result -> Numbers.size(result.setup().cacheBytesPerServer()));
    labelIfDiffers(columns, "threads", result -> Numbers.count(result.plan().threads()));
    labelIfDiffers(
        columns,
        "processor threads",
        result -> Numbers.count(result.plan().cluster().pool().processorThreads()));
    return columns;
  }

  private void labelIfDiffers(
      Columns<SimResult> columns, String header, Function<SimResult, String> cell) {
    if (results.stream().map(cell).distinct().count() > 1) {
      columns.label(header, cell);
    }
  }
}
