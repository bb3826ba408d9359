package pando.door.resp;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.door.resp.TestDoor.Form;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;

/** What goes together of the requests that a client has sent together, and how it is answered. */
@Timeout(120)
class RespBatchTest {
  private final List<String> operations = Collections.synchronizedList(new ArrayList<>());
  private TestDoor first;
  private HookedStrings strings;
  private RespDoor door;
  private RawClient client;

  @BeforeEach
  void open() throws IOException {
    first = TestDoor.open(Form.SHARED);
    strings = TestDoor.remote(first.index());
    door = RespDoor.openShared(strings, RespOptions.loopback(0).withEventLoops(1));
    client = new RawClient(door.address());
    strings.before = operations::add;
  }

  @AfterEach
  void close() throws IOException {
    client.close();
    door.close();
    first.close();
  }

  /** Sends lines of words together; returns the replies. */
  private List<String> ask(String... lines) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (String line : lines) {
      all.writeBytes(RawClient.request(line.split(" ", -1)));
    }
    client.send(all.toByteArray());
    List<String> replies = new ArrayList<>();
    for (String _ : lines) {
      replies.add(client.reply());
    }
    return replies;
  }

  /** Returns the batches since it was asked last, and other operations but for lookups. */
  private List<String> waits() {
    List<String> waits = new ArrayList<>(operations);
    operations.clear();
    waits.removeAll(List.of("session", "get", "store"));
    return waits;
  }

  @Test
  void shouldLookUpAndStoreTogether() throws IOException {
    assertThat(ask("SET a 1", "SET b 2", "SET c 3")).containsOnly("+OK");
    assertThat(waits()).containsExactly("storeAll");
    assertThat(ask("GET c", "get a", "GET none", "GET b")).containsExactly("3", "1", "nil", "2");
    assertThat(waits()).containsExactly("getAll");
    assertThat(ask("MGET a none c")).containsExactly("[1, nil, 3]");
    assertThat(waits()).containsExactly("getAll");
    assertThat(ask("MSET a 4 d 5")).containsExactly("+OK");
    assertThat(waits()).containsExactly("storeAll");
    assertThat(ask("MGET a b c d")).containsExactly("[4, 2, 3, 5]");
  }

  /** What is refused for its key is answered in its turn. */
  @Test
  void shouldAnswerInOrderWhatIsRefused() throws IOException {
    String reserved = "\u00ff".repeat(9);
    List<String> replies =
        ask("SET a 1", "SET " + reserved + " 2", "GET a", "GET " + reserved, "GET a");
    assertThat(replies.get(0)).isEqualTo("+OK");
    assertThat(replies.get(1)).startsWith("-ERR").contains("named maps");
    assertThat(replies.get(2)).isEqualTo("1");
    assertThat(replies.get(3)).startsWith("-ERR").contains("named maps");
    assertThat(replies.get(4)).isEqualTo("1");
  }

  /** A row ends where a request of another kind comes, which sees all that came before it. */
  @Test
  void shouldKeepTheOrderOfDifferentKinds() throws IOException {
    assertThat(
            ask(
                "GET k",
                "SET k 1",
                "SET k 2",
                "GET k",
                "GET k",
                "INCR k",
                "GET k",
                "DEL k",
                "GET k",
                "SET k 5 NX",
                "SET k 6",
                "MGET k k",
                "GET k",
                "PING",
                "GET k"))
        .containsExactly(
            "nil", "+OK", "+OK", "2", "2", ":3", "3", ":1", "nil", "+OK", "+OK", "[6, 6]", "6",
            "+PONG", "6");
    assertThat(waits())
        .containsExactly(
            "getAll",
            "storeAll",
            "getAll",
            "replace",
            "getAll",
            "remove",
            "getAll",
            "putIfAbsent",
            "storeAll",
            "getAll",
            "getAll",
            "getAll");
  }

  /** Few at first, as it is not known how long values are, then up to 64. */
  @Test
  void shouldBoundWhatGoesTogether() throws IOException {
    String[] sets = new String[130];
    String[] gets = new String[130];
    for (int i = 0; i < sets.length; i++) {
      sets[i] = "SET k" + i + " v" + i;
      gets[i] = "GET k" + i;
    }
    assertThat(ask(sets)).containsOnly("+OK");
    assertThat(waits()).as("64, 64, 2").hasSize(3);
    for (int round = 0; round < 2; round++) {
      List<String> replies = ask(gets);
      for (int i = 0; i < gets.length; i++) {
        assertThat(replies.get(i)).isEqualTo("v" + i);
      }
    }
    assertThat(waits()).as("16, 32, 64, 18; 64, 64, 2").hasSize(7);
  }

  @Test
  void shouldAnswerFailuresOneByOne() throws IOException {
    List<Integer> stores = new ArrayList<>();
    strings.before =
        name -> {
          if (name.equals("store") || name.equals("get")) {
            stores.add(1);
            switch (stores.size()) {
              case 2 -> throw new PoolFullException("planted");
              case 3 -> throw new UnknownOutcomeException("planted");
              case 4 -> throw new StalledException("planted");
              case 5 -> throw new IllegalStateException("planted");
              default -> {}
            }
          }
        };
    assertThat(ask("SET a 1", "SET b 2", "SET c 3", "SET d 4", "SET e 5", "SET f 6"))
        .containsExactly(
            "+OK",
            "-OOM the pool is full: planted",
            "-ERR failed, and may have changed a key: planted",
            "-ERR planted",
            "-ERR the request failed: java.lang.IllegalStateException: planted",
            "+OK");
    stores.clear();
    assertThat(ask("GET a", "GET a", "GET f"))
        .containsExactly(
            "1",
            "-OOM the pool is full: planted",
            "-ERR failed, and may have changed" + " a key: planted");
    stores.clear();
    assertThat(ask("MSET a 7 b 8 c 9 d 10 e 11 f 12"))
        .as("none is begun behind the first that fails")
        .containsExactly("-OOM the pool is full: planted");
    assertThat(ask("MGET a b f")).first().asString().startsWith("-ERR failed, and may");
    strings.unhook();
    assertThat(ask("MGET a b c d e f")).containsExactly("[7, nil, nil, nil, nil, 6]");
  }

  /** Where no session opens, or it is closed, each request says so. */
  @Test
  void shouldAnswerAllWhereNothingCanBeDone() throws IOException {
    strings.before =
        _ -> {
          throw new StalledException("planted");
        };
    assertThat(ask("GET a", "GET b", "PING", "SET a 1", "SET b 2", "GET a"))
        .containsExactly(
            "-ERR planted",
            "-ERR planted",
            "+PONG",
            "-ERR planted",
            "-ERR planted",
            "-ERR planted");
    strings.unhook();
    assertThat(ask("SET a 1", "GET a")).containsExactly("+OK", "1");
  }

  @Test
  void shouldRefuseWithinARow() throws IOException {
    String long1 = "x".repeat(first.index().keyBytesMax() + 1);
    assertThat(ask("SET a 1", "SET " + long1 + " 2", "SET b 3", "GET", "GET a", "GET " + long1))
        .containsExactly(
            "+OK",
            "-ERR the key is too long: bytes=%s, maximum=%s"
                .formatted(long1.length(), long1.length() - 1),
            "+OK",
            "-ERR wrong number of arguments for 'get' command",
            "1",
            "-ERR the key is too long: bytes=%s, maximum=%s"
                .formatted(long1.length(), long1.length() - 1));
    assertThat(ask("SET a 2", "MULTI", "SET a 3", "GET a", "EXEC", "GET a"))
        .element(5)
        .isEqualTo("2");
  }

  /** What came before bytes that are no request is carried out, and answered first. */
  @Test
  void shouldAnswerRequestsInFrontOfOnesThatMakeNoSense() throws IOException {
    client.send(RawClient.request("SET", "a", "1"));
    assertThat(client.reply()).isEqualTo("+OK");
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(RawClient.request("GET", "a"));
    all.writeBytes(RawClient.request("GET", "a"));
    all.writeBytes("*1\r\nno string\r\n".getBytes(US_ASCII));
    client.send(all.toByteArray());
    assertThat(client.reply()).isEqualTo("1");
    assertThat(client.reply()).isEqualTo("1");
    assertThat(client.reply()).startsWith("-ERR Protocol error");
    assertThat(client.ends()).isTrue();
  }

  /** Lines of words lie elsewhere than arrays of strings. */
  @Test
  void shouldTakeLinesAndArraysInARow() throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = 0; i < 10; i++) {
      all.writeBytes(RawClient.request("SET", "k" + 2 * i, "v" + 2 * i));
      String line = "SET k%s v%s\r\n".formatted(2 * i + 1, 2 * i + 1);
      all.writeBytes(line.getBytes(US_ASCII));
    }
    client.send(all.toByteArray());
    for (int i = 0; i < 20; i++) {
      assertThat(client.reply()).isEqualTo("+OK");
    }
    for (int i = 0; i < 20; i++) {
      assertThat(client.ask("GET", "k" + i)).isEqualTo("v" + i);
    }
  }
}
