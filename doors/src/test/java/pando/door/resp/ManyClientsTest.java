package pando.door.resp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import pando.fabric.Fabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.bytes.ByteIndex;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;

/** Clients side by side, and doors that close and open meanwhile. */
class ManyClientsTest {
  private static final int CLIENTS = 8;
  private static final int INCREMENTS = Seeds.count(500, 1_000, 20_000);

  @Test
  void shouldCountEachIncrementOnce() throws Exception {
    try (TestDoor door = TestDoor.open();
        Jedis reader = door.jedis()) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        String own = "own" + i;
        tasks.add(() -> {
          try (Jedis jedis = door.jedis()) {
            for (int n = 0; n < INCREMENTS; n++) {
              jedis.incr("counter");
              jedis.append("text", "x");
              jedis.zadd("set", 0, "m" + (n % 50));
              jedis.zrem("set", "m" + ((n + 25) % 50));
              if (n % 10 == 0) {
                jedis.del("set");
                jedis.incr(own);
              }
            }
            return null;
          }
        });
      }
      Threads.run(tasks);
      assertThat(reader.get("counter")).isEqualTo(Integer.toString(CLIENTS * INCREMENTS));
      assertThat(reader.strlen("text")).isEqualTo((long) CLIENTS * INCREMENTS);
      for (int i = 0; i < CLIENTS; i++) {
        assertThat(reader.get("own" + i)).isEqualTo(Integer.toString(INCREMENTS / 10));
      }
      reader.del("set");
      assertThat(reader.dbSize()).isEqualTo(2 + CLIENTS);
      assertThat(reader.keys("*")).hasSize(2 + CLIENTS);
      assertThat(keysBehindTheDoor(door.index()))
          .as("no member without a set")
          .isEqualTo(2 + CLIENTS);
    }
  }

  private static long keysBehindTheDoor(ByteIndex index) {
    try (var session = index.session()) {
      return session.scan(MemorySegment.ofArray(new byte[0]), null, Long.MAX_VALUE, (_, _) -> true);
    }
  }

  @Test
  void shouldKeepWhatWasAcknowledgedWhereItCloses() throws Exception {
    AtomicIntegerArray acknowledged = new AtomicIntegerArray(CLIENTS);
    CountDownLatch busy = new CountDownLatch(CLIENTS);
    try (Fabric fabric = Pools.open(2, 128 << 20, 1)) {
      try (ByteIndex index = ByteIndex.create(fabric, TestDoor.indexOptions());
          RespDoor door = RespDoor.open(index, RespOptions.loopback(0))) {
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
          int number = i;
          tasks.add(() -> write(door, number, acknowledged, busy));
        }
        tasks.add(() -> closeOnceBusy(door, busy));
        Threads.run(tasks);
        assertThat(door.clients()).isZero();
        checkNoThreads();
      }
      // Another door, to the index that the first one has left.
      try (ByteIndex index = ByteIndex.open(fabric, TestDoor.indexOptions());
          RespDoor door = RespDoor.open(index, RespOptions.loopback(0));
          RawClient client = new RawClient(door.address())) {
        long keys = 0;
        for (int i = 0; i < CLIENTS; i++) {
          for (int n = 0; n < acknowledged.get(i); n++) {
            assertThat(client.ask("GET", "k" + i + "-" + n)).isEqualTo("v" + n);
            keys++;
          }
          assertThat(client.ask("ZADD", "set" + i, "0", "new")).isEqualTo(":1");
        }
        String size = client.ask("DBSIZE").substring(1);
        assertThat(Long.parseLong(size)).isBetween(keys + CLIENTS, 2 * keys + 20 * CLIENTS);
      }
    }
  }

  /** Checks that the threads of all doors end, which are closed. */
  private static void checkNoThreads() throws InterruptedException {
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().startsWith("pando-resp")) {
        assertThat(thread.join(Duration.ofSeconds(30))).as(thread.getName()).isTrue();
      }
    }
  }

  private static Void closeOnceBusy(RespDoor door, CountDownLatch busy) throws Exception {
    busy.await();
    door.close();
    return null;
  }

  /** Stores keys until the server ends the connection; counts those that it has answered. */
  private static Void write(
      RespDoor door, int number, AtomicIntegerArray acknowledged, CountDownLatch busy)
      throws IOException {
    try (RawClient client = new RawClient(door.address())) {
      for (int n = 0; ; n += 10) {
        for (int i = n; i < n + 10; i++) {
          client.send(RawClient.request("SET", "k" + number + "-" + i, "v" + i));
        }
        for (int i = n; i < n + 10; i++) {
          if (client.reply().equals("+OK")) {
            acknowledged.incrementAndGet(number);
          }
        }
        client.ask("ZADD", "set" + number, "0", "m" + n);
        if (n == 100) {
          busy.countDown();
        }
      }
    } catch (IOException closed) {
      assertThat(acknowledged.get(number)).isGreaterThan(100);
      return null;
    }
  }

  @Test
  void shouldTurnFurtherClientsAway() throws Exception {
    try (TestDoor door = TestDoor.open(options -> options.withClientsMax(2));
        RawClient one = door.raw();
        RawClient two = door.raw()) {
      assertThat(one.ask("PING")).isEqualTo("+PONG");
      assertThat(two.ask("PING")).isEqualTo("+PONG");
      try (RawClient three = door.raw()) {
        assertThat(three.reply()).isEqualTo("-ERR max number of clients reached");
        assertThat(three.ends()).isTrue();
      }
      assertThat(one.ask("INFO", "stats")).contains("rejected_connections:1");
      assertThat(two.ask("CLIENT", "LIST").lines()).hasSize(2);
    }
  }

  @Test
  void shouldServePipelinesAndScansOfAClientThatOthersWrote() throws Exception {
    try (TestDoor door = TestDoor.open();
        Jedis jedis = door.jedis()) {
      Pipeline pipeline = jedis.pipelined();
      List<Response<String>> responses = new ArrayList<>();
      for (int i = 0; i < 10_000; i++) {
        pipeline.set("k" + i, "v" + i);
        responses.add(pipeline.get("k" + i));
      }
      pipeline.sync();
      for (int i = 0; i < 10_000; i++) {
        assertThat(responses.get(i).get()).isEqualTo("v" + i);
      }
      // A cursor of one connection is known to the others.
      List<String> found = new ArrayList<>();
      String cursor = "0";
      try (Jedis other = door.jedis()) {
        do {
          var page = (found.size() % 2 == 0 ? jedis : other).scan(cursor);
          found.addAll(page.getResult());
          cursor = page.getCursor();
        } while (!cursor.equals("0"));
      }
      assertThat(found).hasSize(10_000).isSorted();
    }
  }
}
