package pando.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import pando.bench.console.Numbers;
import pando.bench.console.TextTable;
import pando.bench.run.Measurement;
import pando.bench.run.Result;
import pando.bench.run.Setup;

/** Results as two tables: how fast, and what it took. */
public final class ResultsTable {
  private static final double NANOS_PER_MICRO = 1_000;

  private final List<Result> results;
  private final List<String> peers;

  /**
   * Prepares the tables.
   *
   * @param results of an index, and of its peers
   */
  public ResultsTable(List<Result> results) {
    this.results = results;
    peers =
        results.stream()
            .map(Result::setup)
            .filter(Setup::isPeer)
            .map(Setup::index)
            .distinct()
            .toList();
  }

  /** Returns throughput and latencies, and ratios to the peers. */
  public String speed() {
    List<String> headers = new ArrayList<>(List.of("workload", "index", "Mops/s"));
    peers.forEach(peer -> headers.add("x " + peer));
    headers.addAll(List.of("p50 us", "p99 us", "p99.9 us", "alloc B/op", "verified"));
    TextTable table = new TextTable(2, headers);
    for (Result result : results) {
      Measurement measured = result.measurement();
      List<String> cells = new ArrayList<>();
      cells.add(result.workload().toString());
      cells.add(result.setup().index());
      cells.add(Numbers.decimal(measured.throughput / 1e6, 3));
      peers.forEach(peer -> cells.add(ratio(result, peer)));
      cells.add(micros(measured, 50));
      cells.add(micros(measured, 99));
      cells.add(micros(measured, 99.9));
      cells.add(Numbers.decimal(measured.perOperation(measured.allocatedBytes), 1));
      cells.add(Numbers.count(result.verified()));
      table.add(cells);
    }
    return table.toString();
  }

  /** Returns verbs, bytes and cache hits of the index per operation, and memory per record. */
  public String cost() {
    TextTable table =
        new TextTable(
            1,
            List.of(
                "workload",
                "READs",
                "WRITEs",
                "atomics",
                "CALLs",
                "trips",
                "bytes",
                "cache hits",
                "B/record"));
    for (Result result : results) {
      if (result.setup().isPeer()) {
        continue;
      }
      Measurement measured = result.measurement();
      table.add(
          List.of(
              result.workload().toString(),
              perOperation(measured, measured.verbs.reads),
              perOperation(measured, measured.verbs.writes),
              perOperation(measured, measured.verbs.atomics),
              perOperation(measured, measured.verbs.calls),
              perOperation(measured, measured.verbs.roundTrips),
              Numbers.decimal(measured.perOperation(measured.verbs.bytes()), 1),
              Numbers.percent(measured.cacheHitRatio()),
              Numbers.decimal(result.bytesPerRecord(), 2)));
    }
    return table.toString();
  }

  private String ratio(Result result, String peer) {
    Optional<Result> measured =
        results.stream()
            .filter(other -> other.setup().equals(Setup.peer(peer)))
            .filter(other -> other.workload() == result.workload())
            .findFirst();
    return measured
        .map(other ->
            Numbers.decimal(result.measurement().throughput / other.measurement().throughput, 2))
        .orElse("-");
  }

  private static String perOperation(Measurement measured, long count) {
    return Numbers.decimal(measured.perOperation(count), 4);
  }

  private static String micros(Measurement measured, double percentile) {
    return Numbers.decimal(measured.latencyNanos(percentile) / NANOS_PER_MICRO, 2);
  }
}
