package pando.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.cli.CommandFixture;
import pando.cli.Main;
import pando.cli.option.HostPort;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpMemoryServer;
import pando.index.Systems;

@Tag("campaign")
final class BenchProcessesTest extends CommandFixture {
  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  void shouldMeasureOverProcessesOfItsOwn(String fabric) throws IOException {
    Path json = directory.resolve("processes.json");
    int status =
        execute(
            "bench",
            "--index=orca,smart",
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
    assertThat(objects(json))
        .extracting(run -> run.get("index"))
        .containsExactly("orca", "orca", "smart", "smart");
  }

  @ParameterizedTest
  @ValueSource(strings = "shm")
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

  @Test
  void shouldGiveItsMemoryServersOnlyOptionsThatTheyHave() {
    int status =
        execute(
            "bench",
            "--fabric=verbs",
            "--card=none-has-this-name",
            "--line-atomicity=64",
            "--records=20K");
    // They end, as they find no such card.
    assertThat(status).isNotZero();
    String[] arguments = found(err, "arguments=\\[(memory-server, [^\\]]*)]").split(", ");
    assertThat(arguments).contains("--card=none-has-this-name");
    assertThatCode(() -> Main.commandLine().parseArgs(arguments)).doesNotThrowAnyException();
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
}
