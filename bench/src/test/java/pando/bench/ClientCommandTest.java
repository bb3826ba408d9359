package pando.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

final class ClientCommandTest extends CommandFixture {
  private Thread server;
  private String address;

  @BeforeEach
  void serve() throws InterruptedException {
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
    server =
        Thread.ofPlatform()
            .start(() ->
                pando.execute(
                    "serve-clients",
                    "--listen=127.0.0.1:0",
                    "--index=dex",
                    "--lanes=1",
                    "--bytes-per-server=64MiB",
                    "--cache=1MiB"));
    serves.await();
    address = "--server=" + found(told, "dex for clients at (\\S+), pool local:");
  }

  @AfterEach
  void end() throws InterruptedException {
    server.interrupt();
    server.join();
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
  void shouldRunAWorkload() {
    assertThat(
            execute(
                "client",
                "bench",
                address,
                "--records=2K",
                "--operations=2K",
                "--workload=read-only"))
        .as(err.toString())
        .isZero();
    assertThat(out.toString()).contains("read-only");
  }

  @Test
  void shouldRefuseWhatMakesNoSense() throws IOException {
    assertThat(execute("client", "get", "--server=127.0.0.1", "1")).isEqualTo(2);
    assertThat(err.toString()).contains("HOST:PORT");
    Path entries = Files.writeString(directory.resolve("entries"), "1 2\nx\n");
    assertThat(execute("client", "load", address, entries.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("a line is KEY VALUE: number=2");
  }
}
