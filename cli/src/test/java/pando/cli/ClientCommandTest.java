package pando.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class ClientCommandTest extends CommandFixture {
  private RunningCommand server;
  private String address;

  @BeforeEach
  void serve() throws InterruptedException {
    server = serving("dex");
    address = addressOf(server);
  }

  private RunningCommand serving(String index) throws InterruptedException {
    return RunningCommand.start(
        err,
        "serve-clients",
        "--listen=127.0.0.1:0",
        "--index=" + index,
        "--lanes=1",
        "--bytes-per-server=64MiB",
        "--cache=1MiB");
  }

  private static String addressOf(RunningCommand server) {
    return "--server=" + server.found("for clients at (\\S+), pool local:");
  }

  @AfterEach
  void end() throws InterruptedException {
    server.close();
  }

  @Test
  void shouldStoreFindAndScan() throws IOException {
    assertThat(execute("client", "put", address, "1", "-7")).isZero();
    assertThat(execute("client", "put", address, "1", "8")).isZero();
    assertThat(out.toString()).contains("stored").contains("replaced -7");
    assertThat(execute("client", "get", address, "1", "2")).isEqualTo(1);
    assertThat(out.toString()).contains("1 8").contains("2 is not there");
    Path entries = Files.writeString(directory.resolve("entries"), "2 20\n3 30\n-9 1\n");
    assertThat(execute("client", "load", address, entries.toString())).isZero();
    assertThat(out.toString()).contains("stored 3 entries");
    assertThat(execute("client", "scan", address, "--from=2", "--down")).isZero();
    assertThat(out.toString().replaceAll("\\s+", " ")).contains("2 20 1 8 -9 1");
  }

  @Test
  void shouldKeepACacheThatASettingNames() throws Exception {
    try (RunningCommand named =
        RunningCommand.start(
            err,
            "serve-clients",
            "--listen=127.0.0.1:0",
            "--index=dex",
            "--bytes-per-server=64MiB",
            "--set=cache-bytes=" + (257 << 20))) {
      assertThat(named.found("(\\d+) MiB of cache")).isEqualTo("257");
    }
  }

  @Test
  void shouldTakeSettingsOfByteStrings() throws Exception {
    try (RunningCommand named =
        RunningCommand.start(
            err,
            "serve-clients",
            "--listen=127.0.0.1:0",
            "--index=byte-strings",
            "--bytes-per-server=64MiB",
            "--set=block-bytes=1KiB",
            "--set=cache-bytes=3MiB")) {
      assertThat(named.found("(\\d+) MiB of cache")).isEqualTo("3");
    }
    assertThat(
            execute(
                "serve-clients",
                "--listen=127.0.0.1:0",
                "--index=byte-strings",
                "--set=block-bytes=1KiB",
                "--set=inline-max=300"))
        .isEqualTo(2);
    assertThat(err.toString()).contains("inline-max=300, block-bytes=1024");
  }

  @Test
  void shouldStoreFindAndScanTexts() throws Exception {
    try (RunningCommand strings = serving("byte-strings")) {
      String its = addressOf(strings);
      assertThat(execute("client", "put", its, "ada", "lovelace")).as(err.toString()).isZero();
      assertThat(execute("client", "put", its, "ada", "a \\ b\n\u00e9")).isZero();
      assertThat(execute("client", "put", its, "grace", "hopper")).isZero();
      assertThat(execute("client", "put", its, "", "no key")).isZero();
      assertThat(out.toString()).contains("stored").contains("replaced lovelace");
      assertThat(execute("client", "get", its, "ada", "bob")).isEqualTo(1);
      assertThat(out.toString())
          .contains("ada a \\\\ b\\x0a\u00e9" + System.lineSeparator())
          .contains("bob is not there");
      out.getBuffer().setLength(0);
      assertThat(execute("client", "scan", its, "--to=ada")).isZero();
      assertThat(out.toString().lines()).hasSize(2);
      out.getBuffer().setLength(0);
      assertThat(execute("client", "scan", its, "--from=grace", "--down", "--limit=2")).isZero();
      assertThat(out.toString().lines().map(line -> line.substring(0, 3)))
          .containsExactly("gra", "ada");
      assertThat(execute("client", "scan", its, "--from=b", "--to=a")).isEqualTo(2);
      assertThat(err.toString()).contains("range is reversed");
      Path entries = Files.writeString(directory.resolve("texts"), "zoe 1\n\u00e9 2\n");
      assertThat(execute("client", "load", its, entries.toString())).isZero();
      assertThat(out.toString()).contains("stored 2 entries");
      assertThat(execute("client", "get", its, "zoe", "\u00e9")).isZero();
      assertThat(out.toString()).contains("zoe 1").contains("\u00e9 2");
    }
  }

  @Test
  void shouldRefuseWhatMakesNoSense() throws IOException {
    assertThat(execute("client", "get", "--server=127.0.0.1", "1")).isEqualTo(2);
    assertThat(err.toString()).contains("HOST:PORT");
    assertThat(execute("client", "get", address, "one")).isEqualTo(2);
    assertThat(err.toString()).contains("no whole number of 64 bits: value=one");
    assertThat(execute("serve-clients", "--listen=127.0.0.1:0", "--index=redis")).isEqualTo(2);
    assertThat(err.toString()).contains("byte-strings");
    assertThat(
            execute("serve-clients", "--listen=127.0.0.1:0", "--index=byte-strings", "--set=a=1"))
        .isEqualTo(2);
    assertThat(err.toString()).contains("--index byte-strings has no such setting: name=a");
    Path entries = Files.writeString(directory.resolve("entries"), "1 2\nx\n");
    assertThat(execute("client", "load", address, entries.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("a line is KEY VALUE: number=2");
  }
}
