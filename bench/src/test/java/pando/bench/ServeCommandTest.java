package pando.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.metrics.PandoHttp;
import picocli.CommandLine;

final class ServeCommandTest extends CommandFixture {
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
}
