package pando.door.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketException;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.index.Seeds;

/** Bytes as any client may send them, whole requests or not. */
class RawRequestsTest {
  private static final int PIPELINES = Seeds.count(200, 400, 20_000);
  private static final int MUTATED = Seeds.count(20_000, 40_000, 1_000_000);

  @Test
  void shouldAnswerLongPipelinesInOrder() throws Exception {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = 0; i < 10_000; i++) {
      all.writeBytes(RawClient.request("SET", "k" + i, "v" + i));
      all.writeBytes(RawClient.request("GET", "k" + i));
    }
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      Thread sender = Thread.ofPlatform().start(() -> send(client, all.toByteArray()));
      for (int i = 0; i < 10_000; i++) {
        assertThat(client.reply()).isEqualTo("+OK");
        assertThat(client.reply()).isEqualTo("v" + i);
      }
      sender.join();
    }
  }

  @Test
  void shouldAnswerPipelinesAsIfRequestsCameOneByOne() throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(3104));
    try (TestDoor door = TestDoor.open();
        TestDoor other = TestDoor.open();
        RawClient together = door.raw();
        RawClient single = other.raw()) {
      fill(together);
      fill(single);
      for (int i = 0; i < PIPELINES; i++) {
        List<byte[]> requests =
            Stream.generate(() -> mixed(random)).limit(1 + random.nextInt(60)).toList();
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        requests.forEach(all::writeBytes);
        Thread sender = Thread.ofPlatform().start(() -> send(together, all.toByteArray(), random));
        for (byte[] request : requests) {
          single.send(request);
          assertThat(together.frame()).isEqualTo(single.frame());
        }
        sender.join();
      }
      assertThat(together.ask("DISCARD")).isEqualTo(single.ask("DISCARD"));
      assertThat(door.door().waitingBytes()).isZero();
    }
  }

  /** Stores so many keys in a database that a look at all of them takes long. */
  private static void fill(RawClient client) throws IOException {
    client.send(RawClient.request("SELECT", "9"));
    for (int i = 0; i < 5_000; i++) {
      client.send(RawClient.request("SET", "k" + i, "v"));
    }
    for (int i = 0; i < 5_001; i++) {
      assertThat(client.reply()).isEqualTo("+OK");
    }
  }

  private static byte[] mixed(SplittableRandom random) {
    String[] words = {"a", "b", "c", "7", "", "\r\n$1\r\n", "long".repeat(100), "k17"};
    String one = words[random.nextInt(words.length)];
    String two = words[random.nextInt(words.length)];
    String number = Integer.toString(random.nextInt(3));
    return switch (random.nextInt(24)) {
      case 0, 1, 2 -> RawClient.request("GET", one);
      case 3, 4, 5 -> RawClient.request("SET", one, two + number);
      case 6, 7 -> RawClient.request("INCR", one);
      case 8 -> RawClient.request("MGET", one, two, one);
      case 9 -> RawClient.request("MSET", one, number, two, "2");
      case 10 -> RawClient.request("DEL", one, two);
      case 11 -> RawClient.request("APPEND", one, number);
      case 12 -> RawClient.request("SELECT", number);
      case 13 -> RawClient.request("MULTI");
      case 14 -> RawClient.request("EXEC");
      case 15 -> RawClient.request("ZADD", one, number, two);
      case 16 -> RawClient.request("ECHO", one);
      case 17 -> "\r\n*0\r\nset b 'x y'\r\n".getBytes(ISO_8859_1);
      case 18 -> RawClient.request("GET", one, two);
      case 19 -> RawClient.request("nothing", one);
      case 20 -> RawClient.request("RENAME", one, two);
      case 21 -> RawClient.request("SELECT", "9");
      case 22 -> RawClient.request("KEYS", "none*"); // takes long where there are many keys
      default -> RawClient.request("TYPE", one);
    };
  }

  private static void send(RawClient client, byte[] bytes) {
    try {
      client.send(bytes);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void shouldTakeRequestsByteByByte() throws Exception {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(RawClient.request("SET", "a", "\r\n$1\r\n"));
    all.writeBytes("*0\r\n\r\n*-1\r\n".getBytes(ISO_8859_1));
    all.writeBytes("SET \"b c\" '\\x41'\n".getBytes(ISO_8859_1));
    all.writeBytes(RawClient.request("MGET", "a", "b c", ""));
    all.writeBytes("  \r\nset b \"\\x41\\n\"\r\nget b\r\n".getBytes(ISO_8859_1));
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      for (byte each : all.toByteArray()) {
        client.send(new byte[] {each});
      }
      assertThat(List.of(client.reply(), client.reply(), client.reply()))
          .isEqualTo(List.of("+OK", "+OK", "[\r\n$1\r\n, \\x41, nil]"));
      assertThat(List.of(client.reply(), client.reply())).isEqualTo(List.of("+OK", "A\n"));
      assertThat(door.door().waitingBytes()).isZero();
    }
  }

  @Test
  void shouldTakeLargeRequestsInAnyPieces() throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(3102));
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      for (int length : new int[] {4096, 65_536, 262_143, 262_144, 700_001}) {
        String value = "v".repeat(length);
        byte[] request = RawClient.request("SET", "large", value);
        for (int sent = 0; sent < request.length; ) {
          int end = Math.min(request.length, sent + 1 + random.nextInt(100_000));
          client.send(Arrays.copyOfRange(request, sent, end));
          sent = end;
        }
        assertThat(client.reply()).isEqualTo("+OK");
        assertThat(client.ask("GET", "large")).isEqualTo(value);
      }
      assertThat(client.ask("DEL", "large")).isEqualTo(":1");
      assertThat(door.door().waitingBytes()).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "*1048577~ | invalid multibulk length",
        "*x~ | invalid multibulk length",
        "*1~x | expected '$', got 'x'",
        "*1~$-1~ | invalid bulk length",
        "*1~$16777217~ | invalid bulk length",
        "*2~$3~GET~$16777216~ | too big request: maximum=16777216",
        "*1~$1x~ | invalid bulk length",
        "*111111111111111111111111111111111111 | invalid multibulk length",
        "*1~$3~GETxx | no line end behind a bulk string",
        "GET \"a~ | unbalanced quotes in request",
        "POST / HTTP/1.1~ | this is no HTTP server",
        "Host: localhost~ | this is no HTTP server",
      })
  void shouldEndConnectionsOfOtherProtocols(String sent, String reason) throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw();
        RawClient other = door.raw()) {
      client.send(RawClient.request("SET", "a", "1"));
      client.send(sent.replace("~", "\r\n"));
      assertThat(client.reply()).isEqualTo("+OK");
      assertThat(client.reply()).isEqualTo("-ERR Protocol error: " + reason);
      assertThat(client.ends()).isTrue();
      assertThat(other.ask("GET", "a")).isEqualTo("1");
    }
  }

  @Test
  void shouldEndLinesWithoutAnEnd() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      client.send("x".repeat(70_000));
      assertThat(client.reply()).isEqualTo("-ERR Protocol error: too big inline request");
      assertThat(client.ends()).isTrue();
    }
  }

  @Test
  void shouldAllocateNothingThatIsOnlyAnnounced() throws Exception {
    try (TestDoor door = TestDoor.open()) {
      for (int i = 0; i < 200; i++) {
        RawClient client = door.raw();
        client.send("*1000000\r\n$16000000\r\nx");
      }
      try (RawClient other = door.raw()) {
        assertThat(other.ask("PING")).isEqualTo("+PONG");
        assertThat(door.door().waitingBytes()).isLessThan(200 * 4096);
      }
    }
  }

  @Test
  void shouldServeOthersWhateverIsSent() throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(3103));
    try (TestDoor door = TestDoor.open();
        RawClient other = door.raw()) {
      assertThat(other.ask("SET", "witness", "here")).isEqualTo("+OK");
      int sent = 0;
      while (sent < MUTATED) {
        try (RawClient client = door.raw()) {
          ByteArrayOutputStream frames = new ByteArrayOutputStream();
          for (int i = 0; i < 25; i++) {
            frames.writeBytes(mutated(random));
            sent++;
          }
          client.socket().setSoLinger(true, 0);
          send(client, frames.toByteArray(), random);
        }
        assertThat(other.ask("GET", "witness")).isEqualTo("here");
      }
      assertThat(other.ask("PING")).isEqualTo("+PONG");
    }
  }

  /** Sends in pieces, until the server has ended the connection. */
  private static void send(RawClient client, byte[] bytes, SplittableRandom random) {
    try {
      for (int at = 0; at < bytes.length; ) {
        int end = Math.min(bytes.length, at + 1 + random.nextInt(4000));
        client.send(Arrays.copyOfRange(bytes, at, end));
        at = end;
      }
    } catch (IOException ended) {
      // It has; what is left is not for it.
      assertThat(ended).isInstanceOf(SocketException.class);
    }
  }

  private static byte[] mutated(SplittableRandom random) {
    String[] names = {"GET", "SET", "MGET", "ZADD", "SCAN", "INCR", "APPEND", "PANDO.RANGE", "X"};
    String[] words = {"0", "-", "+", "[a", "(b", "k", "-9223372036854775808", "LIMIT", "\0", ""};
    String[] arguments = new String[1 + random.nextInt(6)];
    for (int i = 0; i < arguments.length; i++) {
      String[] from = i == 0 ? names : words;
      arguments[i] = from[random.nextInt(from.length)];
    }
    byte[] frame = RawClient.request(arguments);
    // One in ten is broken: a broken frame ends its connection, and so hides those behind it.
    for (int i = random.nextInt(10) == 0 ? 1 + random.nextInt(4) : 0; i > 0; i--) {
      frame[random.nextInt(frame.length)] =
          random.nextBoolean()
              ? (byte) random.nextInt()
              : (byte) "*$\r\n0-9".charAt(random.nextInt(7));
    }
    return random.nextInt(30) == 0 ? Arrays.copyOf(frame, random.nextInt(frame.length)) : frame;
  }
}
