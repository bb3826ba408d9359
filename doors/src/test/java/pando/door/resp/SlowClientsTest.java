package pando.door.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that ask and do not read. */
class SlowClientsTest {
  private static final int VALUE_BYTES = 1 << 20;
  private static final int REQUESTS = 60;

  /** What most clients do with a pipeline, whose replies no socket's buffer holds. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldServePipelinesThatAreSentBeforeAReplyIsRead(boolean endsInput) throws Exception {
    String value = "v".repeat(100_000);
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw();
        RawClient other = door.raw()) {
      for (int i = 0; i <= 100; i++) {
        client.send(RawClient.request("GETSET", "k", i + value));
      }
      assertThat(client.reply()).isEqualTo("nil");
      for (int i = 0; i < 100; i++) {
        assertThat(client.reply()).isEqualTo(i + value);
      }
      assertThat(client.ask("SET", "k", "v".repeat(100))).isEqualTo("+OK");
      byte[] gets = "GET k\r\n".repeat(1000).getBytes(ISO_8859_1);
      for (int i = 0; i < 200; i++) {
        client.send(gets);
      }
      if (endsInput) {
        client.socket().shutdownOutput();
      }
      assertThat(other.ask("PING")).isEqualTo("+PONG");
      for (int i = 0; i < 200_000; i++) {
        assertThat(client.reply()).hasSize(100);
      }
      assertThat(endsInput ? client.ends() : client.ask("PING").equals("+PONG")).isTrue();
      assertThat(other.ask("PING")).isEqualTo("+PONG");
      assertThat(door.door().waitingBytes()).isZero();
    }
  }

  /** Requests that are larger than their replies do not wait behind replies. */
  @Test
  void shouldRunLargeRequestsWhoseRepliesAreNotRead() throws Exception {
    String value = "v".repeat(VALUE_BYTES);
    try (TestDoor door =
            TestDoor.open(options -> options.withWaitingBytesMax(RespOptions.WAITING_BYTES_MIN));
        RawClient slow = new RawClient(door.address(), 4096)) {
      for (int i = 0; i < 8; i++) {
        slow.send(RawClient.request("SET", "k" + i, value));
        slow.send(RawClient.request("GET", "k" + i));
      }
      for (int i = 0; i < 96; i++) {
        slow.send(RawClient.request("SET", "last", i + value));
      }
      for (int i = 0; i < 8; i++) {
        assertThat(slow.reply()).isEqualTo("+OK");
        assertThat(slow.reply()).isEqualTo(value);
      }
      for (int i = 0; i < 96; i++) {
        assertThat(slow.reply()).isEqualTo("+OK");
      }
      assertThat(slow.ask("GET", "last")).isEqualTo("95" + value);
      assertThat(door.door().waitingBytes()).isZero();
    }
  }

  /** One that holds what it may is ended, and others are served meanwhile. */
  @Test
  void shouldEndConnectionsThatTakeMoreThanTheirShare() throws Exception {
    long share = RespOptions.WAITING_BYTES_MIN / 2;
    try (TestDoor door =
            TestDoor.open(options -> options.withWaitingBytesMax(RespOptions.WAITING_BYTES_MIN));
        RawClient other = door.raw()) {
      try (RawClient slow = new RawClient(door.address(), 4096);
          RawClient gone = new RawClient(door.address(), 4096)) {
        assertThat(other.ask("SET", "large", "v".repeat(VALUE_BYTES))).isEqualTo("+OK");
        byte[] gets = "GET large\r\n".repeat(10_000).getBytes(ISO_8859_1);
        for (int i = 0; i < 20; i++) {
          slow.send(gets); // twice as many as are held without being run
          gone.send(gets);
        }
        awaitWaiting(door, bytes -> bytes > share);
        assertThat(other.ask("GET", "large")).hasSize(VALUE_BYTES);
        int whole = 0;
        String reply = slow.reply();
        for (; reply.length() == VALUE_BYTES; reply = slow.reply()) {
          whole++;
        }
        assertThat(whole).isBetween(8, 40);
        assertThat(reply)
            .startsWith("-ERR disconnected: the replies that this client has not read take too");
        assertThat(slow.ends()).isTrue();
      }
      awaitWaiting(door, bytes -> bytes == 0);
      assertThat(other.ask("PING")).isEqualTo("+PONG");
    }
  }

  /** To take memory outside of the heap, and to give it back, stops all threads for a moment. */
  @Test
  void shouldTakeLittleMemoryOutsideOfTheHeapForLargeReplies() throws Exception {
    int bytes = 7 << 20;
    String value = "0123456789abcdef".repeat(bytes / 16);
    RawClient[] slow = new RawClient[6];
    ByteBufAllocatorMetric memory =
        ((ByteBufAllocatorMetricProvider) ByteBufAllocator.DEFAULT).metric();
    try (TestDoor door = TestDoor.open(options -> options.withWaitingBytesMax(1 << 30));
        RawClient other = door.raw()) {
      assertThat(other.ask("SET", "large", value)).isEqualTo("+OK");
      for (int i = 0; i < slow.length; i++) {
        slow[i] = new RawClient(door.address(), 4096);
        slow[i].send("GET large\r\nPING\r\n");
      }
      awaitWaiting(door, waiting -> waiting >= slow.length * (long) bytes / 3);
      long used = memory.usedDirectMemory();
      assertThat(used).as("bytes outside of the heap").isLessThan(slow.length * (long) bytes / 2);
      for (RawClient each : slow) {
        assertThat(each.reply()).isEqualTo(value);
        assertThat(each.reply()).isEqualTo("+PONG");
        each.close();
      }
      awaitWaiting(door, waiting -> waiting == 0);
    }
  }

  private static void awaitWaiting(TestDoor door, LongPredicate bytes) throws InterruptedException {
    for (int i = 0; !bytes.test(door.door().waitingBytes()); i++) {
      assertThat(i).as("bytes=%s", door.door().waitingBytes()).isLessThan(1_000);
      Thread.sleep(10);
    }
  }

  @Test
  void shouldLeaveAsMuchToOthersAsOneHas() {
    MemoryBudget budget = new MemoryBudget(1000);
    long[] had = new long[9];
    for (int i = 0; i < had.length; i++) {
      while (budget.tryTakeShare(had[i], 1)) {
        had[i]++;
      }
      assertThat(had[i]).isBetween(1000L >> (i + 1), (1000L >> (i + 1)) + 1);
    }
    assertThat(budget.bytes()).isEqualTo(LongStream.of(had).sum()).isLessThan(1000);
  }

  @Tag("campaign")
  @Test
  void shouldRunNothingMoreForClientsThatDoNotRead() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient other = door.raw();
        RawClient slow = new RawClient(door.address(), 16 << 10)) {
      assertThat(other.ask("SET", "large", "v".repeat(VALUE_BYTES))).isEqualTo("+OK");
      for (int i = 0; i < REQUESTS; i++) {
        slow.send(RawClient.request("GET", "large"));
        if (i % 10 == 0) {
          assertThat(other.ask("PING")).isEqualTo("+PONG");
          assertThat(door.door().waitingBytes()).isLessThan(4L * VALUE_BYTES);
        }
      }
      for (int i = 0; i < REQUESTS; i++) {
        assertThat(slow.reply()).hasSize(VALUE_BYTES);
      }
      assertThat(slow.ask("PING")).isEqualTo("+PONG");
      assertThat(door.door().waitingBytes()).isZero();
    }
  }

  @Tag("campaign")
  @Test
  void shouldBoundWhatAllOfThemTake() throws Exception {
    int bytes = 6 << 20;
    RawClient[] slow = new RawClient[32];
    try (TestDoor door =
            TestDoor.open(options -> options.withWaitingBytesMax(RespOptions.WAITING_BYTES_MIN));
        RawClient other = door.raw()) {
      assertThat(other.ask("SET", "large", "v".repeat(bytes))).isEqualTo("+OK");
      for (int i = 0; i < slow.length; i++) {
        slow[i] = new RawClient(door.address(), 4096);
        slow[i].send(RawClient.request("GET", "large"));
        assertThat(other.ask("PING")).isEqualTo("+PONG");
      }
      int whole = 0;
      for (RawClient each : slow) {
        whole += isWhole(each, bytes) ? 1 : 0;
        each.close();
      }
      assertThat(whole).isBetween(1, slow.length - 1);
      assertThat(other.ask("PING")).isEqualTo("+PONG");
    }
  }

  private static boolean isWhole(RawClient client, int bytes) throws IOException {
    try {
      return client.reply().length() == bytes;
    } catch (SocketTimeoutException e) {
      throw e;
    } catch (IOException ended) {
      return false;
    }
  }

  @Test
  void shouldRefuseRepliesOfTooManyBytes() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      assertThat(client.ask("SET", "large", "v".repeat(6 << 20))).isEqualTo("+OK");
      assertThat(client.ask("MGET", "large", "large", "large", "large", "large", "large"))
          .isEqualTo("-ERR the reply is too large: maximum=33554432 bytes");
      assertThat(client.ask("STRLEN", "large")).isEqualTo(":" + (6 << 20));
    }
  }
}
