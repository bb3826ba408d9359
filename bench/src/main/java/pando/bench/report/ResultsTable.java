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
      cells.add(Cells.megaOps(measured));
      peers.forEach(peer -> cells.add(ratio(result, peer)));
      cells.add(Cells.micros(measured, 50));
      cells.add(Cells.micros(measured, 99));
      cells.add(Cells.micros(measured, 99.9));
      cells.add(Numbers.decimal(measured.perOperation(measured.allocatedBytes), 1));
      cells.add(Numbers.count(result.verified()));
      table.add(cells);
    }
    return table.toString();
  }

  /** Returns verbs, bytes and cache hits of the index per operation, and memory per record. */
  public String cost() {
    List<String> headers = new ArrayList<>(List.of("workload"));
    headers.addAll(Cells.VERBS);
    headers.addAll(List.of("bytes", "cache hits", "B/record"));
    TextTable table = new TextTable(1, headers);
    for (Result result : results) {
      if (!result.setup().isPeer()) {
        table.add(cost(result));
      }
    }
    return table.toString();
  }

  private static List<String> cost(Result result) {
    Measurement measured = result.measurement();
    List<String> cells = new ArrayList<>(List.of(result.workload().toString()));
    cells.addAll(Cells.verbs(measured));
    cells.add(Cells.bytes(measured));
    cells.add(Numbers.percent(measured.cacheHitRatio()));
    cells.add(Numbers.decimal(result.bytesPerRecord(), 2));
    return cells;
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
}
