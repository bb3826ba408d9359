package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import pando.door.resp.TestDoor.Form;
import pando.fabric.FencedException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.bytes.ByteSession;

/** Doors to byte strings that others change at the same time. */
class SharedDoorsTest {
  private static final int CLIENTS = 6;
  private static final int ROUNDS = Seeds.count(300, 600, 20_000);

  /** Two doors to the same byte strings; closing them leaves those open. */
  private record TwoDoors(TestDoor one, RespDoor other) implements AutoCloseable {
    static TwoDoors open() throws IOException {
      TestDoor one = TestDoor.open(Form.SHARED);
      try {
        return new TwoDoors(
            one, RespDoor.openShared(one.index(), RespOptions.loopback(0).withEventLoops(2)));
      } catch (Throwable e) {
        one.close();
        throw e;
      }
    }

    /** Connects to the one or the other. */
    RawClient client(int number) throws IOException {
      return number % 2 == 0 ? one.raw() : new RawClient(other.address());
    }

    @Override
    public void close() {
      try (one) {
        other.close();
      }
    }
  }

  /** What a client does in a round. */
  @FunctionalInterface
  private interface Round {
    void run(RawClient client, String token) throws IOException;
  }

  private static void run(TwoDoors doors, Round round) throws Exception {
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int number = i;
      tasks.add(() -> {
        try (RawClient client = doors.client(number)) {
          for (int n = 0; n < ROUNDS; n++) {
            round.run(client, number + "-" + n);
          }
          return null;
        }
      });
    }
    Threads.run(tasks);
  }

  /** Maps with names may share the byte strings. */
  @Test
  void shouldNeitherShowNorChangeKeysOfNamedMaps() throws IOException {
    String reserved = "\u00ff".repeat(9);
    try (TestDoor door = TestDoor.open(Form.SHARED);
        RawClient client = door.raw();
        ByteSession session = door.index().session()) {
      MemorySegment key = MemorySegment.ofArray((reserved + "x").getBytes(ISO_8859_1));
      session.store(key, key);
      assertThat(client.ask("SET", "\u00ff".repeat(8), "last")).isEqualTo("+OK");
      for (String given : List.of(reserved, reserved + "x")) {
        assertThat(client.ask("SET", given, "1")).startsWith("-ERR").contains("named maps");
        assertThat(client.ask("GET", given)).startsWith("-ERR");
        assertThat(client.ask("DEL", "a", given)).startsWith("-ERR");
        assertThat(client.ask("PANDO.CEILING", given)).startsWith("-ERR");
      }
      assertThat(client.ask("DBSIZE")).isEqualTo(":1");
      assertThat(client.ask("PANDO.CEILING", "\u00ff".repeat(8) + "a")).isEqualTo("nil");
      assertThat(client.ask("PANDO.RANGE", "-", "+")).contains("last").doesNotContain("x");
      assertThat(client.ask("PANDO.RANGE", "+", "-", "REV")).contains("last").doesNotContain("x");
      assertThat(client.ask("KEYS", "*")).doesNotContain("x");
      assertThat(client.ask("KEYS", reserved + "*")).isEqualTo("[]");
      assertThat(client.ask("SCAN", "0")).doesNotContain("x");
      assertThat(client.ask("RANDOMKEY")).isEqualTo("\u00ff".repeat(8));
      assertThat(client.ask("FLUSHDB")).isEqualTo("+OK");
      assertThat(client.ask("DBSIZE")).isEqualTo(":0");
      assertThat(session.get(key)).isTrue();
    }
  }

  @Test
  void shouldCountAndAppendFromBothDoorsExactly() throws Exception {
    try (TwoDoors doors = TwoDoors.open();
        RawClient reader = doors.client(0);
        RawClient other = doors.client(1)) {
      run(
          doors,
          (client, token) -> {
            assertThat(client.ask("INCR", "counter")).startsWith(":");
            assertThat(client.ask("DECRBY", "down", "3")).startsWith(":-");
            assertThat(client.ask("APPEND", "text", token + ",")).startsWith(":");
            boolean done = false;
            while (!done) {
              String seen = client.ask("GET", "compared");
              String next = seen.equals("nil") ? "1" : Integer.toString(Integer.parseInt(seen) + 1);
              done =
                  client
                      .ask(
                          seen.equals("nil")
                              ? new String[] {"SETNX", "compared", next}
                              : new String[] {"PANDO.CAS", "compared", seen, next})
                      .equals(":1");
            }
          });
      int all = CLIENTS * ROUNDS;
      assertThat(reader.ask("MGET", "counter", "down", "compared"))
          .isEqualTo("[%s, %s, %s]".formatted(all, -3 * all, all));
      List<String> appended = List.of(other.ask("GET", "text").split(",", -1));
      assertThat(appended).hasSize(all + 1).doesNotHaveDuplicates();
      assertThat(reader.ask("DBSIZE")).isEqualTo(":4");
      assertThat(other.ask("DBSIZE")).isEqualTo(":4");
    }
  }

  @Test
  void shouldHaveOneWinner() throws Exception {
    AtomicIntegerArray winners = new AtomicIntegerArray(ROUNDS);
    AtomicInteger taken = new AtomicInteger();
    try (TwoDoors doors = TwoDoors.open();
        RawClient reader = doors.client(1)) {
      run(
          doors,
          (client, token) -> {
            int n = Integer.parseInt(token.substring(token.indexOf('-') + 1));
            String reply =
                n % 2 == 0
                    ? client.ask("SETNX", "k" + n, token)
                    : client.ask("SET", "k" + n, token, "NX");
            assertThat(reply).isIn(":0", ":1", "nil", "+OK");
            if (reply.equals(":1") || reply.equals("+OK")) {
              winners.incrementAndGet(n);
            }
          });
      for (int n = 0; n < ROUNDS; n++) {
        assertThat(winners.get(n)).isEqualTo(1);
      }
      assertThat(reader.ask("DBSIZE")).isEqualTo(":" + ROUNDS);
      run(
          doors,
          (client, token) -> {
            String key = "k" + token.substring(token.indexOf('-') + 1);
            if (!client.ask("GETDEL", key).equals("nil")) {
              taken.incrementAndGet();
            }
          });
      assertThat(taken).hasValue(ROUNDS);
      assertThat(reader.ask("DBSIZE")).isEqualTo(":0");
    }
  }

  /** Each string is replaced, and so returned, once; the last one is there. */
  @Test
  void shouldExchangeEachStringOnce() throws Exception {
    Set<String> returned = ConcurrentHashMap.newKeySet();
    try (TwoDoors doors = TwoDoors.open();
        RawClient reader = doors.client(0)) {
      run(
          doors,
          (client, token) -> {
            String before =
                token.endsWith("1")
                    ? client.ask("SET", "chain", token, "GET")
                    : client.ask("GETSET", "chain", token);
            assertThat(returned.add(before)).as(before).isTrue();
          });
      assertThat(returned.add(reader.ask("GET", "chain"))).isTrue();
      assertThat(returned).hasSize(CLIENTS * ROUNDS + 1).contains("nil");
    }
  }

  @Test
  void shouldStoreKeysAndStringsAsTheyAre() throws Exception {
    try (TestDoor door = TestDoor.open(Form.SHARED);
        RawClient client = door.raw();
        ByteSession session = door.index().session()) {
      assertThat(client.ask("MSET", "", "nothing", "b", "\1b", "n", "41", "e", ""))
          .isEqualTo("+OK");
      assertThat(client.ask("INCR", "n")).isEqualTo(":42");
      List<String> all = new ArrayList<>();
      session.scan(bytes(""), null, 10, (key, value) -> all.add(text(key) + "=" + text(value)));
      assertThat(all).isEqualTo(List.of("=nothing", "b=\1b", "e=", "n=42"));
      session.put(bytes("a"), bytes("\1")); // what a set begins with, where there are sets
      session.put(bytes("\377"), bytes(""));
      session.remove(bytes("b"));
      assertThat(client.ask("GET", "a")).isEqualTo("\1");
      assertThat(client.ask("TYPE", "a")).isEqualTo("+string");
      assertThat(client.ask("GET", "\377")).isEmpty();
      assertThat(client.ask("PANDO.RANGE", "-", "+", "KEYS")).isEqualTo("[, a, e, n, \377]");
      assertThat(client.ask("DBSIZE")).isEqualTo(":5");
      List<String> found = new ArrayList<>();
      String cursor = "0";
      do {
        String page = client.ask("SCAN", cursor, "COUNT", "1");
        cursor = page.substring(1, page.indexOf(','));
        found.add(page.substring(page.indexOf(',') + 3, page.length() - 2));
      } while (!cursor.equals("0") && found.size() < 10);
      assertThat(found).isEqualTo(List.of("", "a", "e", "n", "\377", ""));
    }
  }

  private static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(ISO_8859_1));
  }

  private static String text(MemorySegment bytes) {
    return new String(bytes.toArray(JAVA_BYTE), ISO_8859_1);
  }

  @Test
  void shouldRemoveAllThatItFinds() throws Exception {
    try (TwoDoors doors = TwoDoors.open();
        RawClient one = doors.client(0);
        RawClient other = doors.client(1)) {
      for (int i = 0; i < 2500; i++) {
        one.send(RawClient.request("SET", "k" + i, "v"));
      }
      for (int i = 0; i < 2500; i++) {
        assertThat(one.reply()).isEqualTo("+OK");
      }
      assertThat(other.ask("DBSIZE")).isEqualTo(":2500");
      assertThat(other.ask("FLUSHDB")).isEqualTo("+OK");
      assertThat(one.ask("DBSIZE")).isEqualTo(":0");
    }
  }

  static Stream<Arguments> failures() {
    return Stream.of(
        arguments(failure(() -> new StalledException("stalled")), "-ERR stalled"),
        arguments(failure(() -> new FencedException("fenced")), "-ERR fenced"),
        arguments(failure(() -> new MemoryServerLostException("lost")), "-ERR lost"),
        arguments(failure(() -> new PoolFullException("full")), "-OOM the pool is full: full"),
        arguments(
            failure(() -> new IllegalStateException("it is closed")),
            "-ERR the request failed: java.lang.IllegalStateException: it is closed"),
        arguments(
            failure(() -> new UnknownOutcomeException("cut")),
            "-ERR failed, and may have changed a key: cut"));
  }

  private static Supplier<RuntimeException> failure(Supplier<RuntimeException> failure) {
    return failure;
  }

  /** The answer says what happened, and the connection goes on with the requests behind. */
  @ParameterizedTest
  @MethodSource("failures")
  void shouldAnswerFailuresWithAnError(Supplier<RuntimeException> failure, String error)
      throws Exception {
    try (TestDoor door = TestDoor.open(Form.SHARED)) {
      HookedStrings strings = new HookedStrings(door.index(), door.index().keyBytesMax());
      try (RespDoor failing = RespDoor.openShared(strings, RespOptions.loopback(0));
          RawClient client = new RawClient(failing.address())) {
        strings.before =
            _ -> {
              throw failure.get();
            };
        List<String[]> requests =
            Stream.of(
                    "GET k",
                    "SET k v",
                    "SETNX k v",
                    "MSET a 1 k 2",
                    "GETSET k v",
                    "GETDEL k",
                    "INCR k",
                    "APPEND k v",
                    "DEL a k",
                    "EXISTS k",
                    "TYPE k",
                    "DBSIZE",
                    "FLUSHDB",
                    "KEYS *",
                    "SCAN 0",
                    "PANDO.RANGE - +",
                    "PANDO.FLOOR k",
                    "PANDO.CEILING k",
                    "PANDO.CAS k a b",
                    "STRLEN k",
                    "MGET a k")
                .map(line -> line.split(" ", -1))
                .toList();
        checkAll(client, requests, error); // no session opens
        strings.unhook();
        assertThat(client.ask("SET", "k", "7")).isEqualTo("+OK");
        AtomicLong operations = new AtomicLong();
        strings.before =
            name -> {
              operations.incrementAndGet();
              throw failure.get();
            };
        checkAll(client, requests, error);
        assertThat(operations).hasValue(requests.size());
        strings.unhook();
        assertThat(client.ask("INCR", "k")).isEqualTo(":8");
        strings.behind =
            _ -> {
              throw failure.get();
            };
        assertThat(client.ask("SET", "k", "9")).isEqualTo(error);
        strings.unhook();
        assertThat(client.ask("INCR", "k")).isEqualTo(":10");
      }
    }
  }

  private static void checkAll(RawClient client, List<String[]> requests, String error)
      throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (String[] request : requests) {
      all.writeBytes(RawClient.request(request));
      all.writeBytes(RawClient.request("PING"));
    }
    client.send(all.toByteArray());
    for (String[] request : requests) {
      assertThat(client.reply()).as(String.join(" ", request)).isEqualTo(error);
      assertThat(client.reply()).isEqualTo("+PONG");
    }
  }

  /** INCR reads, and stores what it has compared: a failure in between changes nothing. */
  @Test
  void shouldTellWhereTheSecondStepFails() throws Exception {
    try (TestDoor door = TestDoor.open(Form.SHARED)) {
      HookedStrings strings = new HookedStrings(door.index(), door.index().keyBytesMax());
      try (RespDoor failing = RespDoor.openShared(strings, RespOptions.loopback(0));
          RawClient client = new RawClient(failing.address())) {
        assertThat(client.ask("SET", "n", "1")).isEqualTo("+OK");
        strings.before = name -> fail(name, new StalledException("stalled"));
        assertThat(client.ask("INCR", "n")).isEqualTo("-ERR stalled");
        assertThat(client.ask("APPEND", "n", "2")).isEqualTo("-ERR stalled");
        assertThat(client.ask("GET", "n")).isEqualTo("1");
        strings.unhook();
        strings.behind = name -> fail(name, new UnknownOutcomeException("cut"));
        assertThat(client.ask("INCR", "n")).startsWith("-ERR failed, and may have changed a key");
        assertThat(client.ask("GET", "n")).isEqualTo("2");
      }
    }
  }

  private static void fail(String operation, PandoException failure) {
    if (operation.equals("replace")) {
      throw failure;
    }
  }

  @Test
  void shouldEndBehindTheRequestThatRuns() throws Exception {
    CountDownLatch runs = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    AtomicInteger operations = new AtomicInteger();
    try (TestDoor door = TestDoor.open(Form.SHARED)) {
      HookedStrings strings = new HookedStrings(door.index(), door.index().keyBytesMax());
      try (RespDoor closed = RespDoor.openShared(strings, RespOptions.loopback(0));
          RawClient client = new RawClient(closed.address())) {
        assertThat(client.ask("PING")).isEqualTo("+PONG");
        strings.before =
            name -> {
              if (!name.equals("session")) {
                operations.incrementAndGet();
                runs.countDown();
                await(released);
              }
            };
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < 100; i++) {
          all.writeBytes(RawClient.request("SET", "k" + i, "v"));
        }
        client.send(all.toByteArray());
        runs.await();
        Thread closer = Thread.ofPlatform().start(closed::close);
        while (!closed.isClosed()) {
          Thread.onSpinWait();
        }
        released.countDown();
        assertThat(client.reply()).isEqualTo("+OK");
        assertThat(client.ends()).isTrue();
        closer.join();
        assertThat(operations).hasValue(1);
      }
    }
  }

  @Test
  void shouldStoreNoneWhereOneOfSeveralNewStringsFails() throws Exception {
    AtomicInteger stored = new AtomicInteger();
    try (TestDoor door = TestDoor.open(Form.SHARED)) {
      HookedStrings strings = new HookedStrings(door.index(), door.index().keyBytesMax());
      try (RespDoor hooked = RespDoor.openShared(strings, RespOptions.loopback(0));
          RawClient client = new RawClient(hooked.address())) {
        strings.before =
            name -> {
              if (name.equals("putIfAbsent") && stored.incrementAndGet() == 3) {
                throw new PoolFullException("full by a test");
              }
            };
        assertThat(client.ask("MSETNX", "a", "1", "b", "2", "c", "3")).startsWith("-OOM");
        strings.unhook();
        assertThat(client.ask("EXISTS", "a", "b", "c")).isEqualTo(":0");
        assertThat(client.ask("MSETNX", "a", "1", "b", "2", "c", "3")).isEqualTo(":1");
      }
    }
  }

  /** A key that goes while it is renamed leaves the name what it had. */
  @Test
  void shouldLeaveANameWhatItHadWhereTheRenamedKeyGoes() throws Exception {
    AtomicInteger removals = new AtomicInteger();
    try (TestDoor door = TestDoor.open(Form.SHARED);
        RawClient other = door.raw()) {
      HookedStrings strings = new HookedStrings(door.index(), door.index().keyBytesMax());
      try (RespDoor hooked = RespDoor.openShared(strings, RespOptions.loopback(0));
          RawClient client = new RawClient(hooked.address())) {
        for (String before : List.of("before", "")) {
          assertThat(other.ask("SET", "key", "1")).isEqualTo("+OK");
          assertThat(other.ask("SET", "name", before)).isEqualTo("+OK");
          strings.before = name -> askIf(name.equals("remove"), other, "DEL", "key");
          assertThat(client.ask("RENAME", "key", "name")).isEqualTo("-ERR no such key");
          assertThat(client.ask("GET", "name")).isEqualTo(before);
          assertThat(client.ask("DEL", "name")).isEqualTo(":1");
          strings.unhook();
          assertThat(other.ask("SET", "key", "1")).isEqualTo("+OK");
          strings.before = name -> askIf(name.equals("remove"), other, "DEL", "key");
          assertThat(client.ask("RENAME", "key", "name")).isEqualTo("-ERR no such key");
          assertThat(client.ask("EXISTS", "name")).isEqualTo(":0");
          strings.unhook();
        }
        assertThat(other.ask("MSET", "key", "1", "name", "before")).isEqualTo("+OK");
        strings.before =
            name -> {
              if (name.equals("remove") && removals.incrementAndGet() == 1) {
                throw new PoolFullException("full by a test");
              }
            };
        assertThat(client.ask("RENAME", "key", "name")).startsWith("-OOM");
        assertThat(client.ask("MGET", "key", "name")).isEqualTo("[1, before]");
        assertThat(client.ask("RENAME", "key", "name")).isEqualTo("+OK");
        assertThat(client.ask("MGET", "key", "name")).isEqualTo("[nil, 1]");
      }
    }
  }

  private static void askIf(boolean is, RawClient client, String... request) {
    try {
      assertThat(is ? client.ask(request) : ":").startsWith(":");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** One door closes under load; the other one goes on, and has what both acknowledged. */
  @Test
  void shouldLeaveTheOtherDoorOpenWhereItCloses() throws Exception {
    AtomicIntegerArray acknowledged = new AtomicIntegerArray(CLIENTS);
    CountDownLatch busy = new CountDownLatch(CLIENTS);
    CountDownLatch closed = new CountDownLatch(1);
    try (TwoDoors doors = TwoDoors.open()) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        int number = i;
        tasks.add(() -> {
          write(doors, number, acknowledged, busy, closed);
          return null;
        });
      }
      tasks.add(() -> {
        busy.await();
        doors.one().door().close();
        closed.countDown();
        return null;
      });
      Threads.run(tasks);
      assertThat(doors.one().door().clients()).isZero();
      assertThat(doors.other().isClosed()).isFalse();
      try (RawClient client = doors.client(1)) {
        for (int i = 0; i < CLIENTS; i++) {
          assertThat(acknowledged.get(i)).isGreaterThan(100);
          for (int n = 0; n < acknowledged.get(i); n++) {
            assertThat(client.ask("GET", i + "-" + n)).isEqualTo("v" + n);
          }
        }
      }
    }
  }

  /** Stores keys until the door that closes has, and a while more at the other one. */
  private static void write(
      TwoDoors doors,
      int number,
      AtomicIntegerArray acknowledged,
      CountDownLatch busy,
      CountDownLatch closed)
      throws IOException {
    int left = 100;
    try (RawClient client = doors.client(number)) {
      for (int n = 0; left > 0; n++) {
        assertThat(client.ask("SET", number + "-" + n, "v" + n)).isEqualTo("+OK");
        acknowledged.incrementAndGet(number);
        left -= closed.getCount() == 0 ? 1 : 0;
        if (n == 100) {
          busy.countDown();
        }
      }
      assertThat(number % 2).isEqualTo(1);
    } catch (IOException ended) {
      assertThat(number % 2).as(ended.toString()).isZero();
    }
  }
}
