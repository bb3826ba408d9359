package pando.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.bench.console.Numbers;
import pando.bench.keys.KeySet;
import pando.fabric.Fabric;
import pando.fabric.server.PoolOptions;
import pando.fabric.shm.ShmFabric;
import pando.fabric.shm.ShmMemoryServer;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpMemoryServer;
import pando.index.IndexSystem;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.Systems;
import pando.metrics.PandoHttp;
import picocli.CommandLine;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

@Timeout(300)
final class MainTest {
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

  private static final Set<String> SIM_FIELDS =
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

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "pando nonsense                                   | nonsense",
        "pando bench --nonsense                           | Unknown option: '--nonsense'",
        "pando bench --records 12x                        | '12x' is not a quantity",
        "pando bench --records 0                          | --records is out of range: value=0",
        "pando bench --records 3G                         | value=3000000000, least=1",
        "pando bench --records 0 --workload insert-only,read-only | --records is out of range",
        "pando simulate --records 0                       | --records is out of range: value=0",
        "pando bench --keys zipf                          | 'zipf' is not one of uniform, normal",
        "pando simulate --seeds 1 --keys normal           | no use for --keys=normal: trials",
        "pando bench --operations 0                       | --operations is out of range",
        "pando bench --threads 129                        | --threads is out of range",
        "pando bench --lanes 65                           | --lanes is out of range",
        "pando bench --lanes 2 --threads 4                | --lanes is out of range: value=2, not",
        "pando bench --lanes 2 --sessions-per-lane 0      | --sessions-per-lane is out of range",
        "pando bench --lanes 2 --peer skiplist            | --lanes is out of range: value=2, not",
        "pando bench --seconds -1                         | --seconds is out of range",
        "pando bench --theta -1                           | --theta is out of range: value=-1.0",
        "pando bench --fill 1.1                           | --fill is out of range: value=1.1",
        "pando bench --fill x                             | 'x'",
        "pando bench --index btree                        | 'btree' is not one of dex",
        "pando bench --fabric rdma                        | 'rdma' is not one of local, shm, tcp",
        "pando bench --workload read-mostly               | 'read-mostly' is not one of read-only",
        "pando bench --distribution normal                | 'normal' is not one of zipfian",
        "pando bench --peer lmdb                          | 'lmdb' is not one of skiplist",
        "pando bench --cache 1K                           | cache-bytes is out of range:"
            + " value=1000",
        "pando bench --cache x%                           | 'x%' is not a share",
        "pando bench --set colour=red                     | name=colour",
        "pando bench --set node-bytes=77                  | node-bytes=77",
        "pando bench --index dex --set node-bytes=77      | nodeBytes=77",
        "pando bench --set node-bytes                     | node-bytes",
        "pando bench --compute-servers 65                 | compute-servers is out of range",
        "pando bench --memory-servers 0                   | --memory-servers is out of range",
        "pando bench --fabric shm --compute-processes 3   | --compute-processes is out of range",
        "pando bench --json no/such/directory/out.json    | --json is not a file",
        "pando bench --http 65536                         | --http is out of range: value=65536",
        "pando bench --http 0 --fabric shm                | only where all compute servers are in",
        "pando serve                                      | Missing required option: '--resp=PORT'",
        "pando serve --resp 65536                         | --resp is out of range: value=65536",
        "pando serve --resp 0 --http 65536                | --http is out of range: value=65536",
        "pando serve --resp 0 --http-bind 127.0.0.1       | goes with --http",
        "pando serve --resp 0 --http 0 --http-bind 1:2    | --http-bind is no address",
        "pando serve --resp 0 --pool rdma                 | no such pool: pool=rdma",
        "pando serve --resp 0 --pool shm:a --memory-servers 2 | are for a local pool",
        "pando serve --resp 0 --bind 0.0.0.0              | a password is needed:"
            + " address=0.0.0.0:0",
        "pando serve --resp 0 --tls-cert a                | --tls-key are given together",
        "pando serve --resp 0 --event-loops 0             | --event-loops is out of range: value=0",
        "pando serve --resp 0 --cache 1x                  | '1x' is not a quantity",
        "pando churn --churn 0                            | --churn is out of range",
        "pando churn --value-bytes 9..8                   | '9..8' is not a range of lengths",
        "pando churn --value-bytes 0..9M                  | '0..9M' is not a range of lengths",
        "pando churn --value-bytes 1..2 --records 2G      | --records is out of range",
        "pando churn --byte-keys                          | go with --value-bytes",
        "pando bench-strings --cache-share -1             | --cache-share is out of range",
        "pando churn --index sherman --set validation=original | runs in the simulator alone",
        "pando simulate --faults gremlins                 | 'gremlins' is not one of torn",
        "pando simulate --network string                  | 'string' is not one of cards, tcp",
        "pando simulate --threads 0                       | --threads is out of range",
        "pando simulate --compute-servers 65              | --compute-servers is out of range",
        "pando simulate --memory-servers 0                | --memory-servers is out of range",
        "pando simulate --coroutines 0                    | --coroutines is out of range",
        "pando simulate --duration -3ms                   | '-3ms' is not a time",
        "pando simulate --duration 5                      | '5' is not a time",
        "pando simulate --index oak                       | 'oak' is not one of dex, orca,"
            + " sherman, p-sherman, fg, deft, rolex, xstore-d, lock",
        "pando simulate --set wire-nanos=-1               | a constant of the model is out of"
            + " range",
        "pando simulate --set wire-nanos=x                | 'x' is not a number",
        "pando simulate --set colour=red                  | name=colour",
        "pando simulate --seeds 0                         | --seeds is out of range",
        "pando simulate --seeds 2 --history h.txt         | --history",
        "pando simulate --seeds 1 --history no/such/h.txt | --history is not a file",
        "pando simulate --seeds 1 --json no/such/out.json | --json is not a file",
        "pando simulate --json no/such/out.json           | --json is not a file",
        "pando simulate --seeds 1 --index lock            | --index is out of range: value=lock",
        "pando simulate --seeds 1 --coroutines 9          | no use for --coroutines=9: trials",
        "pando simulate --seeds 1 --workload all          | no use for --workload=all: trials",
        "pando simulate --seeds 1 --own-cards             | no use for --own-cards: trials",
        "pando simulate --seeds 1 --processor-threads 2   | no use for --processor-threads=2",
        "pando simulate --seeds 1 --threads 1,2           | --threads takes one value",
        "pando simulate --seeds 1 --threads 20            | --threads is out of range: value=20",
        "pando simulate --seeds 1 --set node-bytes=77     | node-bytes=77",
        "pando simulate --seeds 1 --index orca --set admission=1 | --index orca has no such"
            + " setting: name=admission, systems that have it=dex",
        "pando simulate --index orca --set offloading=off | --index orca has no such setting:"
            + " name=offloading, systems that have it=dex",
        "pando simulate --seeds 1 --set wire-nanos=-1     | a constant of the model is out of"
            + " range: name=wire-nanos",
        "pando simulate --index lock --cache 1%           | no use for --cache=1%: locks",
        "pando simulate --index lock --set admission=1    | --set is out of range:"
            + " value={admission=1}",
        "pando simulate --operations 5                    | no use for --operations=5: workloads",
        "pando simulate --locks 5                         | no use for --locks=5: workloads",
        "pando simulate --lock-kind cas                   | no use for --lock-kind=cas: workloads",
        "pando simulate --index lock --lock-kind rope     | 'rope' is not one of cas, chip-cas,"
            + " sx-shared, sx-exclusive",
        "pando simulate --index lock --lock-kind chip-cas --locks 32769 | --locks is out of range",
        "pando simulate --cache ,                         | --cache is out of range",
        "pando simulate --threads ,                       | --threads is out of range",
        "pando bench --cache 1%,2%                        | --cache takes one value",
        "pando bench --distribution uniform,zipfian       | --distribution takes one value",
        "pando simulate --index fg --set validation=lot   | one of auto, lines",
        "pando compare                                    | --figure",
        "pando compare --figure 12                        | '12' is not one of sherman-10",
        "pando compare --figure rolex                     | rolex-ycsb, rolex-scaling, rolex-data,"
            + " rolex-retraining, rolex-empty, systems",
        "pando compare --figure dex-6 --records 9         | --records is out of range",
        "pando compare --figure orca-caches --records 100K | the cache is too small for the",
        "pando compare --html page.html                   | needs --figure NAME, or --html or",
        "pando compare results.json                       | needs --figure NAME, or --html or",
        "pando compare --html a.json b.json               | --html is out of range: value=a.json",
        "pando compare --html a.html no-such-file         | no-such-file: not a file",
        "pando compare --html a.html --seed 1 b.json      | --records, --seed and --json are for",
        "pando compare --figure dex-6 a.json              | --figure runs one anew, without files",
        "pando compare --pictures no-such-folder a.json   | --pictures is out of range",
        "pando bench --index sherman --set admission=1    | --index sherman has no such setting:"
            + " name=admission, systems that have it=dex",
        "pando churn --index orca --set merged-share=0.9  | --index orca has no such setting:"
            + " name=merged-share, systems that have it=dex",
        "pando bench --index sherman --set validation=lines | needs a fabric that lands 64 bytes",
        "pando bench --index sherman --set validation=original | runs in the simulator alone",
        "pando check no-such-file                         | no-such-file: not a file",
        "pando bench-strings --keys-file no-such-file     | no-such-file: not a file",
        "pando bench-strings --peer btree                 | --peer is skiplist-sorted or none here",
        "pando bench-strings --fill 0                     | --fill is out of range: value=0.0",
        "pando bench-strings --records 1K                 | the cache is too small",
        "pando demo 8.8.8                                 | '8.8.8' is not an IPv4 address",
        "pando memory-server --size 8MiB                  | --name",
        "pando stat                                       | --pool",
        "pando stat --pool nobody --set delta=3           | no such setting",
        "pando bench --fabric shm --stat                  | --stat is out of range",
        "pando bench --fabric tcp --stat                  | --stat is out of range",
        "pando bench --fabric tcp --http 0                | only where all compute servers are in",
        "pando bench --fabric tcp --compute-processes 3   | --compute-processes is out of range",
        "pando bench --compute-processes 1                | only with --fabric shm or tcp",
        "pando bench --fabric tcp --token-file a          | go with --memory-server",
        "pando bench --memory-server 127.0.0.1:1          | --memory-server is out of range",
        "pando bench --fabric tcp --memory-server 1.2.3   | '1.2.3' is not HOST:PORT",
        "pando memory-server --listen 0.0.0.0:0 --size 8MiB | only loopback addresses",
        "pando memory-server --listen 0.0.0.0:0 --token-file a --size 8MiB | only loopback"
            + " addresses",
        "pando memory-server --listen 127.0.0.1:0 --tls-cert a --size 8MiB | --tls-key and --tls-ca"
            + " are given together",
        "pando memory-server --listen 127.0.0.1:0 --tls-cert a --tls-key a --tls-ca a --size 8MiB |"
            + " NoSuchFileException: a",
        "pando memory-server --listen 127.0.0.1:0 --tls-ca a --token-file a --size 8MiB | give"
            + " either --token-file or --tls-cert",
        "pando memory-server --listen 0.0.0.0:0 --trusted-network --size 8MiB | goes with"
            + " --token-file",
        "pando memory-server --listen 127.0.0.1:0 --token-file pom.xml --size 8MiB | must have mode"
            + " 0600: file=pom.xml",
        "pando memory-server --name a --token-file a --size 8MiB | go with --listen",
        "pando memory-server --listen 192.0.2.1:1 --token-file nobody --trusted-network --size 8MiB"
            + " | NoSuchFileException: nobody",
        "pando bench --tls-cert a --tls-key a --tls-ca a  | go with --memory-server",
        "pando bench --fabric tcp --workload read-only --memory-server 127.0.0.1:1 | no memory"
            + " server answers",
        "pando bench --fabric tcp --workload read-only --memory-server 192.0.2.1:1 | only loopback"
            + " addresses",
        "pando bench --fabric tcp --workload read-only --memory-server 127.0.0.1:1 --token-file"
            + " pom.xml | must have mode 0600: file=pom.xml",
        "pando memory-server --listen ::1:65536 --size 8MiB | is not HOST:PORT",
        "pando memory-server --listen 127.0.0.1:0 --name a --size 8MiB | either --name or --listen",
        "pando memory-server --name a --size x            | 'x' is not a quantity",
        "pando memory-server --name a/b --size 8MiB       | a/b",
        "pando memory-server --name a --size 1            | bytesPerServer=1",
        "pando jmh Verb                                   | start it by ./pando jmh"
      })
  void shouldRefuseInOneLineWhatMakesNoSense(String commandLine, String complaint) {
    String[] words = commandLine.split(" +");
    int status = execute(List.of(words).subList(1, words.length));
    assertThat(err.toString()).contains(complaint).startsWith("pando");
    assertThat(err.toString().lines()).hasSize(1);
    assertThat(out.toString()).doesNotContain("Usage");
    assertThat(status).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "bench",
        "demo",
        "churn",
        "simulate",
        "check",
        "compare",
        "memory-server",
        "stat"
      })
  void shouldHelp(String command) {
    int status = execute((command + " --help").strip().split(" "));
    assertThat(out.toString()).startsWith("Usage: pando " + command);
    assertThat(err.toString()).isEmpty();
    assertThat(status).isZero();
  }

  @Test
  void shouldMeasureStrings(@TempDir Path directory) throws IOException {
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
            execute(
                "bench-strings",
                "--records",
                "20K",
                "--operations",
                "20K",
                "--cache-share",
                "4",
                "--peer",
                "none"))
        .isZero();
    assertThat(out.toString()).contains("20,000 keys, 40.0 bytes each: 960.0 KB");
  }

  @Test
  void shouldListTheSettingsOfTheIndexInTheHelp() {
    execute("bench", "--help");
    assertThat(out.toString()).contains("node-bytes: ").contains("admission: ");
  }

  @Test
  void shouldPrintItsHelpWhereNoCommandIsGiven() {
    assertThat(execute()).isEqualTo(2);
    assertThat(err.toString()).startsWith("Usage: pando ").contains("Begin with: pando demo");
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void shouldListEachSystemInTheHelp() {
    execute("bench", "--help");
    for (IndexSystem system : Systems.all()) {
      assertThat(out.toString()).contains("\n" + system.name() + ": ");
    }
  }

  @Test
  void shouldRefuseToCheckWhatIsNoText() throws IOException {
    Path file = directory.resolve("bytes");
    Files.write(file, new byte[] {'g', 'e', 't', (byte) 0xC3, (byte) 0x28, (byte) 0xFF});
    assertThat(execute("check", file.toString())).isEqualTo(2);
    assertThat(err.toString()).contains(file + ": not a text in UTF-8");
    assertThat(err.toString().lines()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"orca", "dex", "sherman", "deft", "rolex"})
  void shouldMeasureFewRecords(String index) {
    int status =
        execute("bench", "--index=" + index, "--records=100", "--operations=1000", "--warmup=100");
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString()).startsWith("100 records");
  }

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

  @Test
  void shouldNameTheIndexInTheCommandThatReplaysASeed() {
    int status = execute("simulate", "--seeds=30", "--operations=800", "--faults=crash-compute");
    assertThat(status).isEqualTo(1);
    assertThat(out.toString())
        .contains(
            "./pando simulate --index=orca --operations=800 --faults=crash-compute --seeds=1 ");
  }

  @ParameterizedTest
  @CsvSource({"bench, --operations=1000", "simulate, --duration=100us"})
  void shouldRunOrcaWhereNoIndexIsNamed(String command, String length) {
    int status =
        execute(command, "--workload=read-only", "--records=1000", "--warmup=1000", length);
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString()).containsPattern("\\n +read-only +orca ");
  }

  @ParameterizedTest
  @CsvSource({
    "bench,--workload=read-only,--cache=40K",
    "churn,--churn=1000,--cache=40K",
    "simulate,--workload=read-only,'--cache=8%,40K'"
  })
  void shouldSayInOneLineWhichCacheIsEnoughForTheDirectory(
      String command, String work, String cache) {
    int status = execute(command, "--index=orca", work, "--records=1M", cache);
    assertThat(err.toString())
        .startsWith("pando " + command + ": the cache is too small for the directory")
        .contains("cache-bytes=40000, directoryBytes=1", "needed: cache-bytes=1")
        .hasLineCount(1);
    assertThat(status).isEqualTo(2);
  }

  @Test
  void shouldTellItsVersion() {
    assertThat(execute("--version")).isZero();
    assertThat(out.toString()).startsWith("pando ").contains("Java 25");
  }

  @Test
  void shouldAnswerForAnAddress() {
    assertThat(execute("demo", "1.1.1.1")).isZero();
    assertThat(out.toString()).startsWith("1.1.1.1 is in ");
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

  static Stream<String> systems() {
    return Systems.all().stream().map(IndexSystem::name);
  }

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
  void shouldSimulateLookupsOfSeveralKeysAtATime() {
    int status =
        execute(
            "simulate",
            "--index=deft",
            "--workload=multi-get,store-only",
            "--records=20K",
            "--warmup=1K",
            "--threads=2",
            "--duration=300us");
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString()).contains("multi-get", "store-only");
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
            "--http=0",
            "--workload=read-only,read-intensive",
            "--records=1000",
            "--operations=1000",
            "--warmup=100");
    assertThat(status).as(progress.toString()).isZero();
    assertThat(looks).hasSize(2);
    assertThat(looks.getFirst()).contains("\npando_ops_total 1100.0\n", "system=\"orca\"");
    assertThat(looks.getLast()).contains("\npando_ops_total 2200.0\n");
  }

  private String metrics() {
    return read(URI.create(found(out, "live page at (\\S+)")).resolve("/metrics"));
  }

  private static String found(StringWriter told, String pattern) {
    Matcher found = Pattern.compile(pattern).matcher(told.toString());
    assertThat(found.find()).as(told.toString()).isTrue();
    return found.group(1);
  }

  private static String read(URI uri) {
    try (InputStream answer = uri.toURL().openStream()) {
      return new String(answer.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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

  @ParameterizedTest
  @ValueSource(strings = {"--resp=%d", "--resp=0 --http=%d"})
  void shouldRefuseToServeAtAPortThatIsTaken(String options) throws IOException {
    try (ServerSocket taken = new ServerSocket()) {
      taken.bind(PandoHttp.loopback(0));
      String command = "serve " + options.formatted(taken.getLocalPort());
      assertThat(execute(command.split(" ", -1))).isEqualTo(2);
      assertThat(err.toString()).startsWith("pando serve: cannot listen").contains("in use");
      assertThat(err.toString().lines()).hasSize(1);
    }
  }

  @Test
  void shouldServeAPageBesideTheDoor() throws Exception {
    CountDownLatch serves = new CountDownLatch(1);
    StringWriter told =
        new StringWriter() {
          @Override
          public void flush() {
            serves.countDown();
          }
        };
    CommandLine pando = Main.commandLine();
    pando.setOut(new PrintWriter(told)).setErr(new PrintWriter(err));
    Thread server =
        Thread.ofPlatform()
            .start(
                () -> pando.execute("serve", "--resp=0", "--http=0", "--bytes-per-server=64MiB"));
    serves.await();
    URI page = URI.create(found(told, "live page at (\\S+)"));
    int port = Integer.parseInt(found(told, "RESP at 127.0.0.1:(\\d+)"));
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
      client.getOutputStream().write("SET a b\r\nGET a\r\nNO\r\n".getBytes(UTF_8));
      assertThat(client.getInputStream().readNBytes(13))
          .asString()
          .isEqualTo("+OK\r\n$1\r\nb\r\n-");
      assertThat(read(page.resolve("/metrics")))
          .contains(
              "system=\"byte-strings\"",
              "\npando_ops_total 3.0\n",
              "\npando_resp_commands_total{command=\"set\"} 1.0\n",
              "\npando_resp_commands_total{command=\"get\"} 1.0\n",
              "\npando_resp_errors_total{kind=\"refused\"} 1.0\n",
              "\npando_resp_bytes_total{dir=\"in\"} 20.0\n",
              "\npando_resp_connections 1.0\n",
              "\npando_latency_seconds{quantile=\"0.5\"} ",
              "\npando_blocks 1.0\n");
    }
    assertThat(read(page)).contains("<!doctype html>");
    assertThat(read(page.resolve("/health/ready"))).isEqualTo("{\"ok\":true,\"reasons\":[]}");
    server.interrupt();
    server.join();
    for (int each : new int[] {port, page.getPort()}) {
      assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), each).close())
          .isInstanceOf(ConnectException.class);
    }
  }

  @Test
  void shouldRefuseToServeWhereItCannot() {
    assertThat(execute("serve", "--resp=0", "--password-file=no/such/file")).isEqualTo(1);
    assertThat(err.toString()).contains("pando serve: NoSuchFileException: no/such/file");
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  void shouldMeasureOverProcessesOfItsOwn(String fabric) throws IOException {
    Path json = directory.resolve("processes.json");
    int status =
        execute(
            "bench",
            "--fabric=" + fabric,
            "--memory-servers=2",
            "--compute-servers=2",
            "--workload=write-intensive,ycsb-e",
            "--records=20K",
            "--operations=10K",
            "--warmup=1K",
            "--cache=128KiB",
            "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString()).contains("over " + fabric, "2 memory servers");
    assertThat(objects(json)).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  void shouldRefuseInOneLineWhatItsProcessesRefuse(String fabric) {
    int status =
        execute(
            "bench",
            "--fabric=" + fabric,
            "--index=sherman",
            "--set=validation=lines",
            "--records=20K");
    assertThat(status).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("pando bench: validation=lines needs a fabric that lands 64 bytes as one");
    assertThat(err.toString().lines()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "--compute-processes=2"})
  void shouldMeasureOverMemoryServersThatRun(String processes) throws IOException {
    PoolOptions pool =
        PoolOptions.defaults().withBytesPerServer(64 << 20).withHandlers(Systems.handlers());
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    Path token = secret("known to both sides");
    Path other = secret("known to one side");
    try (TcpMemoryServer zero = TcpMemoryServer.start(any, 0, pool, Authentication.token(token));
        TcpMemoryServer one = TcpMemoryServer.start(any, 1, pool, Authentication.token(token))) {
      List<String> arguments = new ArrayList<>();
      Collections.addAll(
          arguments,
          "bench",
          "--fabric=tcp",
          "--memory-server=" + HostPort.text(zero.address()) + "," + HostPort.text(one.address()),
          "--workload=read-only,ycsb-d",
          "--records=20K",
          "--operations=5K",
          "--warmup=1K",
          "--cache=128KiB",
          "--token-file=" + token);
      if (!processes.isEmpty()) {
        arguments.add(processes);
      }
      assertThat(execute(arguments)).as(err.toString()).isZero();
      assertThat(out.toString()).contains("over tcp", "2 memory servers", "ycsb-d");
      // They hold an index now.
      assertThat(execute(arguments)).isEqualTo(2);
      assertThat(err.toString()).contains("the pool holds an index already");
      arguments.set(arguments.indexOf("--token-file=" + token), "--token-file=" + other);
      assertThat(execute(arguments)).isEqualTo(2);
      assertThat(err.toString()).contains("its secret is another one").doesNotContain("known to");
    }
  }

  private Path secret(String secret) throws IOException {
    Path file = Files.createTempFile(directory, "secret", "");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return Files.writeString(file, secret);
  }

  @ParameterizedTest
  @CsvSource({"lognormal, ycsb-e, 20K", "ipv4, insert-only, 0"})
  void shouldHaveTheSameKeysInEveryProcess(String keys, String workload, String records) {
    int status =
        execute(
            "bench",
            "--fabric=shm",
            "--memory-servers=2",
            "--compute-servers=2",
            "--keys=" + keys,
            "--workload=" + workload,
            "--records=" + records,
            "--operations=10K",
            "--warmup=1K",
            "--cache=128KiB");
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString()).contains(workload);
  }

  @Test
  void shouldPrintAPapersNumbersBesideItsOwn() throws IOException {
    Path json = directory.resolve("figure.json");
    int status = execute("compare", "--figure=dex-table2", "--records=100K", "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString()).contains("read-only, Sherman").contains("3.02");
    assertThat(Files.readString(json)).contains("\"paper\":3.02").contains("\"ours\":");

    Path page = directory.resolve("page.html");
    assertThat(execute("compare", "--html=" + page, json.toString())).as(err.toString()).isZero();
    assertThat(Files.readString(page)).contains("3.02 paper").doesNotContain("pictures");
    assertThat(execute("compare", "--pictures=" + directory, json.toString())).isEqualTo(2);
    assertThat(err.toString())
        .isEqualToNormalizingNewlines(
            "pando compare: no results of systems: run ./pando compare --figure systems (see pando"
                + " compare --help)\n");
    assertThat(execute("compare", "--html=" + page, json.toString(), json.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("results of dex-table2 twice: files=" + json);
  }

  @Test
  @EnabledIfSystemProperty(named = "pando.campaign", matches = "true")
  void shouldPrintAColumnForEachMeasureWhereNoPaperGivesNumbers() throws IOException {
    Path json = directory.resolve("systems.json");
    int status = execute("compare", "--figure=systems", "--records=100K", "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString())
        .containsPattern("what +READs +WRITEs +atomics +CALLs +trips +bytes +cached B/record")
        .contains("write-intensive, P-Sherman", "insert-only, ROLEX")
        .doesNotContain("paper  ");
    assertThat(Files.readString(json)).contains("\"paper\":null").contains("pool B/record");
  }

  @Test
  void shouldPrintAFigureOfTheProjectsOwn() throws IOException {
    Path json = directory.resolve("orca.json");
    int status = execute("compare", "--figure=orca-table2", "--records=100K", "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString())
        .containsPattern("what +READs +WRITEs +atomics +CALLs +trips +bytes")
        .containsPattern(
            "read-only, ORCA +0\\.[12]\\d* +0\\.000 +0\\.000 +0\\.000 +0\\.[12]\\d* +[12]\\d\\.")
        .contains("write-intensive, DEX", "write-intensive, XStore-D")
        .doesNotContain("does not lead");
    assertThat(Files.readString(json))
        .contains("read-only, ORCA")
        .contains("\"measure\":\"READs\"");
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
          assertThat(locks.keySet()).isEqualTo(SIM_FIELDS);
          assertThat(locks).containsEntry("records", "10240").containsEntry("theta", "0.0");
          assertThat(number(locks, "writesPerOp")).isCloseTo(1, within(0.01));
          assertThat(number(locks, "roundTripsPerOp")).isBetween(2.0, 2.2);
          assertThat(number(locks, "atomicsPerOp")).isBetween(1.0, 1.2);
        });
  }

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
    assertThat(out.toString()).contains("uniform", "zipfian", "131.1 KB", "240.0 KB");
    assertThat(out.toString()).doesNotContain("threads");
    List<Map<String, String>> objects = objects(json);
    assertThat(objects).hasSize(4 * 2 * 2);
    assertThat(objects)
        .allSatisfy(run -> {
          assertThat(run.keySet()).isEqualTo(SIM_FIELDS);
          assertThat(run).containsEntry("threads", "4").containsEntry("computeServers", "4");
          assertThat(number(run, "operations")).isPositive();
        });
    assertThat(objects)
        .extracting(run -> run.get("distribution") + " " + run.get("cacheBytesPerServer"))
        .startsWith("uniform 131072", "uniform 240000", "zipfian 131072");
  }

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

  @ParameterizedTest
  @EnumSource
  void shouldSimulateEverySetOfKeys(KeySet set) throws IOException {
    Path json = directory.resolve("keys.json");
    int status =
        execute(
            "simulate",
            "--keys=" + set,
            "--workload=write-intensive,insert-intensive,scan-intensive,ycsb-d",
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
        .hasSize(4)
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

  @ParameterizedTest
  @MethodSource("systems")
  void shouldSayWhereTheBytesOfAPoolAre(String system) {
    String name = "stat-" + ProcessHandle.current().pid();
    PoolOptions pool =
        PoolOptions.defaults().withBytesPerServer(64 << 20).withHandlers(Systems.handlers());
    try (ShmMemoryServer _ = ShmMemoryServer.start(name, 0, pool);
        Fabric fabric = ShmFabric.attach(List.of(name), 1)) {
      assertThat(execute("stat", "--index=" + system, "--pool=" + name)).isEqualTo(2);
      assertThat(err.toString())
          .startsWith("pando stat: the pool holds no such index")
          .hasLineCount(1);
      try (RangeIndex index =
              Systems.named(system).defaults().withCacheBytes(1 << 20).create(fabric);
          Session session = index.session()) {
        for (long key = 0; key < 1_000; key++) {
          session.put(key, key);
        }
      }
      assertThat(execute("stat", "--index=" + system, "--pool=" + name)).isZero();
      assertThat(out.toString())
          .containsPattern("\\n +(leaves|runs of leaves) +[0-9]+ +[0-9,]+ ")
          .containsPattern("\\n +free chunks +[0-9,]+ ")
          .containsPattern("\\n +all +" + Numbers.count(fabric.dramBytes(0)) + "\\R");
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
  void shouldFindThatSpaceComesBack() {
    int status =
        execute(
            "churn",
            "--index=dex",
            "--records=50K",
            "--churn=50K",
            "--cache=256KiB",
            "--set=merge-share=0.68",
            "--set=merged-share=0.9");
    assertThat(out.toString()).contains("50,000 records");
    assertThat(status).as(out.toString() + err).isZero();
  }

  private int execute(List<String> arguments) {
    return execute(arguments.toArray(String[]::new));
  }

  private int execute(String... arguments) {
    CommandLine pando = Main.commandLine();
    pando.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    return pando.execute(arguments);
  }

  /** Reads an array of objects, whose fields become text, but for those that hold several. */
  private static List<Map<String, String>> objects(Path file) {
    List<Map<String, String>> objects = new ArrayList<>();
    try (JsonParser json = new JsonFactory().createParser(ObjectReadContext.empty(), file)) {
      assertThat(json.nextToken()).isEqualTo(JsonToken.START_ARRAY);
      while (json.nextToken() == JsonToken.START_OBJECT) {
        Map<String, String> fields = new LinkedHashMap<>();
        for (String name = json.nextName(); name != null; name = json.nextName()) {
          JsonToken value = json.nextToken();
          fields.put(name, value.isScalarValue() ? json.getString() : "");
          json.skipChildren();
        }
        objects.add(fields);
      }
      assertThat(json.currentToken()).isEqualTo(JsonToken.END_ARRAY);
      assertThat(json.nextToken()).isNull();
    }
    return objects;
  }

  private static double number(Map<String, String> object, String field) {
    return Double.parseDouble(object.getOrDefault(field, "NaN"));
  }
}
