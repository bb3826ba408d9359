package pando.door.resp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static pando.door.resp.RawClient.request;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.durable.DurableStrings;
import pando.index.Seeds;
import pando.index.Threads;
import pando.journal.DataFolder;
import pando.journal.DataFolderException;
import pando.journal.FaultyFolder;
import pando.journal.SyncPolicy;

/** Doors whose changes are in the log of a folder. */
@Timeout(300)
class FolderDoorTest {
  private static final int CLIENTS = 50;
  private static final int ROUNDS = Seeds.count(20, 200, 1_000);

  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource
  void shouldHaveAllAgain(SyncPolicy sync) throws Exception {
    String large = "x".repeat(100_000);
    try (FolderDoor door = FolderDoor.open(folder, sync);
        RawClient client = door.raw()) {
      assertThat(client.ask("CONFIG", "GET", "append*"))
          .isEqualTo("[appendfsync, " + sync + ", appendonly, yes]");
      assertThat(client.ask("CONFIG", "GET", "dir"))
          .isEqualTo("[dir, " + folder.toRealPath() + "]");
      client.ask("SET", "a", "1");
      client.ask("SET", "gone", "1");
      client.ask("SET", "large", large);
      client.ask("MSET", "b", "2", "c", "3");
      client.ask("INCR", "a");
      client.ask("APPEND", "b", "two");
      client.ask("RENAME", "c", "d");
      client.ask("ZADD", "set", "5", "x", "5", "y", "5", "z");
      client.ask("ZREM", "set", "y");
      client.ask("ZADD", "replaced", "5", "x");
      client.ask("SET", "replaced", "now a string");
      assertThat(client.ask("DEL", "gone", "none")).isEqualTo(":1");
      client.ask("SELECT", "3");
      client.ask("SET", "a", "of 3");
    }
    for (int round = 0; round < 2; round++) {
      try (FolderDoor door = FolderDoor.open(folder, sync);
          RawClient client = door.raw()) {
        assertThat(client.ask("DBSIZE")).isEqualTo(":6");
        assertThat(client.ask("KEYS", "*")).isEqualTo("[a, b, d, large, replaced, set]");
        assertThat(client.ask("MGET", "a", "b", "d", "replaced"))
            .isEqualTo("[2, 2two, 3, now a string]");
        assertThat(client.ask("GET", "large")).isEqualTo(large);
        assertThat(client.ask("ZRANGEBYLEX", "set", "-", "+")).isEqualTo("[x, z]");
        assertThat(client.ask("ZSCORE", "set", "z")).isEqualTo("5");
        client.ask("SELECT", "3");
        assertThat(client.ask("GET", "a")).isEqualTo("of 3");
        assertThat(client.ask("DBSIZE")).isEqualTo(":1");
      }
    }
  }

  /** What is answered is there if the power is lost at that moment, also what was only read. */
  @Test
  void shouldAnswerWhatIsOnTheDisk() throws Exception {
    FaultyFolder disk = new FaultyFolder();
    SplittableRandom random = new SplittableRandom(Seeds.of(80));
    try (FolderDoor door = FolderDoor.open(disk, SyncPolicy.ALWAYS, 2)) {
      List<Callable<Void>> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        int number = i;
        SplittableRandom own = random.split();
        clients.add(() -> {
          try (RawClient client = door.raw()) {
            count(disk, client, number, own);
            return null;
          }
        });
      }
      Threads.run(clients);
    }
  }

  /** Counts up, reads another one's counter, and looks now and then what a crash would leave. */
  private static void count(
      FaultyFolder disk, RawClient client, int number, SplittableRandom random) throws IOException {
    String own = "c" + number;
    int count = 0;
    for (int round = 0; round < ROUNDS; round++) {
      String other = "c" + random.nextInt(CLIENTS);
      int some = 1 + random.nextInt(32);
      for (int i = 0; i < some; i++) {
        client.send(request("INCR", own));
        client.send(request("ECHO", "e" + i));
      }
      client.send(request("GET", other));
      client.send(request("ZADD", "z" + number, "0", "m" + round));
      for (int i = 0; i < some; i++) {
        assertThat(client.reply()).isEqualTo(":" + ++count);
        assertThat(client.reply()).isEqualTo("e" + i);
      }
      String read = client.reply();
      assertThat(client.reply()).isEqualTo(":1");
      if (random.nextInt(ROUNDS) < 2) {
        Map<String, String> left = disk.crash(random).entries(DurableStrings.KIND);
        assertThat(counter(left, own)).isGreaterThanOrEqualTo(count);
        assertThat(counter(left, other)).isGreaterThanOrEqualTo(value(read));
        assertThat(left).containsKey("\0z" + number);
      }
    }
  }

  private static int counter(Map<String, String> entries, String name) {
    String stored = entries.get("\0" + name);
    return stored == null ? 0 : value(stored.substring(1));
  }

  private static int value(String text) {
    return text.equals("nil") ? 0 : Integer.parseInt(text);
  }

  /** A test of a door of one event loop, while the disk does not go on. */
  private interface Held {
    /** Sends requests whose replies have to wait. */
    void before(FolderDoor door) throws Exception;

    /** Looks at the replies, once the disk goes on. */
    void behind(FolderDoor door) throws Exception;
  }

  private static void hold(Held test) throws Exception {
    FaultyFolder disk = new FaultyFolder();
    try (FolderDoor door = FolderDoor.open(disk, SyncPolicy.ALWAYS)) {
      disk.holdForces();
      try {
        test.before(door);
      } finally {
        disk.letForcesGo();
      }
      test.behind(door);
    }
  }

  /** Waits until something is logged, and then until the event loop has served another client. */
  private static void awaitLogged(FolderDoor door, long before, RawClient other) throws Exception {
    while (door.folder().log().end() == before) {
      Thread.onSpinWait();
    }
    for (int i = 0; i < 3; i++) {
      assertThat(other.ask("PING")).isEqualTo("+PONG");
    }
  }

  private static void assertNoReply(RawClient client) throws IOException {
    assertThat(client.socket().getInputStream().available()).isZero();
  }

  @Test
  void shouldServeOthersWhileRepliesWaitForTheDisk() throws Exception {
    String large = "x".repeat(30_000);
    FaultyFolder disk = new FaultyFolder();
    try (FolderDoor door = FolderDoor.open(disk, SyncPolicy.ALWAYS);
        RawClient writer = door.raw();
        RawClient reader = door.raw();
        RawClient other = door.raw()) {
      writer.ask("SET", "old", large);
      disk.holdForces();
      try {
        long before = door.folder().log().end();
        writer.send(request("SET", "k", "v"));
        writer.send(request("PING"));
        awaitLogged(door, before, other);
        reader.send(request("GET", "k"));
        for (int i = 0; i < 10; i++) {
          writer.send(request("GET", "old")); // waits behind the others, and is much
        }
        assertThat(other.ask("GET", "old")).isEqualTo(large);
        assertThat(other.ask("GET", "none")).isEqualTo("nil");
        assertThat(other.ask("INFO", "persistence")).contains("aof_last_write_status:ok");
        assertNoReply(writer);
        assertNoReply(reader);
      } finally {
        disk.letForcesGo();
      }
      assertThat(writer.reply()).isEqualTo("+OK");
      assertThat(writer.reply()).isEqualTo("+PONG");
      for (int i = 0; i < 10; i++) {
        assertThat(writer.reply()).isEqualTo(large);
      }
      assertThat(reader.reply()).isEqualTo("v");
      assertThat(door.door().waitingBytes()).isZero();
    }
  }

  /** All kinds of ends come behind the replies that waited. */
  @Test
  void shouldEndConnectionsBehindRepliesThatWait() throws Exception {
    List<RawClient> clients = new ArrayList<>();
    hold(
        new Held() {
          @Override
          public void before(FolderDoor door) throws Exception {
            for (int i = 0; i < 4; i++) {
              clients.add(door.raw());
              clients.getLast().send(request("SET", "k" + i, "v"));
            }
            try (RawClient other = door.raw()) {
              while (!other.ask("DBSIZE").equals(":4")) {
                Thread.onSpinWait();
              }
            }
            clients.get(0).send(request("QUIT"));
            clients.get(1).send(request("INCR", "k"));
            clients.get(1).socket().shutdownOutput();
            clients.get(2).send("*x\r\n");
            clients.get(3).close();
            try (RawClient other = door.raw()) {
              awaitLogged(door, 0, other); // so that the event loop has seen all of this
            }
            assertNoReply(clients.get(0));
          }

          @Override
          public void behind(FolderDoor door) throws Exception {
            for (int i = 0; i < 3; i++) {
              assertThat(clients.get(i).reply()).isEqualTo("+OK");
            }
            assertThat(clients.get(0).reply()).isEqualTo("+OK");
            assertThat(clients.get(1).reply()).isEqualTo(":1");
            assertThat(clients.get(2).reply()).startsWith("-ERR Protocol error: ");
            for (int i = 0; i < 3; i++) {
              assertThat(clients.get(i).ends()).isTrue();
              clients.get(i).close();
            }
            try (RawClient other = door.raw()) {
              while (door.door().clients() > 1) {
                assertThat(other.ask("PING")).isEqualTo("+PONG");
              }
              assertThat(other.ask("DBSIZE")).isEqualTo(":5");
              assertThat(door.door().waitingBytes()).isZero();
            }
          }
        });
  }

  /** Returns a request that takes too long for an event loop. */
  private static String[] storeMany() {
    String[] many = new String[1 + 2 * 2_000];
    many[0] = "MSET";
    for (int i = 1; i < many.length; i++) {
      many[i] = "m" + (i - 1) / 2;
    }
    return many;
  }

  @Test
  void shouldKeepRepliesOfTheBackground() throws Exception {
    FaultyFolder disk = new FaultyFolder();
    try (FolderDoor door = FolderDoor.open(disk, SyncPolicy.ALWAYS);
        RawClient client = door.raw();
        RawClient behind = door.raw();
        RawClient reader = door.raw();
        RawClient other = door.raw()) {
      for (int i = 0; i < 5; i++) { // so that later reads are long
        assertThat(reader.ask("SET", "large", "x".repeat(60_000))).isEqualTo("+OK");
      }
      disk.holdForces();
      try {
        behind.send("SET k v\r\nFLUSHALL\r\nQUIT\r\n"); // in one read
        while (!other.ask("INFO", "commandstats").contains("cmdstat_flushall:calls=1,")
            || !other.ask("DBSIZE").equals(":0")) {
          Thread.onSpinWait();
        }
        client.send(request(storeMany()));
        while (!other.ask("DBSIZE").equals(":2000")) {
          Thread.onSpinWait();
        }
        reader.send("SET k v\r\nMGET" + " none".repeat(1_100) + "\r\n"); // in one read, too
        while (!other.ask("INFO", "stats").contains("keyspace_misses:1100\r\n")) {
          Thread.onSpinWait();
        }
        for (int i = 0; i < 3; i++) {
          assertThat(other.ask("PING")).isEqualTo("+PONG");
        }
        assertNoReply(client);
        assertNoReply(behind);
        assertNoReply(reader);
      } finally {
        disk.letForcesGo();
      }
      assertThat(client.reply()).isEqualTo("+OK");
      for (int i = 0; i < 3; i++) {
        assertThat(behind.reply()).isEqualTo("+OK");
      }
      assertThat(behind.ends()).isTrue();
      assertThat(reader.reply()).isEqualTo("+OK");
      assertThat(reader.reply()).startsWith("[nil, nil, ");
    }
  }

  /** A request of the background, with others before and behind it. */
  @Test
  void shouldKeepTheOrderOfRepliesOfTheBackground() throws Exception {
    String[] many = storeMany();
    try (FolderDoor door = FolderDoor.open(folder, SyncPolicy.ALWAYS);
        RawClient client = door.raw()) {
      for (int round = 0; round < 20; round++) {
        client.send(request("SET", "k", "v" + round));
        client.send(request(many));
        client.send(request("GET", "k"));
        client.send(request("FLUSHALL"));
        client.send(request("INCR", "n"));
        client.send(request("DBSIZE"));
        assertThat(client.reply()).isEqualTo("+OK");
        assertThat(client.reply()).isEqualTo("+OK");
        assertThat(client.reply()).isEqualTo("v" + round);
        assertThat(client.reply()).isEqualTo("+OK");
        assertThat(client.reply()).isEqualTo(":1");
        assertThat(client.reply()).isEqualTo(":1");
      }
    }
  }

  /** A door that closes waits for the disk, and sends the replies. */
  @Test
  void shouldSendRepliesThatWaitWhenItCloses() throws Exception {
    FaultyFolder disk = new FaultyFolder();
    FolderDoor door = FolderDoor.open(disk, SyncPolicy.ALWAYS);
    try (door;
        RawClient client = door.raw();
        RawClient other = door.raw()) {
      CompletableFuture<Void> closed;
      disk.holdForces();
      try {
        client.send(request("SET", "k", "v"));
        awaitLogged(door, 0, other);
        closed = CompletableFuture.runAsync(door.door()::close);
        assertThat(other.ends()).isTrue();
        assertNoReply(client);
      } finally {
        disk.letForcesGo();
      }
      assertThat(client.reply()).isEqualTo("+OK");
      assertThat(client.ends()).isTrue();
      closed.join();
    }
  }

  @Test
  void shouldTellThatTheLogHasFailed() throws Exception {
    FaultyFolder disk = new FaultyFolder();
    try (FolderDoor door = FolderDoor.open(disk, SyncPolicy.ALWAYS);
        RawClient writer = door.raw();
        RawClient other = door.raw()) {
      assertThat(other.ask("SET", "safe", "v")).isEqualTo("+OK");
      disk.holdForces();
      try {
        long before = door.folder().log().end();
        writer.send(request("SET", "k", "v"));
        awaitLogged(door, before, other);
        disk.failForces();
      } finally {
        disk.letForcesGo();
      }
      assertThat(writer.reply()).startsWith("-ERR the log has failed: ");
      assertThat(writer.ends()).isTrue();
      assertThat(other.ask("GET", "safe")).isEqualTo("v");
      assertThat(other.ask("SET", "safe", "w")).startsWith("-ERR the log has failed: ");
      assertThat(other.ask("SAVE")).startsWith("-ERR the log has failed: ");
      assertThat(other.ask("BGSAVE")).startsWith("-ERR the log has failed: ");
      assertThat(other.ask("INFO", "persistence"))
          .contains("aof_last_write_status:err", "rdb_last_bgsave_status:err");
      assertThat(other.ask("GET", "safe")).isEqualTo("v");
      assertThat(other.ask("GET", "k")).startsWith("-ERR the log has failed: ");
      assertThat(other.ends()).isTrue();
      disk.heal();
    }
    try (FolderDoor door = FolderDoor.open(disk, SyncPolicy.ALWAYS);
        RawClient client = door.raw()) {
      assertThat(client.ask("GET", "safe")).isEqualTo("v");
    }
  }

  @Test
  void shouldRefuseChangesWhileTheLogHasNoRoom() throws Exception {
    FaultyFolder disk = new FaultyFolder();
    String value = "v".repeat(50_000);
    try (FolderDoor door = FolderDoor.open(disk, SyncPolicy.EVERYSEC);
        RawClient client = door.raw()) {
      disk.fillUp();
      int stored = 0;
      String reply = client.ask("SET", "k0", value);
      while (reply.equals("+OK")) {
        stored++;
        reply = client.ask("SET", "k" + stored, value);
      }
      assertThat(reply).startsWith("-ERR the log has no room: ");
      assertThat(stored).isPositive();
      assertThat(client.ask("GET", "k" + (stored - 1))).isEqualTo(value);
      assertThat(client.ask("GET", "k" + stored)).isEqualTo("nil");
      assertThat(client.ask("INFO", "persistence")).contains("aof_last_write_status:err");
      disk.heal();
      while (!client.ask("SET", "k" + stored, value).equals("+OK")) {
        assertThat(client.ask("DBSIZE")).isEqualTo(":" + stored);
      }
      assertThat(client.ask("DBSIZE")).isEqualTo(":" + (stored + 1));
      assertThat(client.ask("INFO", "persistence")).contains("aof_last_write_status:ok");
    }
  }

  @Test
  void shouldSave() throws Exception {
    FaultyFolder disk = new FaultyFolder();
    try (FolderDoor door = FolderDoor.open(disk, SyncPolicy.NO);
        RawClient client = door.raw();
        RawClient other = door.raw()) {
      long now = Instant.now().getEpochSecond();
      assertThat(client.ask("SET", "k", "v")).isEqualTo("+OK");
      assertThat(Long.parseLong(client.ask("LASTSAVE").substring(1))).isBetween(now - 10, now);
      disk.holdForces();
      try {
        client.send(request("SAVE"));
        client.send(request("GET", "k"));
        assertThat(other.ask("GET", "k")).isEqualTo("v");
        assertThat(other.ask("BGSAVE")).isEqualTo("+Background saving started");
        assertNoReply(client);
      } finally {
        disk.letForcesGo();
      }
      assertThat(client.reply()).isEqualTo("+OK");
      assertThat(client.reply()).isEqualTo("v");
      assertThat(disk.crash(new SplittableRandom(1)).entries(DurableStrings.KIND))
          .containsEntry("\0k", "\0v");
      assertThat(Long.parseLong(client.ask("LASTSAVE").substring(1))).isGreaterThanOrEqualTo(now);
      assertThat(client.ask("BGSAVE", "SCHEDULE")).isEqualTo("+Background saving started");
      assertThat(client.ask("BGSAVE", "x")).isEqualTo("-ERR syntax error");
      assertThat(client.ask("SAVE", "x"))
          .isEqualTo("-ERR wrong number of arguments for 'save' command");
      assertThat(client.ask("BGREWRITEAOF"))
          .isEqualTo("+Background append only file rewriting started");
      assertThat(client.ask("INFO", "persistence"))
          .contains("loading:0\r\n", "aof_enabled:1\r\n", "rdb_last_save_time:");
      assertThat(client.ask("WAITAOF", "1", "0", "0")).startsWith("-ERR WAITAOF is not supported");
    }
  }

  @Test
  void shouldLeaveAFolderOfMapsAlone() throws Exception {
    FolderDoor.open(folder, SyncPolicy.NO).close();
    FolderDoor.open(folder, SyncPolicy.NO).close();
    try (DataFolder opened =
        DataFolder.open(folder, DurableStrings.KIND, FolderDoor.options(SyncPolicy.NO))) {
      assertThat(opened.codecs()).isEqualTo(DurableStrings.CODECS_OF_DOOR);
      opened.setCodecs("strings strings");
    }
    assertThatThrownBy(() -> FolderDoor.open(folder, SyncPolicy.NO))
        .isInstanceOf(DataFolderException.class)
        .hasMessageContaining("serve another one: folder=" + folder.toRealPath());
  }
}
