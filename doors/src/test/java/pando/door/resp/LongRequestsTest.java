package pando.door.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import pando.door.resp.TestDoor.Form;
import pando.fabric.Fabric;
import pando.index.Pools;
import pando.index.bytes.ByteIndex;

/**
 * Requests that take long, on a door of one event loop, which serves other connections meanwhile.
 */
class LongRequestsTest {
  private static final int KEYS = 12_000;
  private static final int AT_ONCE = 1000;
  private static final long SPIN_NANOS = RespConnection.NANOS_AT_ONCE / 8;

  /** It would take a minute and more. */
  @Test
  void shouldServeOthersDuringAMatchWithoutEnd() throws Exception {
    try (TestDoor door = open(Form.OWN);
        RawClient other = door.raw()) {
      String letters = "a".repeat(20_000);
      for (int i = 0; i < 300; i++) {
        assertThat(other.ask("SET", letters + i, "v")).isEqualTo("+OK");
      }
      String pattern = ("*" + "a".repeat(50) + "?").repeat(300) + "*b";
      String slow = "*" + "a".repeat(10_000) + "b*";
      for (String each : List.of(pattern, slow)) {
        try (RawClient client = door.raw()) {
          client.send(RawClient.request("PING"));
          client.send(RawClient.request("KEYS", each));
          client.send(RawClient.request("PING"));
          assertThat(client.reply()).isEqualTo("+PONG");
          for (int i = 0; i < 100; i++) {
            assertThat(other.ask("GET", letters + i)).isEqualTo("v");
          }
        }
      }
      assertThat(other.ask("KEYS", letters + "1")).isEqualTo("[" + letters + "1]");
    }
  }

  /** A door that closes ends it, and tells the client. */
  @Test
  void shouldCloseDuringAMatchWithoutEnd() throws Exception {
    TestDoor door = open(Form.OWN);
    RawClient client = door.raw();
    try (client) {
      for (int i = 0; i < 300; i++) {
        assertThat(client.ask("SET", "a".repeat(20_000) + i, "v")).isEqualTo("+OK");
      }
      client.send(RawClient.request("KEYS", "*" + "a".repeat(10_000) + "b*"));
      client.send(RawClient.request("PING"));
      try (RawClient other = door.raw()) {
        assertThat(other.ask("PING")).isEqualTo("+PONG");
      }
      door.close();
      assertThat(client.reply())
          .isEqualTo("-ERR the door closes, and the request was not carried out to its end");
      assertThat(client.ends()).isTrue();
    }
  }

  /** No event loop visits more than some thousand entries for a request. */
  @Test
  void shouldVisitFewEntriesOnEventLoops() throws Exception {
    onOneEventLoop((strings, _, client, _) -> {
      fill(client, "k", KEYS);
      assertVisits(strings, client, ":" + KEYS, "DBSIZE");
      assertVisits(strings, client, "[k1119]", "KEYS", "*k1119");
      assertVisits(
          strings,
          client,
          "-ERR the reply would have too many entries: maximum=10000",
          "PANDO.RANGE",
          "-",
          "+");
    });
  }

  /** A test of a door with one event loop, which two clients share. */
  private interface OneEventLoop {
    void run(HookedStrings strings, RespDoor door, RawClient client, RawClient other)
        throws Exception;
  }

  private static void onOneEventLoop(OneEventLoop test) throws Exception {
    try (Fabric fabric = Pools.open(2, 128 << 20, 1);
        ByteIndex index = ByteIndex.create(fabric, TestDoor.indexOptions())) {
      HookedStrings strings = new HookedStrings(index, index.keyBytesMax());
      try (RespDoor door = RespDoor.openShared(strings, RespOptions.loopback(0).withEventLoops(1));
          RawClient client = new RawClient(door.address());
          RawClient other = new RawClient(door.address())) {
        test.run(strings, door, client, other);
      }
    }
  }

  private static void assertVisits(
      HookedStrings strings, RawClient client, String reply, String... request) throws IOException {
    int[] visits = {0};
    strings.before =
        name -> {
          boolean isEventLoop = Thread.currentThread().getName().startsWith("pando-resp");
          visits[0] += isEventLoop && name.equals("visit") ? 1 : 0;
        };
    assertThat(client.ask(request)).isEqualTo(reply);
    strings.unhook();
    assertThat(visits[0]).as(String.join(" ", request)).isBetween(1, 5000);
  }

  /** Keys are removed while others are served. */
  @Test
  void shouldServeOthersWhileKeysAreRemoved() throws Exception {
    onOneEventLoop((strings, _, client, other) -> {
      fill(client, "k", 10);
      CountDownLatch served = new CountDownLatch(1);
      strings.before =
          name -> {
            if (name.equals("remove")) {
              await(served);
            }
          };
      client.send(RawClient.request("FLUSHDB"));
      client.send(RawClient.request("SET", "behind", "1"));
      assertThat(other.ask("PING")).isEqualTo("+PONG");
      assertThat(other.ask("GET", "behind")).isEqualTo("nil");
      served.countDown();
      assertThat(client.reply()).isEqualTo("+OK");
      assertThat(client.reply()).isEqualTo("+OK");
      assertThat(client.ask("DBSIZE")).isEqualTo(":1");
    });
  }

  /** Many requests that are sent together take long, too. */
  @Test
  void shouldServeOthersDuringAPipeline() throws Exception {
    onOneEventLoop((strings, door, client, other) -> {
      CountDownLatch begun = new CountDownLatch(1);
      CountDownLatch sent = new CountDownLatch(1);
      CountDownLatch served = new CountDownLatch(1);
      AtomicInteger lookups = new AtomicInteger();
      strings.before =
          name -> {
            begun.countDown();
            await(lookups.incrementAndGet() < 100 ? sent : served);
            spin();
          };
      client.send("GET k\r\n".repeat(200));
      await(begun);
      other.send("PING\r\n");
      sent.countDown();
      assertThat(other.reply()).isEqualTo("+PONG");
      served.countDown();
      for (int i = 0; i < 200; i++) {
        assertThat(client.reply()).isEqualTo("nil");
      }
      assertThat(client.ask("PING")).isEqualTo("+PONG");
      assertThat(door.waitingBytes()).isZero();
    });
  }

  /** What is read while requests wait for their turn does not end their batch. */
  @Test
  void shouldCountABatchOnceThatHasSeveralTurns() throws Exception {
    Door door = readAtOnce(_ -> spin(), "GET k\r\n".repeat(32), "PING\r\n");
    assertThat(door.served()).isEqualTo(33);
    assertThat(door.batches().quantile(0)).isGreaterThanOrEqualTo(32 * SPIN_NANOS);
  }

  /** TLS brings several reads before the event loop finds that the connection is closed. */
  @Test
  void shouldRunNothingBehindARequestThatFailsWithAnError() throws Exception {
    Consumer<String> fails =
        name -> {
          throw new AssertionError("planted");
        };
    Door door = readAtOnce(fails, "PING\r\nGET k\r\nPING\r\n", "PING\r\n");
    assertThat(door.served()).isEqualTo(1);
    assertThat(door.waiting().bytes()).isZero();
    assertThat(door.clients().count()).isZero();
  }

  /** Has a connection read requests in pieces, behind one another, before its loop does more. */
  private static Door readAtOnce(Consumer<String> before, String... pieces) throws Exception {
    try (Fabric fabric = Pools.open(2, 128 << 20, 1);
        ByteIndex index = ByteIndex.create(fabric, TestDoor.indexOptions())) {
      HookedStrings strings = new HookedStrings(index, index.keyBytesMax());
      Door door = new Door(new SharedKeyspace(strings), RespOptions.loopback(0));
      InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
      RespClient client = new RespClient(door.clients().newId(), address, address, false, () -> {});
      assertThat(door.clients().add(client)).isTrue();
      try (RespLane lane = RespLane.ofEventLoop(door)) {
        strings.before = before;
        ChannelHandler closesLater =
            new ChannelOutboundHandlerAdapter() {
              @Override
              public void close(ChannelHandlerContext its, ChannelPromise promise) {
                its.executor()
                    .execute(() -> {
                      ChannelFuture _ = its.close(promise);
                    });
              }
            };
        EmbeddedChannel channel =
            new EmbeddedChannel(closesLater, new RespConnection(lane, client));
        Object[] reads =
            Stream.of(pieces).map(piece -> Unpooled.copiedBuffer(piece, ISO_8859_1)).toArray();
        channel.writeInbound(reads);
        strings.unhook();
        channel.finishAndReleaseAll();
      }
      door.background().close();
      return door;
    }
  }

  /** Or its other requests would wait for good, and its replies could come to others. */
  @Test
  void shouldEndAConnectionThatFailsInALaterTurn() throws Exception {
    onOneEventLoop((strings, door, client, other) -> {
      AtomicInteger lookups = new AtomicInteger();
      strings.before =
          name -> {
            if (lookups.incrementAndGet() == 100) {
              throw new AssertionError("planted");
            }
            spin();
          };
      client.send("GET k\r\n".repeat(200));
      assertThat(client.ends()).isTrue();
      strings.unhook();
      other.send("*x\r\n");
      assertThat(other.reply()).startsWith("-ERR Protocol error");
      assertThat(door.waitingBytes()).isZero();
    });
  }

  /** Takes so long that a few requests are a turn. */
  private static void spin() {
    long end = System.nanoTime() + SPIN_NANOS;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(RawClient.TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Whatever is run in the background answers as on the event loop. */
  @Test
  void shouldAnswerAlikeInTheBackground() throws Exception {
    try (TestDoor door = open(Form.OWN);
        RawClient client = door.raw();
        RawClient other = door.raw()) {
      fill(client, "key:", KEYS);
      assertThat(client.ask("DEL", "set")).isEqualTo(":0");
      addMembers(client, "set", KEYS);
      assertThat(client.ask("ZCARD", "set")).isEqualTo(":" + KEYS);
      assertThat(client.ask("ZLEXCOUNT", "set", "(m00000", "[m09999")).isEqualTo(":9999");
      assertThat(client.ask("ZRANGEBYLEX", "set", "-", "+", "LIMIT", "11998", "5"))
          .isEqualTo("[m11998, m11999]");
      assertThat(client.ask("ZREMRANGEBYLEX", "set", "[m00010", "[m09999")).isEqualTo(":9990");
      assertThat(other.ask("ZCARD", "set")).isEqualTo(":2010");
      assertThat(client.ask("SET", "set", "a string now")).isEqualTo("+OK");
      addMembers(client, "set2", KEYS);
      assertThat(client.ask("DEL", "set", "set2", "key:1")).isEqualTo(":3");
      assertThat(client.ask("DBSIZE")).isEqualTo(":" + (KEYS - 1));
      String[] all = keys("EXISTS", "key:", 3 * AT_ONCE);
      assertThat(client.ask(all)).isEqualTo(":" + (3 * AT_ONCE - 1));
      all[0] = "DEL";
      byte[] pipeline = concat(RawClient.request(all), RawClient.request("DBSIZE"));
      client.send(concat(pipeline, RawClient.request("FLUSHDB")));
      client.send(RawClient.request("DBSIZE"));
      client.socket().shutdownOutput();
      assertThat(client.reply()).isEqualTo(":" + (3 * AT_ONCE - 1));
      assertThat(client.reply()).isEqualTo(":" + (KEYS - 3 * AT_ONCE));
      assertThat(client.reply()).isEqualTo("+OK");
      assertThat(client.reply()).isEqualTo(":0");
      assertThat(client.ends()).isTrue();
      assertThat(door.door().waitingBytes()).isZero();
    }
  }

  /** A request that was run on an event loop to its end is not run again. */
  @Test
  void shouldRunOnceWhatTakesJustAsMuchAsAnEventLoopHas() throws Exception {
    try (TestDoor door = open(Form.OWN);
        RawClient client = door.raw()) {
      addMembers(client, "set", 5000);
      int from = 0;
      for (int count = 1021; count <= 1024; count++) {
        StringBuilder line = new StringBuilder("ZREM set");
        IntStream.range(from, from + count).forEach(each -> line.append(" m%05d".formatted(each)));
        assertThat(client.ask(line.toString().split(" ", -1))).isEqualTo(":" + count);
        from += count;
      }
    }
  }

  /** Requests behind one that takes long wait where they are sent. */
  @Test
  void shouldHoldFewRequestsBehindALongOne() throws Exception {
    try (TestDoor door = open(Form.OWN);
        RawClient client = door.raw()) {
      fill(client, "k", KEYS);
      String value = "v".repeat(100_000);
      client.send(RawClient.request("KEYS", "*k1119"));
      for (int i = 0; i < 200; i++) {
        client.send(RawClient.request("SET", "large", value + i));
      }
      assertThat(client.reply()).isEqualTo("[k1119]");
      for (int i = 0; i < 200; i++) {
        assertThat(client.reply()).isEqualTo("+OK");
      }
      assertThat(client.ask("GET", "large")).isEqualTo(value + 199);
    }
  }

  private static TestDoor open(Form form) throws IOException {
    return TestDoor.open(form, options -> options.withEventLoops(1));
  }

  private static void fill(RawClient client, String prefix, int count) throws IOException {
    for (int i = 0; i < count; i += AT_ONCE) {
      int from = i;
      StringBuilder lines = new StringBuilder();
      IntStream.range(from, Math.min(from + AT_ONCE, count))
          .forEach(each -> lines.append("SET " + prefix + each + " v\r\n"));
      client.send(lines.toString().getBytes(ISO_8859_1));
      for (int each = from; each < Math.min(from + AT_ONCE, count); each++) {
        assertThat(client.reply()).isEqualTo("+OK");
      }
    }
  }

  private static void addMembers(RawClient client, String set, int count) throws IOException {
    for (int i = 0; i < count; i += AT_ONCE) {
      StringBuilder line = new StringBuilder("ZADD " + set);
      IntStream.range(i, i + AT_ONCE).forEach(each -> line.append(" 0 m%05d".formatted(each)));
      assertThat(client.ask(line.toString().split(" ", -1))).isEqualTo(":" + AT_ONCE);
    }
  }

  private static String[] keys(String command, String prefix, int count) {
    String[] all = new String[count + 1];
    all[0] = command;
    for (int i = 0; i < count; i++) {
      all[i + 1] = prefix + i;
    }
    return all;
  }

  private static byte[] concat(byte[] one, byte[] other) {
    byte[] both = java.util.Arrays.copyOf(one, one.length + other.length);
    System.arraycopy(other, 0, both, one.length, other.length);
    return both;
  }
}
