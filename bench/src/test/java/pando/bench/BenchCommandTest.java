package pando.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.bench.keys.KeySet;
import pando.cli.CommandFixture;
import pando.cli.Main;
import pando.metrics.PandoHttp;
import picocli.CommandLine;

final class BenchCommandTest extends CommandFixture {
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
          "lanes",
          "computeServers",
          "memoryServers",
          "cacheBytesPerServer",
          "throughputOps",
          "readsPerOp",
          "writesPerOp",
          "atomicsPerOp",
          "callsPerOp",
          "roundTripsPerOp",
          "bytesPerOp",
          "cacheHitRatio",
          "p50Nanos",
          "p99Nanos",
          "p999Nanos",
          "allocatedBytesPerOp",
          "cachedBytesPerRecord",
          "poolBytesPerRecord",
          "verified");

  @ParameterizedTest
  @ValueSource(strings = {"orca", "dex", "sherman", "deft", "rolex"})
  void shouldMeasureFewRecords(String index) {
    int status =
        execute("bench", "--index=" + index, "--records=100", "--operations=1000", "--warmup=100");
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString()).startsWith("100 records");
  }

  @Test
  void shouldMeasureEveryWorkloadAndPeer() throws IOException {
    Path json = directory.resolve("out.json");
    int status =
        execute(
            "bench",
            "--workload=all",
            "--records=20K",
            "--operations=10K",
            "--warmup=1K",
            "--cache=128KiB",
            "--distribution=zipfian-dex",
            "--set=counts=1",
            "--peer=skiplist,btree",
            "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString()).contains("x skiplist").contains("x btree").contains("36.8 %");
    List<Map<String, String>> objects = objects(json);
    assertThat(objects).hasSize(3 * 6);
    assertThat(objects).allSatisfy(result -> assertThat(result.keySet()).isEqualTo(FIELDS));
  }

  @Tag("campaign")
  @ParameterizedTest
  @MethodSource("systems")
  void shouldAllocateNothingOnTheWayOfAnOperation(String system) throws IOException {
    Path json = directory.resolve("allocated.json");
    int status =
        execute(
            "bench",
            "--index=" + system,
            "--workload=read-only,write-intensive",
            "--distribution=uniform",
            "--records=20K",
            "--operations=20K",
            "--warmup=1K",
            "--threads=1",
            "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(objects(json))
        .hasSize(2)
        .allSatisfy(run -> assertThat(number(run, "allocatedBytesPerOp")).isLessThan(8));
  }

  @Tag("campaign")
  @ParameterizedTest
  @EnumSource
  void shouldMeasureOnEverySetOfKeys(KeySet set) throws IOException {
    Path json = directory.resolve("keys.json");
    int status =
        execute(
            "bench",
            "--keys=" + set,
            "--workload=write-intensive,scan-intensive,ycsb-d,insert-only",
            "--records=20K",
            "--operations=5K",
            "--warmup=1K",
            "--cache=128KiB",
            "--peer=btree",
            "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    boolean isNamed = set != KeySet.UNIFORM;
    assertThat(out.toString().contains(set + " keys")).isEqualTo(isNamed);
    assertThat(objects(json))
        .hasSize(2 * 4)
        .extracting(run -> run.getOrDefault("keys", "none"))
        .containsOnly(isNamed ? set.toString() : "none");
  }

  @ParameterizedTest
  @CsvSource({"read-only, 385602", "ycsb-e, 192801"})
  void shouldLoadAsManyAddressesAsThereAre(String workload, String records) throws IOException {
    Path json = directory.resolve("addresses.json");
    int status =
        execute(
            "bench",
            "--keys=ipv4",
            "--workload=" + workload,
            "--operations=5K",
            "--warmup=1K",
            "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(objects(json))
        .singleElement()
        .satisfies(run -> assertThat(run).containsEntry("records", records));
  }

  @Tag("campaign")
  @ParameterizedTest
  @CsvSource({
    "orca,     insert-only",
    "dex,      insert-only",
    "sherman,  insert-only",
    "deft,     insert-only",
    "rolex,    insert-only",
    "xstore-d, insert-only",
    "orca,     store-only",
    "dex,      store-only",
    "sherman,  store-only",
    "deft,     store-only",
    "rolex,    store-only",
    "xstore-d, store-only",
  })
  void shouldLoadByInsertsAlone(String index, String workload) throws IOException {
    Path json = directory.resolve("empty.json");
    int status =
        execute(
            "bench",
            "--index=" + index,
            "--workload=" + workload,
            "--records=0",
            "--operations=50K",
            "--warmup=0",
            "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(objects(json))
        .singleElement()
        .satisfies(run ->
            assertThat(run).containsEntry("records", "0").containsEntry("verified", "50000"));
  }

  @Test
  void shouldMeasureSeveralIndexesOneAfterTheOther() throws IOException {
    Path json = directory.resolve("several-indexes.json");
    int status =
        execute(
            "bench",
            "--index=smart,p-smart,emt-d",
            "--workload=read-only,insert-intensive",
            "--records=20K",
            "--operations=10K",
            "--warmup=1K",
            "--cache=128KiB",
            "--peer=btree",
            "--stat",
            "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(objects(json))
        .extracting(run -> run.get("index") + " " + run.get("workload"))
        .containsExactly(
            "smart read-only",
            "smart insert-intensive",
            "p-smart read-only",
            "p-smart insert-intensive",
            "emt-d read-only",
            "emt-d insert-intensive",
            "btree read-only",
            "btree insert-intensive");
    assertThat(out.toString())
        .containsOnlyOnce("20,000 records")
        .contains("smart over local", "p-smart over local", "emt-d over local")
        .containsPattern("Per operation:(?s:.*)\\n *read-only +emt-d +")
        .contains("The pool of smart at", "The pool of p-smart at", "The pool of emt-d at");
  }

  @Test
  void shouldShowWhatWasMeasuredBeforeAnIndexIsRefused() {
    int status =
        execute(
            "bench",
            "--index=rolex,orca",
            "--workload=read-only",
            "--records=1M",
            "--operations=1000",
            "--warmup=100",
            "--cache=40K");
    assertThat(status).isEqualTo(2);
    assertThat(err.toString()).contains("the cache is too small for the directory");
    assertThat(out.toString())
        .containsPattern("Per operation:(?s:.*)\\n *read-only +rolex ")
        .doesNotContainPattern("\\n *read-only +orca ");
  }

  @Test
  void shouldLookUpSeveralKeysAtATime() throws IOException {
    Path json = directory.resolve("several.json");
    int status =
        execute(
            "bench",
            "--index=p-sherman",
            "--workload=read-only,multi-get",
            "--distribution=uniform",
            "--records=20K",
            "--operations=100K",
            "--warmup=1K",
            "--cache=128KiB",
            "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(objects(json))
        .hasSize(2)
        .allSatisfy(run ->
            assertThat(run)
                .containsEntry("operations", "100000")
                .containsEntry("verified", "100000"));
  }

  @Test
  void shouldShowTheIndexWhileItRuns() {
    List<String> looks = new ArrayList<>();
    // Looks while the result is told, as the index is open then, and its clients have ended.
    StringWriter progress =
        new StringWriter() {
          @Override
          public void write(String text, int offset, int length) {
            super.write(text, offset, length);
            if (text.contains("Mops/s")) {
              looks.add(metrics());
            }
          }
        };
    CommandLine pando = Main.commandLine();
    pando.setOut(new PrintWriter(out)).setErr(new PrintWriter(progress));
    int status =
        pando.execute(
            "bench",
            "--index=orca,dex",
            "--http=0",
            "--workload=read-only,read-intensive",
            "--records=1000",
            "--operations=1000",
            "--warmup=100");
    assertThat(status).as(progress.toString()).isZero();
    assertThat(looks).hasSize(4);
    assertThat(looks.getFirst()).contains("\npando_ops_total 1100.0\n", "system=\"orca\"");
    assertThat(looks.get(1)).contains("\npando_ops_total 2200.0\n", "system=\"orca\"");
    assertThat(looks.getLast()).contains("\npando_ops_total 4400.0\n", "system=\"dex\"");
  }

  private String metrics() {
    return read(URI.create(found(out, "live page at (\\S+)")).resolve("/metrics"));
  }

  @Test
  void shouldRefuseAPortThatIsTaken() throws IOException {
    try (ServerSocket taken = new ServerSocket()) {
      taken.bind(PandoHttp.loopback(0));
      int status = execute("bench", "--http=" + taken.getLocalPort(), "--records=100");
      assertThat(status).isEqualTo(2);
      assertThat(err.toString()).startsWith("pando bench: cannot listen").contains("in use");
      assertThat(err.toString().lines()).hasSize(1);
    }
  }

  @Test
  void shouldSayAtTheEndWhereTheBytesAre() {
    int status =
        execute(
            "bench",
            "--workload=read-only",
            "--records=5K",
            "--operations=1K",
            "--warmup=1K",
            "--stat");
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString()).containsPattern("\\n +leaves +").containsPattern("\\n +all +");
  }

  @Test
  void shouldMeasureStrings() throws IOException {
    Path file = directory.resolve("words");
    Files.writeString(file, "b\na\n\nc/d\na\n");
    assertThat(
            execute(
                "bench-strings",
                "--keys-file",
                file.toString(),
                "--records",
                "20K",
                "--operations",
                "20K",
                "--cache-share",
                "8"))
        .isZero();
    assertThat(out.toString())
        .contains("20,000 keys, 12.7 bytes each")
        .contains("skip list")
        .contains("half updates");
    assertThat(
            execute("bench-strings", "--records", "20K", "--operations", "20K", "--peer", "none"))
        .isZero();
    assertThat(out.toString())
        .contains("20,000 keys, 40.0 bytes each: 960.0 KB", "records and blocks 0 B");
  }
}
