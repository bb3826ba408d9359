package pando.door.resp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.door.resp.TestDoor.Form;

/** What a door says about itself and its clients. */
class ServerCommandsTest {
  /** Of these programs stop without one of them. */
  private static final List<String> FIELDS =
      List.of(
          "redis_version",
          "os",
          "arch_bits",
          "run_id",
          "used_memory_human",
          "used_memory_rss",
          "maxmemory_policy",
          "loading",
          "keyspace_hits",
          "keyspace_misses",
          "used_cpu_user",
          "total_net_input_bytes",
          "master_repl_offset",
          "cluster_enabled",
          "blocked_clients");

  @Test
  void shouldHaveTheUsualFields() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      client.ask("SET", "k", "v");
      client.ask("MGET", "k", "k", "no");
      client.ask("GET", "k", "k");
      client.ask("INCR", "k");
      String info = client.ask("INFO");
      FIELDS.forEach(field -> assertThat(info).contains("\r\n" + field + ":"));
      assertThat(info)
          .contains("\r\nkeyspace_hits:2\r\nkeyspace_misses:1\r\n", "\r\ntotal_error_replies:2\r\n")
          .contains("\r\ndb0:keys=1,expires=0,avg_ttl=0\r\n")
          .doesNotContain("cmdstat_", "used_memory_rss:0\r\n");
      assertThat(client.ask("INFO", "CommandStats", "nosuch"))
          .startsWith("# Commandstats\r\n")
          .contains("cmdstat_get:calls=1,rejected_calls=1,failed_calls=0\r\n")
          .contains("cmdstat_incr:calls=1,rejected_calls=0,failed_calls=1\r\n")
          .doesNotContain("redis_version", "cmdstat_append");
      assertThat(client.ask("INFO", "all")).contains("# Server\r\n", "cmdstat_get:");
    }
  }

  @Test
  void shouldListClientsAndEndThem() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient me = door.raw();
        RawClient one = door.raw();
        RawClient other = door.raw()) {
      me.ask("CLIENT", "SETNAME", "me");
      String id = one.ask("CLIENT", "ID").substring(1);
      String address = other.ask("CLIENT", "INFO").replaceFirst(".* addr=(\\S+) .*\n", "$1");
      assertThat(address).startsWith("127.0.0.1:");
      assertThat(me.ask("CLIENT", "LIST").lines()).hasSize(3);
      assertThat(me.ask("CLIENT", "LIST", "ID", id, "999").lines())
          .singleElement()
          .asString()
          .startsWith("id=" + id + " addr=127.0.0.1:")
          .contains(" qbuf=0 ", " omem=0 ", " cmd=client|id ");
      assertThat(me.ask("CLIENT", "LIST").lines().filter(line -> line.contains("name=me")))
          .singleElement()
          .asString()
          .contains(" name=me ", " qbuf=26 ", " cmd=client|list ", " resp=2 ");
      assertThat(me.ask("CLIENT", "KILL", "ID", id)).isEqualTo(":1");
      assertThat(one.ends()).isTrue();
      assertThat(me.ask("CLIENT", "KILL", "ID", id)).isEqualTo(":0");
      assertThat(me.ask("CLIENT", "KILL", address)).isEqualTo("+OK");
      assertThat(other.ends()).isTrue();
      assertThat(me.ask("INFO", "clients")).contains("connected_clients:1\r\n");
      assertThat(me.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no")).isEqualTo(":1");
      assertThat(me.ends()).isTrue();
    }
  }

  @Test
  void shouldRefuseSecondWordsByTheirNames() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      for (String each :
          List.of(
              "CONFIG SET",
              "CONFIG REWRITE",
              "CLIENT REPLY",
              "CLIENT TRACKING",
              "MEMORY STATS",
              "OBJECT FREQ",
              "COMMAND GETKEYS")) {
        String[] words = each.toLowerCase(java.util.Locale.ROOT).split(" ", -1);
        assertThat(client.ask(words[0], words[1], "a", "b"))
            .startsWith("-ERR " + each + " is not supported: ");
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"OWN", "SHARED"})
  void shouldDescribeItsCommands(Form form) throws Exception {
    try (TestDoor door = TestDoor.open(form);
        RawClient client = door.raw()) {
      String count = client.ask("COMMAND", "COUNT");
      client.send("COMMAND\r\n");
      assertThat(client.shape()).startsWith("*" + count.substring(1) + "(*10($:*");
      client.send("COMMAND LIST\r\n");
      assertThat(client.shape()).startsWith("*" + count.substring(1) + "($$");
      assertThat(client.ask("COMMAND", "INFO", "mset", "nosuch"))
          .isEqualTo("[[mset, :-3, [+write], :1, :-1, :2, [], [], [], []], nil]");
      assertThat(client.ask("COMMAND", "INFO", "ping"))
          .isEqualTo("[[ping, :-1, [], :0, :0, :0, [], [], [], []]]");
    }
  }

  @Test
  void shouldChooseAnyKey() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      Set<String> keys =
          Set.of("", "a", "ab", "b", "user:1", "user:2", "user:20000", "\u00ff\u00ff");
      for (String key : keys) {
        client.ask("SET", key, "v");
      }
      Set<String> chosen = new HashSet<>();
      for (int i = 0; i < 2000; i++) {
        chosen.add(client.ask("RANDOMKEY"));
      }
      assertThat(chosen).isEqualTo(keys);
    }
  }

  @Test
  void shouldTellWhatAKeyTakes() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      client.ask("SET", "key", "value");
      client.ask("ZADD", "set", "1", "a", "1", "bc");
      assertThat(client.ask("MEMORY", "USAGE", "key")).isEqualTo(":10");
      assertThat(client.ask("MEMORY", "USAGE", "set", "SAMPLES", "0")).isEqualTo(":42");
    }
  }
}
