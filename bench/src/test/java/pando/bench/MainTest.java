package pando.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
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
          "poolBytesPerRecord",
          "verified");

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "pando                                            | a command is missing",
        "pando nonsense                                   | nonsense",
        "pando bench --nonsense                           | Unknown option: '--nonsense'",
        "pando bench --records 12x                        | '12x' is not a quantity",
        "pando bench --records 0                          | --records is out of range: value=0",
        "pando bench --records 3G                         | value=3000000000, least=1",
        "pando bench --operations 0                       | --operations is out of range",
        "pando bench --threads 129                        | --threads is out of range",
        "pando bench --seconds -1                         | --seconds is out of range",
        "pando bench --theta -1                           | --theta is out of range: value=-1.0",
        "pando bench --fill 1.1                           | --fill is out of range: value=1.1",
        "pando bench --fill x                             | 'x'",
        "pando bench --index btree                        | 'btree' is not one of dex",
        "pando bench --fabric rdma                        | 'rdma' is not one of local, shm",
        "pando bench --workload read-mostly               | 'read-mostly' is not one of read-only",
        "pando bench --distribution normal                | 'normal' is not one of zipfian",
        "pando bench --peer lmdb                          | 'lmdb' is not one of skiplist",
        "pando bench --cache 1K                           | cache-bytes is out of range:"
            + " value=1000",
        "pando bench --cache x%                           | 'x%' is not a share",
        "pando bench --set colour=red                     | name=colour",
        "pando bench --set node-bytes=77                  | nodeBytes=77",
        "pando bench --set node-bytes                     | node-bytes",
        "pando bench --compute-servers 65                 | compute-servers is out of range",
        "pando bench --memory-servers 0                   | --memory-servers is out of range",
        "pando bench --fabric shm --compute-processes 3   | --compute-processes is out of range",
        "pando bench --json no/such/directory/out.json    | --json is not a file",
        "pando churn --churn 0                            | --churn is out of range",
        "pando simulate --faults gremlins                 | no such fault: name=gremlins",
        "pando simulate --threads 0                       | --threads is out of range",
        "pando simulate --compute-servers 65              | --compute-servers is out of range",
        "pando simulate --memory-servers 0                | --memory-servers is out of range",
        "pando simulate --coroutines 0                    | --coroutines is out of range",
        "pando simulate --duration -3ms                   | '-3ms' is not a time",
        "pando simulate --duration 5                      | '5' is not a time",
        "pando simulate --index oak                       | 'oak' is not one of dex, lock",
        "pando simulate --set wire-nanos=-1               | a constant of the model is out of"
            + " range",
        "pando simulate --set wire-nanos=x                | 'x' is not a number",
        "pando simulate --set colour=red                  | name=colour",
        "pando simulate --seeds 0                         | --seeds is out of range",
        "pando simulate --seeds 2 --history h.txt         | --history",
        "pando check no-such-file                         | no-such-file: not a file",
        "pando demo 8.8.8                                 | '8.8.8' is not an IPv4 address",
        "pando memory-server --size 8MiB                  | --name",
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
  @ValueSource(strings = {"", "bench", "demo", "churn", "simulate", "check", "memory-server"})
  void shouldHelp(String command) {
    int status = execute((command + " --help").strip().split(" "));
    assertThat(out.toString()).startsWith("Usage: pando " + command);
    assertThat(err.toString()).isEmpty();
    assertThat(status).isZero();
  }

  @Test
  void shouldListTheSettingsOfTheIndexInTheHelp() {
    execute("bench", "--help");
    assertThat(out.toString()).contains("node-bytes: ").contains("admission: ");
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
            "--set=admission=0.5",
            "--peer=skiplist,btree",
            "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString()).contains("x skiplist").contains("x btree").contains("36.8 %");
    List<List<String>> objects = fieldsOfObjects(json);
    assertThat(objects).hasSize(3 * 6);
    assertThat(objects).allSatisfy(fields -> assertThat(fields).hasSameElementsAs(FIELDS));
  }

  @Test
  void shouldMeasureOverSharedMemory() throws IOException {
    Path json = directory.resolve("shm.json");
    int status =
        execute(
            "bench",
            "--fabric=shm",
            "--workload=write-intensive,scan-intensive",
            "--records=20K",
            "--operations=10K",
            "--warmup=1K",
            "--cache=128KiB",
            "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(fieldsOfObjects(json)).hasSize(2);
  }

  @Test
  void shouldSimulateLocksAndWorkloads() throws IOException {
    assertThat(execute("simulate", "--index=lock", "--duration=1ms")).as(err.toString()).isZero();
    assertThat(out.toString()).contains("154");
    Path json = directory.resolve("sim.json");
    int status =
        execute(
            "simulate",
            "--workload=write-intensive,insert-intensive,scan-intensive",
            "--records=50K",
            "--cache=128KiB",
            "--warmup=20K",
            "--threads=4",
            "--coroutines=2",
            "--duration=300us",
            "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(fieldsOfObjects(json)).hasSize(3);
  }

  @Test
  void shouldRunTrialsAndCheckTheirHistory() {
    Path history = directory.resolve("history.txt");
    assertThat(execute("simulate", "--seeds=1", "--seed=3", "--history=" + history)).isZero();
    assertThat(execute("check", history.toString())).isZero();
    assertThat(out.toString()).contains("0 with violations").contains(": 0 violations");
  }

  @Test
  void shouldFindThatSpaceComesBack() {
    int status =
        execute(
            "churn",
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

  private static List<List<String>> fieldsOfObjects(Path file) {
    List<List<String>> objects = new ArrayList<>();
    try (JsonParser json = new JsonFactory().createParser(ObjectReadContext.empty(), file)) {
      assertThat(json.nextToken()).isEqualTo(JsonToken.START_ARRAY);
      while (json.nextToken() == JsonToken.START_OBJECT) {
        List<String> fields = new ArrayList<>();
        for (String name = json.nextName(); name != null; name = json.nextName()) {
          fields.add(name);
          JsonToken value = json.nextToken();
          assertThat(value.isScalarValue() || value == JsonToken.START_ARRAY).isTrue();
          json.skipChildren();
        }
        objects.add(fields);
      }
      assertThat(json.currentToken()).isEqualTo(JsonToken.END_ARRAY);
      assertThat(json.nextToken()).isNull();
    }
    return objects;
  }
}
