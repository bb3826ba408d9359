package pando.door.resp;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.bytes.ByteSession;
import pando.journal.FaultyFolder;
import pando.journal.SyncPolicy;

/** Transactions of several clients, of many keys, and where something fails half-way. */
@Timeout(300)
class TransactionsTest {
  private static final int ROUNDS = Seeds.count(100, 2_000, 20_000);
  private static final int ACCOUNTS = 6;

  @TempDir private Path folder;

  /** A door without a folder, or with one. */
  private RawClient client(AutoCloseable door) throws Exception {
    return door instanceof TestDoor its ? its.raw() : ((FolderDoor) door).raw();
  }

  private AutoCloseable open(boolean inFolder) throws Exception {
    return inFolder ? FolderDoor.open(new FaultyFolder(), SyncPolicy.EVERYSEC, 2) : TestDoor.open();
  }

  /** Money moves between accounts by WATCH, and there is as much of it at any moment. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldIsolateTransactions(boolean inFolder) throws Exception {
    try (AutoCloseable door = open(inFolder)) {
      AtomicInteger writers = new AtomicInteger(3);
      AtomicLong done = new AtomicLong();
      SplittableRandom random = new SplittableRandom(Seeds.of(89));
      List<Callable<Void>> tasks = new ArrayList<>();
      try (RawClient client = client(door)) {
        for (int i = 0; i < ACCOUNTS; i++) {
          client.ask("SET", "account" + i, "100");
        }
      }
      for (int i = 0; i < 3; i++) {
        SplittableRandom own = random.split();
        tasks.add(() -> {
          try (RawClient client = client(door)) {
            for (int n = 0; n < ROUNDS; n++) {
              done.addAndGet(transfer(client, own) ? 1 : 0);
            }
            return null;
          } finally {
            writers.decrementAndGet();
          }
        });
      }
      tasks.add(() -> {
        try (RawClient client = client(door)) {
          while (writers.get() > 0) {
            client.send("MULTI\r\nMGET account0 account1 account2\r\n");
            client.send("MGET account3 account4 account5\r\nEXEC\r\n");
            for (int i = 0; i < 3; i++) {
              client.reply();
            }
            assertThat(sum(client.reply())).isEqualTo(100L * ACCOUNTS);
          }
          return null;
        }
      });
      Threads.run(tasks);
      assertThat(done).hasPositiveValue();
    }
  }

  private static long sum(String reply) {
    long sum = 0;
    for (String number : reply.replaceAll("[\\[\\] ]", "").split(",", -1)) {
      sum += Long.parseLong(number);
    }
    return sum;
  }

  private static boolean transfer(RawClient client, SplittableRandom random) throws Exception {
    String from = "account" + random.nextInt(ACCOUNTS);
    String to = "account" + random.nextInt(ACCOUNTS);
    if (from.equals(to)) {
      return false;
    }
    assertThat(client.ask("WATCH", from, to)).isEqualTo("+OK");
    long left = Long.parseLong(client.ask("GET", from));
    long right = Long.parseLong(client.ask("GET", to));
    assertThat(client.ask("MULTI")).isEqualTo("+OK");
    assertThat(client.ask("SET", from, String.valueOf(left - 1))).isEqualTo("+QUEUED");
    assertThat(client.ask("SET", to, String.valueOf(right + 1))).isEqualTo("+QUEUED");
    String reply = client.ask("EXEC");
    assertThat(reply).isIn("nil", "[+OK, +OK]");
    return !reply.equals("nil");
  }

  /** Whatever changes a key that is watched; a change of another one does not matter. */
  @ParameterizedTest
  @CsvSource({
    "SET k other, true",
    "SET k v, true",
    "DEL k, true",
    "APPEND k x, true",
    "MSET a 1 k 2, true",
    "RENAME k other, true",
    "RENAME other2 k, true",
    "COPY other2 k REPLACE, true",
    "GETDEL k, true",
    "FLUSHALL, true",
    "FLUSHDB, true",
    "PANDO.CAS k v w, true",
    "ZADD set 0 more, true",
    "ZREM set member, true",
    "ZREMRANGEBYLEX set - +, true",
    "SET never-watched 1, false",
    "GET k, false",
    "ZRANGE set 0 -1 BYLEX, false"
  })
  void shouldNoticeChanges(String change, boolean isOfKey) throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw();
        RawClient other = door.raw()) {
      client.ask("MSET", "k", "v", "other2", "w");
      client.ask("ZADD", "set", "0", "member");
      client.ask("WATCH", "k", "set");
      other.ask(change.split(" ", -1));
      client.ask("MULTI");
      client.ask("SET", "done", "1");
      assertThat(client.ask("EXEC")).isEqualTo(isOfKey ? "nil" : "[+OK]");
      assertThat(client.ask("GET", "done")).isEqualTo(isOfKey ? "nil" : "1");
      // A key of the same name in another database is another one.
      client.ask("WATCH", "k");
      other.ask("SELECT", "1");
      other.ask("SET", "k", "of 1");
      client.ask("MULTI");
      assertThat(client.ask("EXEC")).isEqualTo("[]");
    }
  }

  @Test
  void shouldForgetTransactionsOfClientsThatLeave() throws Exception {
    try (TestDoor door = TestDoor.open(options -> options.withWaitingBytesMax(64 << 20));
        RawClient other = door.raw()) {
      String value = "x".repeat(20_000);
      try (RawClient client = door.raw()) {
        client.ask("WATCH", "a", "b");
        client.ask("MULTI");
        String reply = "+QUEUED";
        int queued = 0;
        while (reply.equals("+QUEUED")) {
          reply = client.ask("SET", "key" + queued++, value);
        }
        assertThat(reply).startsWith("-ERR the server has no memory");
        assertThat(queued).isBetween(1_000, 1_700);
        // Others find some memory still.
        assertThat(other.ask("SET", "large", "x".repeat(4 << 20))).isEqualTo("+OK");
        assertThat(other.ask("DEL", "large")).isEqualTo(":1");
        assertThat(door.door().waitingBytes()).isPositive();
        assertThat(client.ask("EXEC")).startsWith("-EXECABORT");
        assertThat(client.ask("DBSIZE")).isEqualTo(":0");
        client.ask("MULTI");
        client.ask("SET", "a", value);
      }
      while (door.door().clients() > 1) {
        Thread.onSpinWait();
      }
      assertThat(other.ask("PING")).isEqualTo("+PONG");
      assertThat(door.door().waitingBytes()).isLessThan(20_000);
    }
  }

  /** What takes long runs in the background, as a whole. */
  @Test
  void shouldRunLongTransactionsBehind() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      for (int i = 0; i < 8_000; i += 1_000) {
        List<String> pairs = new ArrayList<>(List.of("MSET"));
        for (int n = i; n < i + 1_000; n++) {
          pairs.addAll(List.of("key" + n, "value"));
        }
        assertThat(client.ask(pairs.toArray(String[]::new))).isEqualTo("+OK");
      }
      client.ask("MULTI");
      client.ask("INCR", "counter");
      client.ask("SELECT", "1");
      client.ask("SET", "of1", "1");
      client.ask("SELECT", "0");
      client.ask("KEYS", "*1");
      client.ask("FLUSHDB");
      client.ask("DBSIZE");
      String reply = client.ask("EXEC");
      assertThat(reply).startsWith("[:1, +OK, +OK, +OK, [key1, ").endsWith("], +OK, :0]");
      client.ask("SELECT", "1");
      assertThat(client.ask("GET", "of1")).isEqualTo("1");
      assertThat(door.door().waitingBytes()).isLessThan(20_000);
    }
  }

  @Test
  void shouldEndTransactionsThatOthersWaitForTooLong() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw();
        RawClient other = door.raw()) {
      for (int i = 0; i < 100; i++) {
        other.ask("SET", "a".repeat(20_000) + i, "v");
      }
      client.ask("SELECT", "2");
      client.ask("MULTI");
      client.ask("SELECT", "3");
      client.ask("INCR", "counter");
      client.ask("SELECT", "0");
      client.ask("KEYS", "*" + "a".repeat(10_000) + "b*");
      assertThat(client.ask("EXEC")).startsWith("-ERR the transaction takes too long");
      assertThat(client.ask("DBSIZE")).isEqualTo(":0");
      client.ask("SELECT", "0");
      assertThat(client.ask("DBSIZE")).isEqualTo(":100");
      client.ask("SELECT", "3");
      assertThat(client.ask("GET", "counter")).isEqualTo("nil");
      assertThat(other.ask("SET", "counter", "1")).isEqualTo("+OK");
    }
  }

  @Test
  void shouldUndoATransactionThatDoesNotFitTheLog() throws Exception {
    try (FolderDoor door = FolderDoor.open(folder, SyncPolicy.EVERYSEC);
        RawClient client = door.raw()) {
      client.ask("SET", "a", "before");
      client.ask("ZADD", "set", "0", "x");
      client.ask("MULTI");
      client.ask("SET", "a", "after");
      client.ask("DEL", "set");
      for (int i = 0; i < 4; i++) {
        client.ask("SET", "large" + i, "x".repeat(100_000));
      }
      assertThat(client.ask("EXEC")).startsWith("-ERR a change is too long for the log");
      assertThat(client.ask("GET", "a")).isEqualTo("before");
      assertThat(client.ask("ZRANGE", "set", "-", "+", "BYLEX")).isEqualTo("[x]");
      assertThat(client.ask("DBSIZE")).isEqualTo(":2");
      assertThat(client.ask("MSET", "a", "1", "set", "2")).isEqualTo("+OK");
      assertThat(client.ask("DBSIZE")).isEqualTo(":2");
    }
    try (FolderDoor door = FolderDoor.open(folder, SyncPolicy.EVERYSEC);
        RawClient client = door.raw()) {
      assertThat(client.ask("MGET", "a", "set")).isEqualTo("[1, 2]");
      assertThat(client.ask("DBSIZE")).isEqualTo(":2");
    }
  }

  @Test
  void shouldKeepAClientsOrderOfReplies() throws Exception {
    try (FolderDoor door = FolderDoor.open(new FaultyFolder(), SyncPolicy.ALWAYS);
        RawClient client = door.raw()) {
      StringBuilder requests = new StringBuilder();
      for (int i = 0; i < 100; i++) {
        requests.append("SET a %s\r\nMULTI\r\nINCR a\r\nGET a\r\nEXEC\r\n".formatted(i));
      }
      client.send(requests.toString());
      for (int i = 0; i < 100; i++) {
        assertThat(client.reply()).isEqualTo("+OK");
        assertThat(client.reply()).isEqualTo("+OK");
        assertThat(client.reply()).isEqualTo("+QUEUED");
        assertThat(client.reply()).isEqualTo("+QUEUED");
        assertThat(client.reply()).isEqualTo("[:%s, %s]".formatted(i + 1, i + 1));
      }
    }
  }

  /** The key that it is copied to is one of another database. */
  @Test
  void shouldNoticeACopyToAnotherDatabase() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw();
        RawClient other = door.raw()) {
      client.ask("SELECT", "3");
      client.ask("WATCH", "copy");
      other.ask("SET", "key", "value");
      assertThat(other.ask("COPY", "key", "copy", "DB", "3")).isEqualTo(":1");
      client.ask("MULTI");
      client.ask("SET", "copy", "mine");
      assertThat(client.ask("EXEC")).isEqualTo("nil");
      assertThat(client.ask("GET", "copy")).isEqualTo("value");
    }
  }

  /** A transaction that begins again in the background has not changed what it watches. */
  @Test
  void shouldRunLongTransactionsThatWatch() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      for (int i = 0; i < 8_000; i += 400) {
        List<String> pairs = new ArrayList<>(List.of("MSET"));
        for (int n = i; n < i + 400; n++) {
          pairs.addAll(List.of("key" + n, "value"));
        }
        assertThat(client.ask(pairs.toArray(String[]::new))).isEqualTo("+OK");
      }
      client.ask("WATCH", "counter");
      client.ask("MULTI");
      client.ask("INCR", "counter");
      client.ask("KEYS", "*x");
      assertThat(client.ask("EXEC")).isEqualTo("[:1, []]");
    }
  }

  /** A client that leaves while keys are still added in the background. */
  @Test
  void shouldForgetKeysOfClientsThatLeaveMeanwhile() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient other = door.raw()) {
      for (int i = 0; i < 5; i++) {
        other.ask("SET", "a".repeat(10_000) + i, "v");
      }
      List<String> watch = new ArrayList<>(List.of("WATCH"));
      for (int i = 0; i < 6_000; i++) {
        watch.add("key" + i);
      }
      List<RawClient> keepBusy = new ArrayList<>();
      for (int i = 0; i < Background.THREADS; i++) {
        keepBusy.add(door.raw());
        keepBusy.getLast().send(RawClient.request("KEYS", "*" + "a".repeat(5_000) + "b*"));
      }
      try (RawClient client = door.raw()) {
        client.send(RawClient.request("PING"));
        client.send(RawClient.request(watch.toArray(String[]::new)));
        assertThat(client.reply()).isEqualTo("+PONG");
      }
      while (door.door().clients() > 1 + Background.THREADS) {
        Thread.onSpinWait();
      }
      for (RawClient each : keepBusy) {
        each.close();
      }
      long deadline = System.nanoTime() + 20_000_000_000L;
      while (door.door().waitingBytes() > 20_000 && System.nanoTime() < deadline) {
        Thread.onSpinWait();
      }
      assertThat(door.door().waitingBytes()).isLessThan(20_000);
    }
  }

  /** What a client is not told is not done. */
  @Test
  void shouldUndoATransactionWithTooLongReplies() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      String value = "x".repeat(3 << 20);
      for (int i = 0; i < 11; i++) {
        client.ask("SET", "key" + i, value);
      }
      client.ask("MULTI");
      for (int i = 0; i < 11; i++) {
        client.ask("GETDEL", "key" + i);
      }
      assertThat(client.ask("EXEC")).startsWith("-ERR the reply is too large");
      assertThat(client.ask("DBSIZE")).isEqualTo(":11");
      assertThat(client.ask("STRLEN", "key10")).isEqualTo(":" + (3 << 20));
    }
  }

  /** Each of these requests is short, but what they replace is not. */
  @Test
  void shouldRefuseTransactionsThatTakeTooMuchMemory() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      String value = "x".repeat(1 << 20);
      for (int i = 0; i < 70; i++) {
        client.ask("SET", "key" + i, value);
      }
      client.ask("MULTI");
      client.ask("INCR", "counter");
      for (int i = 0; i < 300; i++) {
        client.ask("SETRANGE", "key0", "0", "y");
      }
      assertThat(client.ask("EXEC")).startsWith("[:1, :1048576, :1048576");
      client.ask("MULTI");
      client.ask("INCR", "counter");
      for (int i = 0; i < 70; i++) {
        client.ask("SETRANGE", "key" + i, "0", "z");
      }
      assertThat(client.ask("EXEC"))
          .startsWith("-ERR changes of several keys take too much memory");
      assertThat(client.ask("MGET", "counter")).isEqualTo("[1]");
      assertThat(client.ask("GETRANGE", "key0", "0", "0")).isEqualTo("y");
    }
  }

  /** A key that is changed twenty times has one value in the log. */
  @Test
  void shouldKeepTheLastChangeOfAKey() throws Exception {
    try (FolderDoor door = FolderDoor.open(folder, SyncPolicy.EVERYSEC);
        RawClient client = door.raw()) {
      client.ask("SET", "gone", "1");
      client.ask("MULTI");
      for (int i = 0; i < 20; i++) {
        client.ask("INCR", "counter");
        client.ask("SET", "gone", "2");
        client.ask("DEL", "gone");
        client.ask("DEL", "stays");
        client.ask("SET", "stays", "" + i);
      }
      assertThat(client.ask("EXEC")).endsWith(":20, +OK, :1, :1, +OK]");
      assertThat(client.ask("DBSIZE")).isEqualTo(":2");
    }
    try (FolderDoor door = FolderDoor.open(folder, SyncPolicy.EVERYSEC);
        RawClient client = door.raw()) {
      assertThat(client.ask("MGET", "counter", "gone", "stays")).isEqualTo("[20, nil, 19]");
      assertThat(client.ask("DBSIZE")).isEqualTo(":2");
    }
  }

  /** No other client is within an operation on a set meanwhile. */
  @Test
  void shouldSeeWholeSets() throws Exception {
    try (TestDoor door = TestDoor.open()) {
      AtomicInteger writers = new AtomicInteger(1);
      List<Callable<Void>> tasks = new ArrayList<>();
      tasks.add(() -> {
        try (RawClient client = door.raw()) {
          for (int i = 0; i < ROUNDS; i++) {
            client.ask("ZADD", "set", "0", "a", "0", "b", "0", "c", "0", "d");
            client.ask("ZREM", "set", "a", "b", "c", "d");
          }
          return null;
        } finally {
          writers.decrementAndGet();
        }
      });
      tasks.add(() -> {
        try (RawClient client = door.raw();
            RawClient _ = door.raw()) {
          while (writers.get() > 0) {
            client.send("MULTI\r\nZCARD set\r\nZLEXCOUNT set - +\r\nEXEC\r\n");
            for (int i = 0; i < 3; i++) {
              client.reply();
            }
            assertThat(client.reply()).isIn("[:0, :0]", "[:4, :4]");
          }
          return null;
        }
      });
      Threads.run(tasks);
    }
  }

  /** What is left of a set that a transaction has removed goes once the transaction has ended. */
  @Test
  void shouldRemoveMembersBehind() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      client.ask("ZADD", "set", "0", "a", "0", "b");
      client.ask("MULTI");
      client.ask("DEL", "set");
      assertThat(client.ask("EXEC")).isEqualTo("[:1]");
      try (ByteSession session = door.index().session()) {
        long deadline = System.nanoTime() + 60_000_000_000L;
        while (session.first() && System.nanoTime() < deadline) {
          Thread.onSpinWait();
        }
        assertThat(session.first()).isFalse();
      }
    }
  }

  /** Heads of arrays are put in front of what follows them, also where a block is full. */
  @Test
  void shouldReplyWithManyArrays() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      int block = ReplyBlocks.Block.FULL;
      for (int bytes = block - 40; bytes < block; bytes += 3) {
        client.ask("SET", "k", "x".repeat(bytes));
        StringBuilder requests = new StringBuilder("MULTI\r\nGET k\r\n");
        requests.repeat("KEYS nothing\r\n", 400).append("SCAN 0\r\n");
        client.send(requests.toString());
        for (int i = 0; i < 403; i++) {
          client.reply();
        }
        String reply = client.ask("EXEC");
        assertThat(reply.substring(bytes + 1))
            .as("bytes=" + bytes)
            .isEqualTo(", []".repeat(400) + ", [0, [k]]]");
      }
    }
  }

  /** A transaction takes no lock of a set while all others wait: one of them may have it. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldLetSetsExpireBesideTheirChanges(boolean inFolder) throws Exception {
    try (AutoCloseable door = open(inFolder)) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        tasks.add(() -> {
          try (RawClient client = client(door)) {
            for (int n = 0; n < 5 * ROUNDS; n++) {
              client.ask("ZADD", "set", "0", "member");
              client.ask("ZREM", "set", "member");
            }
            return null;
          }
        });
        String change = i == 0 ? "EXPIRE set 1000" : "PERSIST set";
        tasks.add(() -> {
          try (RawClient client = client(door)) {
            for (int n = 0; n < ROUNDS; n++) {
              client.send("MULTI\r\nSET string v\r\n" + change + "\r\nEXEC\r\n");
              for (int reply = 0; reply < 3; reply++) {
                client.reply();
              }
              assertThat(client.reply()).isIn("[+OK, :0]", "[+OK, :1]");
            }
            return null;
          }
        });
      }
      Threads.run(tasks);
      try (RawClient client = client(door)) {
        client.ask("ZREM", "set", "member");
        assertThat(client.ask("TYPE", "set")).isEqualTo("+none");
        assertThat(client.ask("DBSIZE")).isEqualTo(":1");
      }
    }
  }
}
