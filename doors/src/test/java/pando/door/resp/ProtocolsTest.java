package pando.door.resp;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** RESP2 and RESP3: what differs between their replies, and which of them a connection speaks. */
class ProtocolsTest {
  private static final String SECRET = "secret";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "same",
      value = {
        "PING | +PONG~ | same",
        "GET k | $1~v~ | same",
        "GET no | $-1~ | _~",
        "GETDEL no | $-1~ | _~",
        "SET no v XX | $-1~ | _~",
        "SET k v GET | $1~v~ | same",
        "MGET k no | *2~$1~v~$-1~ | *2~$1~v~_~",
        "STRLEN k | :1~ | same",
        "INCR k | -ERR value is not an integer or out of range~ | same",
        "KEYS * | *2~$1~k~$1~s~ | same",
        "SCAN 0 | *2~$1~0~*2~$1~k~$1~s~ | same",
        "TYPE s | +zset~ | same",
        "ZSCORE s m | $3~1.5~ | ,1.5~",
        "ZSCORE s no | $-1~ | _~",
        "ZRANGEBYLEX s - + | *1~$1~m~ | same",
        "CLIENT GETNAME | $-1~ | _~",
        "CONFIG GET save | *2~$4~save~$0~~ | %1~$4~save~$0~~",
        "CONFIG GET no | *0~ | %0~",
        "COMMAND INFO nosuch | *1~$-1~ | *1~_~",
        "COMMAND DOCS get | *0~ | %0~",
        "INFO cluster | $30~# Cluster~cluster_enabled:0~~ | =34~txt:# Cluster~cluster_enabled:0~~",
        "PANDO.RANGE - + | *4~$1~k~$1~v~$1~s~$-1~ | *4~$1~k~$1~v~$1~s~_~",
        "PANDO.FLOOR k | *2~$1~k~$1~v~ | same",
        "PANDO.FLOOR a | *-1~ | _~",
        "PANDO.CAS k x y | :0~ | same",
      })
  void shouldReplyInTheProtocolThatIsSpoken(String request, String resp2, String resp3)
      throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      assertThat(client.ask("SET", "k", "v")).isEqualTo("+OK");
      assertThat(client.ask("ZADD", "s", "1.5", "m")).isEqualTo(":1");
      client.send(request + "\r\n");
      assertThat(client.frame()).isEqualTo(resp2.replace("~", "\r\n"));
      client.ask("HELLO", "3");
      client.send(request + "\r\n");
      assertThat(client.frame()).isEqualTo((resp3 == null ? resp2 : resp3).replace("~", "\r\n"));
    }
  }

  @Test
  void shouldChangeTheProtocolWhenAsked() throws Exception {
    String resp2 = "$-1\r\n";
    String resp3 = "_\r\n";
    try (TestDoor door = TestDoor.open(options -> options.withPassword(Password.of(SECRET)));
        RawClient client = door.raw()) {
      assertThat(client.ask("HELLO", "3")).startsWith("-NOAUTH");
      assertThat(client.ask("HELLO", "3", "AUTH", "default", "x")).startsWith("-WRONGPASS");
      assertThat(client.ask("AUTH", SECRET)).isEqualTo("+OK");
      assertThat(missing(client)).isEqualTo(resp2);
      assertThat(client.ask("HELLO", "3", "WHAT")).startsWith("-ERR Syntax error");
      assertThat(client.ask("HELLO", "4")).startsWith("-NOPROTO");
      assertThat(client.ask("HELLO")).startsWith("[server, pando,").contains("proto, :2");
      assertThat(missing(client)).isEqualTo(resp2);
      assertThat(client.ask("HELLO", "3")).startsWith("{server, pando,").contains("proto, :3");
      assertThat(missing(client)).isEqualTo(resp3);
      assertThat(client.ask("HELLO")).startsWith("{");
      assertThat(client.ask("CLIENT", "LIST")).contains(" resp=3 ");
      assertThat(client.ask("PANDO.STATS")).startsWith("{verbs.read, :");
      assertThat(client.ask("HELLO", "2")).startsWith("[").contains("proto, :2");
      assertThat(missing(client)).isEqualTo(resp2);
      assertThat(client.ask("HELLO", "3", "SETNAME", "me")).startsWith("{");
      assertThat(client.ask("RESET")).isEqualTo("+RESET");
      assertThat(client.ask("HELLO", "2", "AUTH", "default", SECRET)).startsWith("[");
      assertThat(missing(client)).isEqualTo(resp2);
      assertThat(client.ask("CLIENT", "LIST")).contains(" resp=2 ");
    }
  }

  /** The replies of two connections of an event loop lie in one place. */
  @Test
  void shouldSpeakToEachConnectionInItsProtocol() throws Exception {
    try (TestDoor door = TestDoor.open(options -> options.withEventLoops(1));
        RawClient one = door.raw();
        RawClient other = door.raw()) {
      one.ask("HELLO", "3");
      for (int i = 0; i < 10; i++) {
        assertThat(missing(one)).isEqualTo("_\r\n");
        assertThat(missing(other)).isEqualTo("$-1\r\n");
      }
    }
  }

  private static String missing(RawClient client) throws Exception {
    client.send("GET nosuchkey\r\n");
    return client.frame();
  }
}
