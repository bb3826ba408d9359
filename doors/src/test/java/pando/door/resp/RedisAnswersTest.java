package pando.door.resp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.door.resp.TestDoor.Form;

/**
 * A script of lines, whose answers in both protocols are those of a Redis, where one is installed.
 */
class RedisAnswersTest {
  private static final String REDIS = "redis-server";
  private static final int ATTEMPTS = 200;

  @TempDir private Path folder;

  /** Of these the kinds are compared, as what they say is of the server. */
  private static final List<String> OF_THE_SERVER =
      List.of(
          "HELLO",
          "INFO",
          "CLIENT LIST",
          "CLIENT LIST TYPE normal",
          "CLIENT INFO",
          "CLIENT ID",
          "TIME",
          "COMMAND DOCS nosuch",
          "COMMAND COUNT",
          "LOLWUT",
          "LOLWUT VERSION 5",
          "HELLO 2");

  @ParameterizedTest
  @CsvSource({"OWN, 2", "OWN, 3", "SHARED, 2", "SHARED, 3"})
  void shouldAnswerAsRedis(Form form, int protocol) throws Exception {
    boolean isInstalled =
        Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
            .anyMatch(place -> new File(place, REDIS).canExecute());
    assumeTrue(isInstalled, "there is no " + REDIS + " to compare with");
    InetSocketAddress address = freeAddress();
    Process redis =
        new ProcessBuilder(
                REDIS,
                "--port",
                Integer.toString(address.getPort()),
                "--bind",
                "127.0.0.1",
                "--databases",
                form == Form.OWN ? "16" : "1",
                "--save",
                "",
                "--dir",
                folder.toString())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (TestDoor door = TestDoor.open(form);
        RawClient ours = door.raw();
        RawClient theirs = connected(redis, address)) {
      List<String> script = script(form);
      assertThat(script).hasSizeGreaterThanOrEqualTo(120);
      List<String> differences = new ArrayList<>();
      String hello = "HELLO " + protocol;
      for (String line : OF_THE_SERVER) {
        for (String each : List.of(hello, line)) {
          send(each, theirs, ours);
          compare(each, theirs.shape(), ours.shape(), differences);
        }
      }
      send(hello, theirs, ours);
      assertThat(theirs.frame()).contains("proto\r\n:" + protocol);
      assertThat(ours.frame()).contains("proto\r\n:" + protocol);
      for (String line : script) {
        send(line, theirs, ours);
        compare(line, theirs.frame(), ours.frame(), differences);
      }
      assertThat(differences).isEmpty();
    } finally {
      redis.destroy();
      redis.waitFor(10, TimeUnit.SECONDS);
      redis.destroyForcibly();
    }
  }

  private static void send(String line, RawClient theirs, RawClient ours) throws IOException {
    theirs.send(line + "\r\n");
    ours.send(line + "\r\n");
  }

  private static void compare(
      String line, String expected, String answer, List<String> differences) {
    if (!answer.equals(expected)) {
      differences.add(line + "\n  Redis: " + expected + "\n  here:  " + answer);
    }
  }

  private static InetSocketAddress freeAddress() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return new InetSocketAddress(socket.getInetAddress(), socket.getLocalPort());
    }
  }

  /** Connects as soon as the server listens. */
  private static RawClient connected(Process redis, InetSocketAddress address) throws Exception {
    for (int attempt = 0; ; attempt++) {
      try {
        return new RawClient(address);
      } catch (IOException e) {
        if (attempt == ATTEMPTS || redis.waitFor(50, TimeUnit.MILLISECONDS)) {
          throw e;
        }
      }
    }
  }

  private static List<String> script(Form form) throws IOException {
    try (InputStream in = RedisAnswersTest.class.getResourceAsStream("answers.txt")) {
      return Stream.of(new String(in.readAllBytes(), UTF_8).split("\n\n", -1))
          .filter(part -> form == Form.OWN || !part.startsWith("# Sorted sets"))
          .flatMap(String::lines)
          .filter(line -> !line.isBlank() && !line.startsWith("#"))
          .toList();
    }
  }
}
