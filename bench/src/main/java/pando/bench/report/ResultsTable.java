package pando.bench.report;

import java.util.List;
import pando.bench.keys.KeySet;
import pando.bench.run.Result;
import pando.bench.run.Setup;
import pando.cli.text.Numbers;

/**
 * Results as two tables: speed, and cost. Keys are named where they are not uniform.
 *
 * @param results of indexes, and of their peers
 */
public record ResultsTable(List<Result> results) {
  /** Returns throughput and latencies, and ratios to the peers. */
  public String speed() {
    Columns<Result> columns = columns().megaOps();
    results.stream()
        .map(Result::setup)
        .filter(Setup::isPeer)
        .map(Setup::index)
        .distinct()
        .forEach(peer -> columns.add("x " + peer, result -> ratio(result, peer)));
    return columns
        .micros("p50 us", 50)
        .micros("p99 us", 99)
        .micros("p99.9 us", 99.9)
        .perOperation("alloc B/op", 1, measured -> measured.allocatedBytes)
        .add("verified", result -> Numbers.count(result.verified()))
        .table(results);
  }

  /** Returns verbs, bytes and cache hits of each index per operation, and memory per record. */
  public String cost() {
    return columns()
        .verbs()
        .memory(Result::footprint)
        .table(results.stream().filter(result -> !result.setup().isPeer()).toList());
  }

  private Columns<Result> columns() {
    Columns<Result> columns =
        new Columns<>(Result::measurement)
            .label("workload", result -> result.workload().toString());
    if (results.stream().anyMatch(result -> result.plan().keys() != KeySet.UNIFORM)) {
      columns.label("keys", result -> result.plan().keys().toString());
    }
    return columns.label("index", result -> result.setup().index());
  }

  private String ratio(Result result, String peer) {
    return results.stream()
        .filter(other -> other.setup().equals(Setup.peer(peer)))
        .filter(other -> other.workload() == result.workload())
        .findFirst()
        .map(other -> result.measurement().throughput / other.measurement().throughput)
        .map(ratio -> Numbers.decimal(ratio, 2))
        .orElse("-");
  }
}
