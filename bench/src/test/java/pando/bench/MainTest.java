package pando.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.cli.CommandFixture;
import pando.cli.Main;
import pando.cli.text.Numbers;
import pando.fabric.Fabric;
import pando.fabric.server.PoolOptions;
import pando.fabric.shm.ShmFabric;
import pando.fabric.shm.ShmMemoryServer;
import pando.index.IndexSystem;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.Systems;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;

final class MainTest extends CommandFixture {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "pando nonsense                                   | nonsense",
        "pando bnech                                      | 'bnech', did you mean bench? (see",
        "pando serve-client                               | did you mean serve-clients? (see",
        "pando client gte                                 | 'gte', did you mean get?",
        "pando bench --recods=5                           | did you mean --records? (see",
        "pando bench --fabrik local                       | did you mean --fabric? (see",
        "pando bench --index shermann                     | p-smart, did you mean sherman? (see",
        "pando simulate --index lok                       | lock, did you mean lock? (see",
        "pando bench --workload ycsb                      | did you mean ycsb-d or ycsb-e or"
            + " ycsb-f?",
        "pando bench --set nod-bytes=512                  | name=nod-bytes, did you mean"
            + " node-bytes?",
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
        "pando bench --index dex,btree                    | 'btree' is not one of dex",
        "pando bench --index ,                            | --index is out of range: value=[], at"
            + " least one",
        "pando bench --index dex,orca,dex                 | --index is out of range: value=[dex,"
            + " orca, dex], each once",
        "pando bench --index orca,dex --set counts=1      | --index dex has no such setting:"
            + " name=counts, systems that have it=orca",
        "pando bench --index orca,dex --fabric tcp --workload read-only --memory-server 127.0.0.1:1"
            + " | --index is out of range: value=[orca, dex], with --memory-server only one",
        "pando churn --index orca,dex                     | 'orca,dex' is not one of",
        "pando bench --fabric rdma                        | 'rdma' is not one of local, shm, tcp,"
            + " verbs",
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
        "pando serve --port 6379                          | unknown option: '--port', did you mean"
            + " --resp PORT or --http PORT?",
        "pando serve --rsep=6379                          | '--rsep', did you mean --resp?",
        "pando serve --resp 0 --port 1                    | did you mean --resp PORT or --http"
            + " PORT?",
        "pando serve --resp 0 --bytes-per-server 1MiB     | out of range: bytes=1048576,"
            + " least=8388608",
        "pando serve --resp 0 --cache 1gb                 | '1gb' is not a quantity such as",
        "pando serve --resp 0 --cache 8                   | --cache is out of range: value=8,"
            + " least=8000",
        "pando serve --resp 0 --password-file no/file     | --password-file cannot be used: no such"
            + " file: no/file",
        "pando serve-clients --listen 127.0.0.1:0 --index byte-strings --cache 8 | --cache is out"
            + " of range: value=8, least=8000",
        "pando up --size 1MiB                             | --size is out of range: value=1048576,"
            + " least=8388608",
        "pando up --cache 8                               | --cache is out of range: value=8,"
            + " least=8000",
        "pando up --index orca --cache 8                  | cache-bytes is out of range: value=8,"
            + " least=",
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
            + " sherman, p-sherman, fg, deft, rolex, xstore-d, emt-d,"
            + " smart, p-smart, lock",
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
        "pando simulate --cluster                         | no use for --cluster: workloads",
        "pando simulate --seeds 1 --faults stale-route    | some need --cluster",
        "pando simulate --seeds 1 --cluster --index deft  | its ranges move=false",
        "pando simulate --seeds 1 --cluster --faults cut  | faults that have no place here=[cut]",
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
        "pando compare --figure 12                        | '12' is not one of orca",
        "pando compare --figure rolex                     | rolex-ycsb, rolex-scaling, rolex-data,"
            + " rolex-retraining, rolex-empty",
        "pando compare --figure dex-6 --records 9         | --records is out of range",
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
        "pando bench --index smart --set check=reverse | runs in the simulator alone",
        "pando check no-such-file                         | no-such-file: not a file",
        "pando bench-strings --keys-file no-such-file     | no-such-file: not a file",
        "pando bench-strings --peer btree                 | --peer is skiplist-sorted or none here",
        "pando bench-strings --fill 0                     | --fill is out of range: value=0.0",
        "pando demo 8.8.8                                 | '8.8.8' is not an IPv4 address",
        "pando memory-server --size 8MiB                  | --name",
        "pando stat                                       | --pool",
        "pando stat --pool nobody --set delta=3           | no such setting",
        "pando bench --fabric shm --stat                  | --stat is out of range",
        "pando bench --fabric tcp --stat                  | --stat is out of range",
        "pando bench --fabric tcp --http 0                | only where all compute servers are in",
        "pando bench --fabric tcp --compute-processes 3   | --compute-processes is out of range",
        "pando bench --compute-processes 1                | only with --fabric shm, tcp or verbs",
        "pando bench --fabric tcp --token-file a          | go with --memory-server",
        "pando bench --line-atomicity 64                  | goes with --fabric verbs alone",
        "pando bench --fabric tcp --line-atomicity 64     | goes with --fabric verbs alone",
        "pando bench --fabric verbs --card a --line-atomicity 16 | =16",
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
  void shouldReadTheOptionsOfTheNamedCommandAlone() {
    Set<String> names = Main.commandLine().getSubcommands().keySet();
    assertThat(names).contains("demo", "bench", "compute-servers", "generate-completion", "help");
    for (String name : names) {
      boolean isOfAll = name.equals("help") || name.equals("generate-completion");
      assertThat(Main.needed(name)).as(name).hasSize(isOfAll ? names.size() - 2 : 1);
    }
    assertThat(Main.needed("--version")).isEmpty();
    assertThat(Main.needed("nonsense")).hasSameSizeAs(Main.needed(""));
  }

  @Test
  void shouldCutNoSentenceOfTheHelp() {
    List<CommandLine> commands = new ArrayList<>(List.of(Main.commandLine()));
    for (int i = 0; i < commands.size(); i++) {
      CommandSpec spec = commands.get(i).getCommandSpec();
      commands.addAll(commands.get(i).getSubcommands().values());
      // The list of commands shows the first line of a description alone.
      assertThat(Arrays.stream(spec.usageMessage().description()).limit(1))
          .as(spec.qualifiedName())
          .allMatch(line -> line.endsWith("."));
      assertThat(spec.usageMessage().exitCodeList().values()).doesNotContain("");
      for (ArgSpec argument : spec.args()) {
        for (String line : argument.description()) {
          assertThat(line).as(argument.toString()).matches("(?s).*[.;:)]");
        }
      }
      assertThat(commands.get(i).getUsageMessage().lines()).allMatch(line -> line.length() <= 100);
    }
    assertThat(commands).hasSizeGreaterThan(25);
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
          .containsPattern("\\n +(leaves|runs of leaves) +[0-9,]+ +[0-9,]+ ")
          .containsPattern("\\n +free chunks +[0-9,]+ ")
          .containsPattern("\\n +all +" + Numbers.count(fabric.dramBytes(0)) + "\\R");
    }
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
}
