package pando.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import pando.bench.keys.KeySet;
import pando.bench.run.Measurement;
import pando.bench.run.Result;
import pando.bench.run.Setup;
import pando.cli.text.Numbers;
import pando.cli.text.TextTable;

/** Results as two tables: speed, and cost. */
public final class ResultsTable {
  private final List<Result> results;
  private final List<String> peers;
  private final boolean areKeysNamed;

  /**
   * Prepares the tables.
   *
   * @param results of an index, and of its peers
   */
  public ResultsTable(List<Result> results) {
    this.results = results;
    areKeysNamed = results.stream().anyMatch(result -> result.plan().keys() != KeySet.UNIFORM);
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
    List<String> headers = labels("workload", "keys");
    headers.addAll(List.of("index", "Mops/s"));
    peers.forEach(peer -> headers.add("x " + peer));
    headers.addAll(List.of("p50 us", "p99 us", "p99.9 us", "alloc B/op", "verified"));
    TextTable table = new TextTable(areKeysNamed ? 3 : 2, headers);
    for (Result result : results) {
      Measurement measured = result.measurement();
      List<String> cells = labels(result);
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
    List<String> headers = labels("workload", "keys");
    headers.addAll(Cells.VERBS);
    headers.addAll(List.of("bytes", "cache hits"));
    headers.addAll(Cells.FOOTPRINT);
    TextTable table = new TextTable(areKeysNamed ? 2 : 1, headers);
    for (Result result : results) {
      if (!result.setup().isPeer()) {
        table.add(cost(result));
      }
    }
    return table.toString();
  }

  private List<String> cost(Result result) {
    Measurement measured = result.measurement();
    List<String> cells = labels(result);
    cells.addAll(Cells.verbs(measured));
    cells.add(Cells.bytes(measured));
    cells.add(Numbers.percent(measured.cacheHitRatio()));
    cells.addAll(Cells.footprint(result.footprint()));
    return cells;
  }

  private List<String> labels(Result result) {
    return labels(result.workload().toString(), result.plan().keys().toString());
  }

  /** Returns the cells that a line begins with: keys are named where they are not uniform. */
  private List<String> labels(String workload, String keys) {
    return new ArrayList<>(areKeysNamed ? List.of(workload, keys) : List.of(workload));
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
