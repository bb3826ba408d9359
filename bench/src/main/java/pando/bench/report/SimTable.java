package pando.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import pando.bench.keys.KeySet;
import pando.bench.run.Measurement;
import pando.bench.simulate.SimResult;
import pando.cli.text.Numbers;
import pando.cli.text.TextTable;
import pando.sim.Utilization;

/**
 * Runs in virtual time as three tables: speed, cost, and utilization. Each line starts with its
 * workload and index, its keys if they are not uniform, and all parameters that differ between
 * lines.
 */
public final class SimTable {
  private static final Map<String, Function<SimResult, String>> CHOICES = choices();

  private final List<SimResult> results;
  private final Map<String, Function<SimResult, String>> labels = new LinkedHashMap<>();

  /** Prepares the tables. */
  public SimTable(List<SimResult> results) {
    this.results = results;
    labels.put("workload", SimResult::workload);
    labels.put("index", result -> result.setup().index());
    if (results.stream().anyMatch(result -> result.plan().keys() != KeySet.UNIFORM)) {
      labels.put("keys", result -> result.plan().keys().toString());
    }
    CHOICES.forEach((name, choice) -> {
      if (results.stream().map(choice).distinct().count() > 1) {
        labels.put(name, choice);
      }
    });
  }

  private static Map<String, Function<SimResult, String>> choices() {
    Map<String, Function<SimResult, String>> choices = new LinkedHashMap<>();
    choices.put("distribution", result -> result.plan().distribution().toString());
    choices.put("cache", result -> Numbers.size(result.setup().cacheBytesPerServer()));
    choices.put("threads", result -> Numbers.count(result.plan().threads()));
    choices.put(
        "processor threads",
        result -> Numbers.count(result.plan().cluster().pool().processorThreads()));
    return choices;
  }

  /** Returns throughput and latencies. */
  public String speed() {
    List<String> headers =
        List.of(
            "clients",
            "Mops/s",
            "p50 us",
            "p90 us",
            "p99 us",
            "p99.9 us",
            "operations",
            "verified");
    return table(headers, SimTable::speed);
  }

  private static List<String> speed(SimResult result) {
    Measurement measured = result.measurement();
    return List.of(
        Numbers.count(result.plan().clients()),
        Cells.megaOps(measured),
        Cells.micros(measured, 50),
        Cells.micros(measured, 90),
        Cells.micros(measured, 99),
        Cells.micros(measured, 99.9),
        Numbers.count(measured.operations),
        Numbers.count(measured.verified));
  }

  /** Returns verbs, bytes and cache hits per operation, and memory per record. */
  public String cost() {
    List<String> headers = new ArrayList<>(Cells.VERBS);
    headers.addAll(List.of("trips p50", "trips p99", "bytes", "cache hits"));
    headers.addAll(Cells.FOOTPRINT);
    return table(headers, SimTable::cost);
  }

  private static List<String> cost(SimResult result) {
    Measurement measured = result.measurement();
    List<String> cells = new ArrayList<>(Cells.verbs(measured));
    cells.add(Numbers.count(result.roundTrips().getValueAtPercentile(50)));
    cells.add(Numbers.count(result.roundTrips().getValueAtPercentile(99)));
    cells.add(Cells.bytes(measured));
    cells.add(Numbers.percent(measured.cacheHitRatio()));
    cells.addAll(Cells.footprint(result.footprint()));
    return cells;
  }

  /** Returns how busy cards and processors were, on the average and at the most. */
  public String busy() {
    List<String> headers =
        List.of(
            "compute out",
            "compute in",
            "memory out",
            "memory in",
            "processors",
            "events",
            "M events/s",
            "seconds");
    return table(headers, SimTable::busy);
  }

  private static List<String> busy(SimResult result) {
    Utilization busy = result.utilization();
    double seconds = result.realNanos() / 1e9;
    return List.of(
        shares(busy.computeOut()),
        shares(busy.computeIn()),
        shares(busy.memoryOut()),
        shares(busy.memoryIn()),
        shares(busy.processors()),
        Numbers.count(result.events()),
        Numbers.decimal(result.events() / seconds / 1e6, 2),
        Numbers.decimal(seconds, 1));
  }

  private static String shares(List<Double> shares) {
    double mean = shares.stream().mapToDouble(Double::doubleValue).average().orElse(0);
    double most = shares.stream().mapToDouble(Double::doubleValue).max().orElse(0);
    return Numbers.percent(mean) + ", " + Numbers.percent(most);
  }

  private String table(List<String> headers, Function<SimResult, List<String>> cells) {
    TextTable table = new TextTable(labels.size(), joined(labels.keySet().stream(), headers));
    for (SimResult result : results) {
      Stream<String> labeled = labels.values().stream().map(label -> label.apply(result));
      table.add(joined(labeled, cells.apply(result)));
    }
    return table.toString();
  }

  private static List<String> joined(Stream<String> labels, List<String> cells) {
    return Stream.concat(labels, cells.stream()).toList();
  }
}
