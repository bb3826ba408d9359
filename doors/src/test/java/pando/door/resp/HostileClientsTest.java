package pando.door.resp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.index.Break;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.bytes.ByteIndex;

/** Requests that are in order, and are meant to make the server err, wait or run out of memory. */
class HostileClientsTest {
  private static final String LARGE = "\u00ff".repeat((16 << 20) - 100);

  /** The text of an error must not be larger than a reply may be. */
  @Test
  void shouldTellWhatIsWrongWithWhateverIsLong() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      String start = "?".repeat(128);
      assertThat(client.ask("CLIENT", LARGE))
          .isEqualTo("-ERR unknown subcommand '" + start + "'. Try CLIENT HELP.");
      assertThat(client.ask("CLIENT", "SETINFO", LARGE, "1"))
          .isEqualTo("-ERR Unrecognized option '" + start + "'");
      assertThat(client.ask("HELLO", "2", LARGE))
          .isEqualTo("-ERR Syntax error in HELLO option '" + start + "'");
      assertThat(client.ask("x".repeat(200), "y".repeat(100), "z".repeat(100), "w"))
          .isEqualTo(
              "-ERR unknown command '%s', with args beginning with: '%s' '%s' "
                  .formatted("x".repeat(128), "y".repeat(100), "z".repeat(25)));
      assertThat(client.ask("KEYS", "k".repeat(70_000))).isEqualTo("[]");
      assertThat(client.ask("SCAN", "0", "MATCH", "k".repeat(65_535) + "*")).isEqualTo("[0, []]");
    }
  }

  @Test
  void shouldKeepShortNamesOnly() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      String longest = "n".repeat(256);
      assertThat(client.ask("CLIENT", "SETNAME", longest)).isEqualTo("+OK");
      assertThat(client.ask("CLIENT", "SETNAME", longest + "n"))
          .isEqualTo("-ERR Client names are too long: bytes=257, maximum=256");
      assertThat(client.ask("CLIENT", "SETINFO", "LIB-NAME", longest + "n")).startsWith("-ERR lib");
      assertThat(client.ask("HELLO", "2", "SETNAME", longest + "n")).startsWith("-ERR Client");
      assertThat(client.ask("CLIENT", "GETNAME")).isEqualTo(longest);
    }
  }

  /** There is no key behind the last one, and so no string to go on from. */
  @Test
  void shouldEndScansBehindTheGreatestKey() throws Exception {
    String greatest = "\u00ff".repeat(OwnKeyspace.KEY_BYTES_MAX);
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      assertThat(client.ask("MSET", "a", "1", greatest, "2")).isEqualTo("+OK");
      List<String> found = new ArrayList<>();
      String cursor = "0";
      do {
        String page = client.ask("SCAN", cursor, "COUNT", "1");
        cursor = page.substring(1, page.indexOf(','));
        found.add(page.substring(page.indexOf(',') + 3, page.length() - 2));
      } while (!cursor.equals("0") && found.size() < 5);
      assertThat(found).isEqualTo(List.of("a", greatest, ""));
    }
  }

  @Test
  void shouldCountWhatCursorsAndArgumentsTake() throws Exception {
    try (TestDoor door = TestDoor.open()) {
      try (RawClient client = door.raw();
          RawClient other = door.raw()) {
        String key = "k".repeat(30_000);
        assertThat(client.ask("MSET", key + "1", "", key + "2", "")).isEqualTo("+OK");
        for (int i = 0; i < 100; i++) {
          assertThat(client.ask("SCAN", "0", "COUNT", "1")).endsWith(key + "1]]");
        }
        assertThat(door.door().waitingBytes()).isBetween(30_000L, 31_000L);
        int arguments = 500_000;
        other.send(
            "*" + (arguments + 1) + "\r\n$3\r\nDEL\r\n" + "$0\r\n\r\n".repeat(arguments - 1));
        long places = 2L * Integer.BYTES * arguments;
        awaitWaiting(door, 6L * arguments + places);
        other.send("$0\r\n\r\n");
        assertThat(other.reply()).isEqualTo(":0");
        awaitNotWaiting(door, 31_000);
      }
      awaitNotWaiting(door, 31_000); // the cursor, which any connection may go on from
    }
  }

  private static void awaitWaiting(TestDoor door, long bytes) throws InterruptedException {
    for (int i = 0; door.door().waitingBytes() < bytes; i++) {
      assertThat(i).as("bytes=%s", door.door().waitingBytes()).isLessThan(1_000);
      Thread.sleep(10);
    }
  }

  private static void awaitNotWaiting(TestDoor door, long bytes) throws InterruptedException {
    for (int i = 0; door.door().waitingBytes() > bytes; i++) {
      assertThat(i).as("bytes=%s", door.door().waitingBytes()).isLessThan(1_000);
      Thread.sleep(10);
    }
  }

  /** Each request of a pipeline has its own reply, and what was acknowledged is there. */
  @ParameterizedTest
  @EnumSource(
      value = Break.class,
      names = {"LOST", "DONE_AND_UNKNOWN", "NOTHING_AND_UNKNOWN", "AWAY"})
  void shouldReplyToEachRequestWhereTheIndexFails(Break how) throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(3110));
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 64 << 20, 3111));
        ByteIndex index = ByteIndex.create(fabric, TestDoor.indexOptions());
        RespDoor door = RespDoor.open(index, RespOptions.loopback(0).withEventLoops(1));
        RawClient client = new RawClient(door.address())) {
      int failures = 0;
      for (int round = 0; round < 200; round++) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < 20; i++) {
          String key = "k" + (round * 20 + i) % 300;
          all.writeBytes(RawClient.request("SET", key, round + "." + i));
          all.writeBytes(RawClient.request("ECHO", round + "-" + i));
          all.writeBytes(RawClient.request("GET", key));
          all.writeBytes(RawClient.request("ZADD", "s" + i % 3, "0", key));
          all.writeBytes(RawClient.request("PING", key));
        }
        int[] left = {random.nextInt(30)};
        fabric.hookNext(_ -> left[0]-- == 0, posting -> how.happen(fabric, posting, 0));
        client.send(all.toByteArray());
        for (int i = 0; i < 20; i++) {
          String set = client.reply();
          assertThat(set).matches("\\+OK|-ERR .*|-OOM .*");
          assertThat(client.reply()).isEqualTo(round + "-" + i);
          String got = client.reply();
          failures += set.equals("+OK") ? 0 : 1;
          if (set.equals("+OK") && !got.startsWith("-ERR ")) {
            assertThat(got).isEqualTo(round + "." + i);
          }
          assertThat(client.reply()).matches(":[01]|-ERR .*|-OOM .*");
          assertThat(client.reply()).isEqualTo("k" + (round * 20 + i) % 300);
        }
        fabric.unhook();
      }
      assertThat(failures).isGreaterThan(20);
      assertThat(client.ask("PING")).isEqualTo("+PONG");
    }
  }
}
