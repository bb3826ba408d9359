package pando.door.resp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** What is refused: by name, with a reason, and without an effect. */
class RefusalsTest {
  @Test
  void shouldRefuseEachCommandByItsName() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      assertThat(Unsupported.names()).hasSizeGreaterThan(150);
      for (String name : Unsupported.names()) {
        String start = "-ERR " + name + " is not supported: ";
        assertThat(client.ask(name.toLowerCase(Locale.ROOT), "a", "b")).startsWith(start);
      }
    }
  }

  @Test
  void shouldRefuseWhatWouldBeHalfDone() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      assertThat(client.ask("SET", "k", "v", "EX", "10"))
          .startsWith("-ERR SET EX is not supported");
      assertThat(client.ask("SET", "k", "v", "PX", "10"))
          .startsWith("-ERR SET PX is not supported");
      assertThat(client.ask("GET", "k")).isEqualTo("nil");
      assertThat(client.ask("HELLO", "3")).startsWith("-NOPROTO");
      assertThat(client.ask("ZADD", "s", "0", "a", "1", "b")).startsWith("-ERR several scores");
      assertThat(client.ask("EXISTS", "s")).isEqualTo(":0");
      assertThat(client.ask("ZADD", "s", "0", "a")).isEqualTo(":1");
      assertThat(client.ask("ZADD", "s", "1", "b"))
          .isEqualTo("-ERR all members of a set have one score here: score=0, given=1");
      assertThat(client.ask("ZADD", "s", "INCR", "0", "b")).startsWith("-ERR ZADD INCR is not");
      assertThat(client.ask("ZRANGE", "s", "0", "-1")).startsWith("-ERR ZRANGE is supported with");
      assertThat(client.ask("ZRANGE", "s", "0", "1", "BYSCORE")).startsWith("-ERR ZRANGE BYSCORE");
      assertThat(client.ask("ZCARD", "s")).isEqualTo(":1");
    }
  }

  @Test
  void shouldRefuseRepliesWithTooManyEntries() throws Exception {
    int most = Replies.ENTRIES_MAX;
    String tooMany = "-ERR the reply would have too many entries: maximum=10000";
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      for (int i = 0; i <= most; i++) {
        client.send(RawClient.request("ZADD", "s", "0", "m" + i));
        client.send(RawClient.request("SET", "k" + i, "v"));
      }
      for (int i = 0; i <= 2 * most + 1; i++) {
        assertThat(client.reply()).isIn(":1", "+OK");
      }
      assertThat(client.ask("KEYS", "*")).isEqualTo(tooMany);
      assertThat(client.ask("ZRANGEBYLEX", "s", "-", "+")).isEqualTo(tooMany);
      assertThat(client.ask("PANDO.RANGE", "-", "+")).isEqualTo(tooMany);
      assertThat(client.ask("PANDO.RANGE", "-", "+", "LIMIT", "10000", "KEYS").split(","))
          .hasSize(most);
      assertThat(client.ask("ZLEXCOUNT", "s", "-", "+")).isEqualTo(":" + (most + 1));
      String[] many = new String[most + 2];
      Arrays.fill(many, "k1");
      many[0] = "MGET";
      assertThat(client.ask(many)).isEqualTo(tooMany);
      assertThat(client.ask("FLUSHDB")).isEqualTo("+OK");
      assertThat(client.ask("DBSIZE")).isEqualTo(":0");
    }
  }

  @Test
  void shouldRefuseWhatIsTooLong() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      String longest = "k".repeat(Keyspace.KEY_BYTES_MAX);
      assertThat(client.ask("SET", longest, "v")).isEqualTo("+OK");
      assertThat(client.ask("GET", longest)).isEqualTo("v");
      assertThat(client.ask("SCAN", "0", "COUNT", "1")).contains(longest);
      assertThat(client.ask("SET", longest + "k", "v")).startsWith("-ERR the key is too long");
      assertThat(client.ask("MSET", "a", "b", longest + "k", "v")).startsWith("-ERR the key is");
      assertThat(client.ask("EXISTS", "a")).isEqualTo(":0");
      String member = "m".repeat(Keyspace.MEMBER_BYTES_MAX);
      assertThat(client.ask("ZADD", "s", "0", member)).isEqualTo(":1");
      assertThat(client.ask("ZLEXCOUNT", "s", "[" + member, "[" + member)).isEqualTo(":1");
      assertThat(client.ask("ZADD", "s", "0", member + "m")).startsWith("-ERR the member is too");
    }
  }
}
