package pando.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.client.ClientOptions;
import pando.client.PandoClient;
import pando.fabric.tcp.Authentication;
import pando.map.PandoMap;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;
import pando.metrics.PandoHttp;

final class ServeCommandTest extends CommandFixture {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "serve --resp=%d",
        "serve --resp=0 --http=%d",
        "serve-clients --listen=127.0.0.1:%d --bytes-per-server=64MiB"
      })
  void shouldRefuseToServeAtAPortThatIsTaken(String command) throws IOException {
    try (ServerSocket taken = new ServerSocket()) {
      taken.bind(PandoHttp.loopback(0));
      assertThat(execute(command.formatted(taken.getLocalPort()).split(" ", -1))).isEqualTo(2);
      assertThat(err.toString())
          .startsWith("pando " + command.split(" ", -1)[0] + ": cannot listen")
          .contains("in use; give another port (0 takes any free one)");
      assertThat(err.toString().lines()).hasSize(1);
    }
  }

  @Test
  void shouldServeAPageBesideTheDoor() throws Exception {
    RunningCommand server =
        RunningCommand.start(err, "serve", "--resp=0", "--http=0", "--bytes-per-server=64MiB");
    URI page = URI.create(server.found("live page at (\\S+)"));
    int port = portOf(server);
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
    server.close();
    assertThat(err.toString())
        .startsWith(
            "pando serve: ending; its pool is in this process, and what was stored there is"
                + " lost\n");
    for (int each : new int[] {port, page.getPort()}) {
      assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), each).close())
          .isInstanceOf(ConnectException.class);
    }
  }

  private static int portOf(RunningCommand door) {
    return Integer.parseInt(door.found("RESP at 127.0.0.1:(\\d+)"));
  }

  private RunningCommand clients(String index, String... more) throws InterruptedException {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "serve-clients",
                "--index=" + index,
                "--listen=127.0.0.1:0",
                "--bytes-per-server=64MiB",
                "--cache=1MiB"));
    arguments.addAll(List.of(more));
    return RunningCommand.start(err, arguments.toArray(String[]::new));
  }

  private static String addressOf(RunningCommand clients) {
    return "--server=" + clients.found("for clients at (\\S+), pool local:");
  }

  /** Sends lines to a door, and checks the replies. */
  private static void check(RunningCommand door, String lines, String replies) throws IOException {
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), portOf(door))) {
      client.getOutputStream().write(lines.getBytes(UTF_8));
      assertThat(client.getInputStream().readNBytes(replies.length()))
          .asString()
          .isEqualTo(replies);
    }
  }

  @Test
  void shouldServeTheSameKeysByTwoDoors() throws Exception {
    Path secret = Files.writeString(directory.resolve("secret"), "a secret of two dozen bytes");
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    String token = "--token-file=" + secret;
    try (RunningCommand clients = clients("byte-strings", token);
        RunningCommand one =
            RunningCommand.start(err, "serve", "--resp=0", token, addressOf(clients));
        RunningCommand other =
            RunningCommand.start(err, "serve", "--resp=0", token, addressOf(clients))) {
      check(one, "SET a b\r\nINCR n\r\n", "+OK\r\n:1\r\n");
      check(other, "GET a\r\nINCR n\r\nDBSIZE\r\n", "$1\r\nb\r\n:2\r\n:2\r\n");
      check(one, "GETDEL n\r\nKEYS *\r\n", "$1\r\n2\r\n*1\r\n$1\r\na\r\n");
      check(one, "ZADD s 0 a\r\n", "-ERR ZADD is not supported: ");
      assertThat(execute("client", "get", token, addressOf(clients), "a")).isZero();
      assertThat(out.toString()).contains("a b");
      ClientOptions options =
          ClientOptions.defaults().withAuthentication(Authentication.token(secret));
      String address = addressOf(clients).substring("--server=".length());
      try (PandoClient client = PandoClient.connect(address, options);
          PandoMap<String, String> map =
              PandoMap.of(client.byteStrings(), KeyCodec.utf8(), ValueCodec.strings())) {
        assertThat(map).containsExactly(Map.entry("a", "b"));
        map.put("\u00e9", "\u20ac");
        check(other, "STRLEN \u00e9\r\nDEL a\r\n", ":3\r\n:1\r\n");
        assertThat(map.firstKey()).isEqualTo("\u00e9");
      }
    }
  }

  /** A door outlasts the compute server that it asks, and tells its clients what is wrong. */
  @Tag("campaign")
  @Test
  void shouldAnswerWithAnErrorWhereNoComputeServerIsLeft() throws Exception {
    RunningCommand clients = clients("byte-strings");
    try (RunningCommand door =
        RunningCommand.start(err, "serve", "--resp=0", "--event-loops=1", addressOf(clients))) {
      check(door, "SET a b\r\n", "+OK\r\n");
      clients.close();
      check(door, "GET a\r\n", "-ERR ");
      check(door, "PING\r\n", "+PONG\r\n");
    } finally {
      clients.close();
    }
  }

  @Test
  void shouldRefuseToServeWhatComputeServersDoNotHave() throws Exception {
    try (RunningCommand clients = clients("dex")) {
      assertThat(execute("serve", "--resp=0", addressOf(clients))).isEqualTo(2);
      assertThat(err.toString()).startsWith("pando serve: the compute servers serve words");
      assertThat(err.toString().lines()).hasSize(1);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--server=127.0.0.1:1 --pool=local: | --server goes without --pool",
        "--server=127.0.0.1:1 --cache=1MiB | --server goes without --cache",
        "--server=127.0.0.1:1 --http=0 | --server goes without --http",
        "--token-file=x | --server-tls-cert and --token-file go with --server",
        "--server=127.0.0.1:1 --server-tls-cert=x | --server-tls-cert, --server-tls-key and",
        "--server=127.0.0.1:1 --trusted-network | --trusted-network goes with --token-file",
        "--server=127.0.0.1 | HOST:PORT",
      })
  void shouldRefuseServersThatMakeNoSense(String options, String reason) {
    assertThat(execute(("serve --resp=0 " + options).split(" ", -1))).isEqualTo(2);
    assertThat(err.toString()).contains(reason);
  }

  @Test
  void shouldRefuseToServeWhereItCannot() {
    assertThat(execute("serve", "--resp=0", "--server=127.0.0.1:1")).isEqualTo(1);
    assertThat(err.toString()).contains("no compute server answers");
  }
}
