package pando.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.bench.keys.KeySet;
import pando.cli.CommandFixture;

final class SimulateCommandTest extends CommandFixture {
  private static final Set<String> FIELDS =
      Set.of(
          "index",
          "fabric",
          "workload",
          "distribution",
          "theta",
          "records",
          "operations",
          "threads",
          "coroutines",
          "clients",
          "network",
          "processorThreads",
          "computeServers",
          "memoryServers",
          "cacheBytesPerServer",
          "seed",
          "virtualNanos",
          "throughputOps",
          "readsPerOp",
          "writesPerOp",
          "atomicsPerOp",
          "callsPerOp",
          "roundTripsPerOp",
          "roundTripsP50",
          "roundTripsP99",
          "bytesPerOp",
          "cacheHitRatio",
          "cachedBytesPerRecord",
          "poolBytesPerRecord",
          "p50Nanos",
          "p90Nanos",
          "p99Nanos",
          "p999Nanos",
          "verified",
          "computeOut",
          "computeIn",
          "memoryOut",
          "memoryIn",
          "processors",
          "events",
          "realNanos",
          "hash");

  @Test
  void shouldPrintEachSettingOnceInTheCommandThatReplaysASeed() {
    int status =
        execute(
            "simulate",
            "--index=dex",
            "--seeds=4",
            "--operations=800",
            "--faults=crash-compute",
            "--set=merge-share=0.5",
            "--set=admission=0.2",
            "--set=wire-nanos=500");
    assertThat(status).isEqualTo(1);
    assertThat(out.toString())
        .contains(
            " --index=dex --operations=800 --faults=crash-compute --set=merge-share=0.5"
                + " --set=admission=0.2 --set=wire-nanos=500 --seeds=1 ")
        .containsOnlyOnce("--index")
        .containsOnlyOnce("wire-nanos");
  }

  @Tag("campaign")
  @Test
  void shouldNameTheIndexInTheCommandThatReplaysASeed() {
    int status = execute("simulate", "--seeds=30", "--operations=800", "--faults=crash-compute");
    assertThat(status).isEqualTo(1);
    assertThat(out.toString())
        .contains(
            "./pando simulate --index=orca --operations=800 --faults=crash-compute --seeds=1 ");
  }

  @Test
  void shouldSimulateOperationsOnSeveralKeysAtATime() {
    int status =
        execute(
            "simulate",
            "--index=deft",
            "--workload=multi-get,store-only,multi-put",
            "--records=20K",
            "--warmup=1K",
            "--threads=2",
            "--duration=300us");
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString()).contains("multi-get", "store-only", "multi-put");
  }

  @Test
  void shouldSimulateEachKindOfLock() throws IOException {
    Path json = directory.resolve("locks.json");
    int status =
        execute(
            "simulate",
            "--index=lock",
            "--lock-kind=cas,chip-cas,sx-shared,sx-exclusive",
            "--locks=1",
            "--compute-servers=4",
            "--threads=10",
            "--duration=2ms",
            "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    List<Map<String, String>> objects = objects(json);
    assertThat(objects.stream().map(each -> each.get("workload")))
        .containsExactly("cas", "chip-cas", "sx-shared", "sx-exclusive");
    double[] speeds = objects.stream().mapToDouble(each -> number(each, "throughputOps")).toArray();
    assertThat(speeds[1]).as("on the card").isGreaterThan(speeds[0]);
    assertThat(speeds[2]).as("shared").isGreaterThan(2 * speeds[1]);
    assertThat(speeds[3]).as("in turn").isBetween(speeds[0], speeds[2]);
  }

  @Tag("campaign")
  @Test
  void shouldSimulateLocks() throws IOException {
    Path json = directory.resolve("locks.json");
    int status =
        execute(
            "simulate",
            "--index=lock",
            "--theta=0",
            "--duration=1ms",
            "--threads=4,22",
            "--coroutines=2",
            "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString()).contains("308");
    List<Map<String, String>> objects = objects(json);
    assertThat(objects).hasSize(2);
    assertThat(objects)
        .allSatisfy(locks -> {
          assertThat(locks.keySet()).isEqualTo(FIELDS);
          assertThat(locks).containsEntry("records", "10240").containsEntry("theta", "0.0");
          assertThat(number(locks, "writesPerOp")).isCloseTo(1, within(0.01));
          assertThat(number(locks, "roundTripsPerOp")).isBetween(2.0, 2.2);
          assertThat(number(locks, "atomicsPerOp")).isBetween(1.0, 1.2);
        });
  }

  @Tag("campaign")
  @Test
  void shouldSimulateEveryCombinationOnOneTree() throws IOException {
    Path json = directory.resolve("sim.json");
    int status =
        execute(
            "simulate",
            "--workload=read-only,write-intensive,insert-intensive,scan-intensive",
            "--distribution=uniform,zipfian",
            "--cache=128KiB,30%",
            "--records=50K",
            "--warmup=20K",
            "--threads=4",
            "--coroutines=2",
            "--duration=200us",
            "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString()).contains("uniform", "zipfian", "128 KiB", "240.0 KB");
    assertThat(out.toString()).doesNotContain("threads");
    List<Map<String, String>> objects = objects(json);
    assertThat(objects).hasSize(4 * 2 * 2);
    assertThat(objects)
        .allSatisfy(run -> {
          assertThat(run.keySet()).isEqualTo(FIELDS);
          assertThat(run).containsEntry("threads", "4").containsEntry("computeServers", "4");
          assertThat(number(run, "operations")).isPositive();
        });
    assertThat(objects)
        .extracting(run -> run.get("distribution") + " " + run.get("cacheBytesPerServer"))
        .startsWith("uniform 131072", "uniform 240000", "zipfian 131072");
  }

  @Tag("campaign")
  @ParameterizedTest
  @ValueSource(strings = {"orca", "dex", "sherman", "rolex"})
  void shouldSimulateTheWorkloadsOfYcsb(String index) throws IOException {
    Path json = directory.resolve("ycsb.json");
    int status =
        execute(
            "simulate",
            "--index=" + index,
            "--workload=write-intensive,read-intensive,read-only,ycsb-d,ycsb-e,ycsb-f",
            "--records=20K",
            "--cache=128KiB",
            "--warmup=20K",
            "--threads=4",
            "--duration=500us",
            "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(objects(json))
        .extracting(run -> run.get("workload") + " " + run.get("distribution"))
        .endsWith("ycsb-d latest", "ycsb-e zipfian", "ycsb-f zipfian");
  }

  @Tag("campaign")
  @ParameterizedTest
  @EnumSource
  void shouldSimulateEverySetOfKeys(KeySet set) throws IOException {
    Path json = directory.resolve("keys.json");
    // New keys follow dense ones, so only the last partition gets any, which simulate refuses.
    String inserting = set == KeySet.DENSE ? "" : ",insert-intensive,scan-intensive,ycsb-d";
    int status =
        execute(
            "simulate",
            "--keys=" + set,
            "--workload=write-intensive" + inserting,
            "--records=20K",
            "--cache=128KiB",
            "--warmup=5K",
            "--threads=2",
            "--duration=200us",
            "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    boolean isNamed = set != KeySet.UNIFORM;
    assertThat(out.toString().contains(set.toString())).isEqualTo(isNamed);
    assertThat(objects(json))
        .hasSize(set == KeySet.DENSE ? 1 : 4)
        .extracting(run -> run.getOrDefault("keys", "none"))
        .containsOnly(isNamed ? set.toString() : "none");
  }

  @ParameterizedTest
  @CsvSource({
    "orca, uniform",
    "orca, ipv4",
    "dex, uniform",
    "p-sherman, sequential",
    "sherman, lognormal",
    "deft, normal",
    "rolex, lognormal",
    "xstore-d, lognormal"
  })
  void shouldSimulateALoadByInsertsAlone(String index, String keys) {
    int status =
        execute(
            "simulate",
            "--index=" + index,
            "--keys=" + keys,
            "--workload=insert-only",
            "--records=0",
            "--warmup=0",
            "--cache=128KiB",
            "--threads=2",
            "--duration=500us");
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString()).contains("insert-only");
  }

  @Test
  void shouldSayThatPartitionsAreOfNoUseWhereTheyHaveNoKeys() {
    int status =
        execute(
            "simulate",
            "--keys=lognormal",
            "--workload=insert-only",
            "--records=0",
            "--cache=128KiB",
            "--threads=1",
            "--duration=100us");
    assertThat(err.toString()).contains("a client's partition has hardly any keys").hasLineCount(1);
    assertThat(status).isOne();
  }

  @Test
  void shouldRunTrialsOfWholeClusters() throws IOException {
    Path history = directory.resolve("history.txt");
    int status =
        execute(
            "simulate",
            "--cluster",
            "--index=p-sherman",
            "--seeds=1",
            "--seed=5",
            "--operations=300",
            "--faults=session-lost,stale-route",
            "--history=" + history);
    assertThat(status).as(err.toString()).isZero();
    assertThat(execute("check", history.toString())).isZero();
    assertThat(out.toString())
        .contains("1 seeds, 0 with violations", "changes not over: 0", "stale-route struck");
  }

  @Test
  void shouldRunTrialsAndCheckTheirHistory() throws IOException {
    Path history = directory.resolve("history.txt");
    Path json = directory.resolve("trials.json");
    int status =
        execute(
            "simulate",
            "--seeds=1",
            "--seed=3",
            "--faults=torn",
            "--set=wire-nanos=900",
            "--set=counts=1",
            "--history=" + history,
            "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(execute("check", history.toString())).isZero();
    assertThat(out.toString()).contains("0 with violations").contains(": 0 violations");
    assertThat(objects(json))
        .singleElement()
        .satisfies(summary ->
            assertThat(summary)
                .containsEntry("firstSeed", "3")
                .containsEntry("seeds", "1")
                .containsEntry("failures", "0")
                .containsKeys("firstFailingSeed", "faults", "changes", "unknown", "events"));
  }
}
