package pando.door.resp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.door.resp.TestDoor.Form;

/** What is refused: by name, with a reason, and without an effect. */
class RefusalsTest {
  @ParameterizedTest
  @EnumSource(names = {"OWN", "SHARED"})
  void shouldRefuseEachCommandByItsName(Form form) throws Exception {
    List<String> names = (form == Form.OWN ? Unsupported.OWN : Unsupported.SHARED).names();
    try (TestDoor door = TestDoor.open(form);
        RawClient client = door.raw()) {
      assertThat(names).hasSizeGreaterThan(150);
      for (String name : names) {
        String start = "-ERR " + name + " is not supported: ";
        assertThat(client.ask(name.toLowerCase(Locale.ROOT), "a", "b")).startsWith(start);
      }
    }
  }

  /** Clients send a transaction as a whole, and take a failed one for not carried out. */
  @ParameterizedTest
  @EnumSource(names = {"SHARED", "REMOTE"})
  void shouldCarryOutNothingOfARefusedTransaction(Form form) throws Exception {
    String refused =
        "-ERR MULTI is not supported: others change the keys, too, here; PANDO.CAS, SET NX,"
            + " GETSET and INCR are atomic";
    String inside =
        "-ERR not carried out: MULTI was refused, and neither EXEC nor DISCARD has come since";
    try (TestDoor door = TestDoor.open(form);
        RawClient client = door.raw();
        RawClient other = door.raw()) {
      client.send(
          "MULTI\r\nINCR m\r\nMULTI\r\nGET\r\nNOSUCH\r\nWATCH m\r\nSELECT 0\r\nEXEC\r\nGET m\r\n");
      assertThat(client.reply()).isEqualTo(refused);
      assertThat(client.reply()).isEqualTo(inside);
      assertThat(client.reply()).isEqualTo(inside);
      assertThat(client.reply()).startsWith("-ERR wrong number of arguments");
      assertThat(client.reply()).startsWith("-ERR unknown command 'NOSUCH'");
      assertThat(client.reply()).startsWith("-ERR WATCH is not supported");
      assertThat(client.reply()).isEqualTo(inside);
      assertThat(client.reply())
          .isEqualTo("-EXECABORT Transaction discarded because of previous errors.");
      assertThat(client.reply()).isEqualTo("nil");
      client.send("MULTI\r\nSET d 1\r\nDISCARD\r\nGET d\r\n");
      assertThat(client.reply()).isEqualTo(refused);
      assertThat(client.reply()).isEqualTo(inside);
      assertThat(client.reply()).isEqualTo("+OK");
      assertThat(client.reply()).isEqualTo("nil");
      client.send("multi\r\nset d 1\r\nreset\r\nget d\r\n");
      assertThat(client.reply()).isEqualTo(refused);
      assertThat(client.reply()).isEqualTo(inside);
      assertThat(client.reply()).isEqualTo("+RESET");
      assertThat(client.reply()).isEqualTo("nil");
      assertThat(client.ask("EXEC")).startsWith("-ERR EXEC is not supported");
      assertThat(client.ask("DISCARD")).startsWith("-ERR DISCARD is not supported");
      assertThat(client.ask("MULTI", "x")).startsWith("-ERR wrong number of arguments");
      assertThat(client.ask("SET", "e", "1")).isEqualTo("+OK");
      assertThat(client.ask("MULTI")).isEqualTo(refused);
      assertThat(other.ask("GET", "e")).isEqualTo("1");
      assertThat(client.ask("QUIT")).isEqualTo("+OK");
      assertThat(client.ends()).isTrue();
    }
  }

  @Test
  void shouldRefuseWhatWouldBeHalfDone() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      assertThat(client.ask("HELLO", "4")).startsWith("-NOPROTO");
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
  void shouldRefuseSetsAndDatabasesOfSharedStrings() throws Exception {
    try (TestDoor door = TestDoor.open(Form.SHARED);
        RawClient client = door.raw()) {
      for (String name : List.of("ZADD", "zrange", "ZLEXCOUNT", "SADD", "ZRANK")) {
        assertThat(client.ask(name, "s", "0"))
            .isEqualTo(
                "-ERR %s is not supported: keys have strings alone here, as others share them and"
                    + " see the same entries",
                name.toUpperCase(Locale.ROOT));
      }
      assertThat(client.ask("HSET", "h", "f", "v")).contains("there are no hashes");
      assertThat(client.ask("EXISTS", "s", "h")).isEqualTo(":0");
      assertThat(client.ask("SELECT", "0")).isEqualTo("+OK");
      assertThat(client.ask("SELECT", "1")).isEqualTo("-ERR DB index is out of range");
      assertThat(client.ask("INFO")).contains("# Keyspace").doesNotContain("db0", "index.bytes");
      assertThat(client.ask("PANDO.STATS")).contains("verbs.read").doesNotContain("index.bytes");
    }
  }

  @Test
  void shouldRefuseWhatSharedStringsHaveNoRoomFor() throws Exception {
    try (TestDoor door = TestDoor.open(Form.SHARED_SHORT);
        RawClient client = door.raw()) {
      String error = "-ERR the key is too long: bytes=5, maximum=4";
      assertThat(client.ask("SET", "four", "v")).isEqualTo("+OK");
      assertThat(client.ask("SET", "fives", "v")).isEqualTo(error);
      assertThat(client.ask("PANDO.FLOOR", "fives")).isEqualTo(error);
      assertThat(client.ask("MSET", "a", "1", "fives", "2")).isEqualTo(error);
      assertThat(client.ask("KEYS", "fives*")).isEqualTo("[]");
      assertThat(client.ask("KEYS", "*")).isEqualTo("[four]");
    }
    try (TestDoor door = TestDoor.open(Form.SHARED);
        RawClient client = door.raw()) {
      String longest = "v".repeat(5 << 20);
      assertThat(client.ask("APPEND", "k", longest)).isEqualTo(":" + longest.length());
      assertThat(client.ask("APPEND", "k", longest))
          .startsWith("-ERR string exceeds maximum allowed size: bytes=10485760, maximum=");
      for (long offset : new long[] {8 << 20, Integer.MAX_VALUE, Long.MAX_VALUE}) {
        assertThat(client.ask("SETRANGE", "k", Long.toString(offset), "v"))
            .startsWith("-ERR string exceeds maximum allowed size: bytes=");
      }
      assertThat(client.ask("STRLEN", "k")).isEqualTo(":" + longest.length());
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
      String longest = "k".repeat(OwnKeyspace.KEY_BYTES_MAX);
      assertThat(client.ask("SET", longest, "v")).isEqualTo("+OK");
      assertThat(client.ask("GET", longest)).isEqualTo("v");
      assertThat(client.ask("SCAN", "0", "COUNT", "1")).contains(longest);
      assertThat(client.ask("SET", longest + "k", "v")).startsWith("-ERR the key is too long");
      assertThat(client.ask("MSET", "a", "b", longest + "k", "v")).startsWith("-ERR the key is");
      assertThat(client.ask("EXISTS", "a")).isEqualTo(":0");
      String member = "m".repeat(OwnKeyspace.MEMBER_BYTES_MAX);
      assertThat(client.ask("ZADD", "s", "0", member)).isEqualTo(":1");
      assertThat(client.ask("ZLEXCOUNT", "s", "[" + member, "[" + member)).isEqualTo(":1");
      assertThat(client.ask("ZADD", "s", "0", member + "m")).startsWith("-ERR the member is too");
    }
  }
}
