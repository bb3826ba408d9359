package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.door.resp.Store.Exchange;
import pando.door.resp.TestDoor.Form;
import pando.durable.DurableStrings;
import pando.fabric.Fabric;
import pando.fabric.PoolFullException;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteSession;
import pando.journal.FaultyFolder;
import pando.journal.SyncPolicy;

/** Keys that expire: what is stored of them, where they go, and what is refused. */
@Timeout(300)
class ExpiryTest {
  @TempDir private Path folder;

  /** What a door with a clock that stands still has in its index. */
  private static final class Frozen implements AutoCloseable {
    final AtomicLong clock = new AtomicLong(1_000);
    final TestDoor door;
    final RawClient client;
    final Keyspace keyspace;

    Frozen(Form form) throws IOException {
      door = TestDoor.open(form, clock::get);
      client = door.raw();
      keyspace =
          form == Form.OWN
              ? new OwnKeyspace(door.index(), door.index(), clock::get)
              : new SharedKeyspace(door.index(), clock::get);
    }

    /** Returns all entries, each byte a character. */
    List<String> entries() {
      return ExpiryTest.entries(door.index());
    }

    List<String> times() {
      return ExpiryTest.times(keyspace);
    }

    String ask(String... request) throws IOException {
      return client.ask(request);
    }

    @Override
    public void close() throws IOException {
      try (door) {
        client.close();
      }
    }
  }

  private static List<String> entries(ByteIndex index) {
    List<String> all = new ArrayList<>();
    try (ByteSession session = index.session()) {
      session.scan(
          bytes(""), null, Long.MAX_VALUE, (key, value) -> all.add(text(key) + "=" + text(value)));
    }
    return all;
  }

  private static List<String> times(Keyspace keyspace) {
    try (Times times = new Times(keyspace)) {
      return times.before(Long.MAX_VALUE, Integer.MAX_VALUE).stream()
          .map(due -> due.millis() + " " + text(due.key()))
          .toList();
    }
  }

  private static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(ISO_8859_1));
  }

  private static String text(MemorySegment bytes) {
    return new String(bytes.toArray(JAVA_BYTE), ISO_8859_1);
  }

  private static String big(long number) {
    StringBuilder text = new StringBuilder();
    for (int shift = 56; shift >= 0; shift -= 8) {
      text.append((char) (number >>> shift & 0xFF));
    }
    return text.toString();
  }

  private static final String MAGIC = big(0xC75E910B3DF648A2L) + big(0x1EB9D4638F207AE5L);

  /** The format is one of data folders, too. */
  @Test
  void shouldStoreDeadlinesWithValues() throws Exception {
    try (Frozen own = new Frozen(Form.OWN)) {
      own.ask("SET", "k", "v", "PX", "500");
      own.ask("ZADD", "z", "0", "m");
      own.ask("PEXPIREAT", "z", "2000");
      own.ask("SET", "never", "v");
      String set = "\0\0\0\0\0\0\0\0" + big(1);
      assertThat(own.entries())
          .containsExactly(
              "\0k=\2v" + big(1500),
              "\0never=\0v",
              "\0z=\3" + set + big(2000),
              "\20" + big(1) + "m=",
              "\40" + big(1500) + "\0k=",
              "\40" + big(2000) + "\0z=");
      assertThat(own.ask("INFO", "keyspace")).contains("db0:keys=3,expires=2,avg_ttl=0\r\n");
      own.ask("PERSIST", "z");
      own.ask("PERSIST", "k");
      assertThat(own.entries())
          .containsExactly("\0k=\0v", "\0never=\0v", "\0z=\1" + set, "\20" + big(1) + "m=");
      assertThat(own.ask("INFO", "keyspace")).contains("db0:keys=3,expires=0,avg_ttl=0\r\n");
    }
    try (Frozen shared = new Frozen(Form.SHARED)) {
      String mark = "\u00ff".repeat(10);
      shared.ask("SET", "k", "v", "PX", "500");
      shared.ask("SET", "never", "v");
      assertThat(shared.entries())
          .containsExactly("k=v" + big(1500) + MAGIC, "never=v", mark + big(1500) + "k=");
      shared.ask("PERSIST", "k");
      assertThat(shared.entries()).containsExactly("k=v", "never=v");
    }
  }

  /** No client makes a value that expires by what it stores. */
  @ParameterizedTest
  @EnumSource(names = {"OWN", "SHARED", "REMOTE"})
  void shouldReturnStringsThatLookAsIfTheyExpired(Form form) throws Exception {
    try (Frozen its = new Frozen(form)) {
      for (String start : List.of("", "v", "x".repeat(100), big(5) + MAGIC, "1" + MAGIC)) {
        for (String end : List.of(MAGIC, big(5) + MAGIC, big(0) + MAGIC, big(-1) + MAGIC)) {
          String string = start + end;
          assertThat(its.ask("SET", "k", string)).isEqualTo("+OK");
          assertThat(its.ask("GET", "k")).isEqualTo(string);
          assertThat(its.ask("TTL", "k")).isEqualTo(":-1");
          assertThat(its.ask("STRLEN", "k")).isEqualTo(":" + string.length());
          assertThat(its.ask("GETRANGE", "k", "-9", "-1"))
              .isEqualTo(string.substring(string.length() - 9));
          assertThat(its.ask("PANDO.RANGE", "-", "+")).isEqualTo("[k, " + string + "]");
          assertThat(its.ask("PANDO.CAS", "k", string, end + string)).isEqualTo(":1");
          assertThat(its.ask("PANDO.CAS", "k", string, "x")).isEqualTo(":0");
          assertThat(its.ask("SET", "k", string, "GET")).isEqualTo(end + string);
          assertThat(its.ask("EXPIRE", "k", "100")).isEqualTo(":1");
          assertThat(its.ask("GET", "k")).isEqualTo(string);
          assertThat(its.ask("PANDO.CAS", "k", string, end)).isEqualTo(":1");
          assertThat(its.ask("TTL", "k")).isEqualTo(":100");
          assertThat(its.ask("PERSIST", "k")).isEqualTo(":1");
          assertThat(its.ask("MGET", "k", "k")).isEqualTo("[" + end + ", " + end + "]");
          assertThat(its.ask("MSET", "k", string, "l", end)).isEqualTo("+OK");
          assertThat(its.ask("MGET", "k", "l")).isEqualTo("[" + string + ", " + end + "]");
          assertThat(its.ask("APPEND", "l", string)).startsWith(":");
          assertThat(its.ask("GET", "l")).isEqualTo(end + string);
          assertThat(its.ask("SET", "l", "y".repeat(end.length()))).isEqualTo("+OK");
          assertThat(its.ask("SETRANGE", "l", "0", end)).isEqualTo(":" + end.length());
          assertThat(its.ask("APPEND", "l", "z")).startsWith(":");
          assertThat(its.ask("GETDEL", "l")).isEqualTo(end + "z");
          assertThat(its.ask("SET", "k", string, "KEEPTTL", "GET")).isEqualTo(string);
          assertThat(its.ask("RENAME", "k", "k2")).isEqualTo("+OK");
          assertThat(its.ask("GETSET", "k2", end)).isEqualTo(string);
          assertThat(its.ask("DEL", "k2")).isEqualTo(":1");
        }
      }
      assertThat(its.entries()).isEmpty();
    }
  }

  /** A map beside doors may store anything. */
  @Test
  void shouldTakeAnyValueOfOthers() throws Exception {
    try (Frozen its = new Frozen(Form.SHARED);
        ByteSession session = its.door.index().session()) {
      session.store(bytes("a"), bytes("v" + big(-5) + MAGIC));
      session.store(bytes("b"), bytes("v" + big(5) + MAGIC));
      session.store(bytes("c"), bytes("v" + big(5_000) + MAGIC));
      session.store(bytes("\u00ff".repeat(10)), bytes("x"));
      session.store(bytes("\u00ff".repeat(10) + "x"), bytes("x"));
      session.store(bytes("\u00ff".repeat(10) + big(1)), bytes("x"));
      session.store(bytes("\u00ff".repeat(10) + big(1) + "a"), bytes("x"));
      session.store(bytes("\u00ff".repeat(10) + big(1) + "\u00ff".repeat(9)), bytes("x"));
      assertThat(its.ask("TTL", "a")).isEqualTo(":-1");
      assertThat(its.ask("GET", "a")).isEqualTo("v");
      assertThat(its.ask("GET", "b")).isEqualTo("nil");
      assertThat(its.ask("PTTL", "c")).isEqualTo(":4000");
      assertThat(its.ask("GETEX", "c", "PERSIST")).isEqualTo("v");
      assertThat(its.ask("DBSIZE")).isEqualTo(":2");
      while (!its.times().isEmpty()) {
        its.ask("PING");
      }
    }
  }

  @Test
  void shouldRefuseWhatIsTooLongToExpire() throws Exception {
    String long1 = "k".repeat(OwnKeyspace.KEY_BYTES_MAX - 8);
    try (Frozen own = new Frozen(Form.OWN)) {
      String error = "-ERR the key is too long to expire: bytes=65526, maximum=65525";
      assertThat(own.ask("SET", long1, "v", "EX", "10")).isEqualTo(error);
      assertThat(own.ask("EXISTS", long1)).isEqualTo(":0");
      assertThat(own.ask("SET", long1, "v")).isEqualTo("+OK");
      assertThat(own.ask("EXPIRE", long1, "10")).isEqualTo(error);
      assertThat(own.ask("GETEX", long1, "EX", "10")).isEqualTo(error);
      assertThat(own.ask("TTL", long1)).isEqualTo(":-1");
      assertThat(own.ask("EXPIRE", long1, "-1")).isEqualTo(":1");
      String longest = long1.substring(1);
      assertThat(own.ask("SET", longest, "v", "EX", "10")).isEqualTo("+OK");
      assertThat(own.ask("RENAME", longest, long1)).isEqualTo(error);
      assertThat(own.ask("TTL", longest)).isEqualTo(":10");
      own.clock.addAndGet(10_001);
      while (own.entries().size() > 0) {
        own.ask("PING");
      }
    }
    try (Frozen its = new Frozen(Form.SHARED_SHORT)) {
      assertThat(its.ask("SET", "k", "v", "EX", "10"))
          .isEqualTo("-ERR the key is too long to expire: bytes=1, maximum=0");
      assertThat(its.ask("GET", "k")).isEqualTo("nil");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"OWN", "SHARED"})
  void shouldTakeTheLongestStrings(Form form) throws Exception {
    try (Frozen its = new Frozen(form)) {
      int most = its.keyspace.stringBytesMax();
      String string = "v".repeat(most - 1);
      assertThat(its.ask("SET", "k", string, "EX", "10")).isEqualTo("+OK");
      assertThat(its.ask("APPEND", "k", "w")).isEqualTo(":" + most);
      assertThat(its.ask("GET", "k")).isEqualTo(string + "w");
      assertThat(its.ask("TTL", "k")).isEqualTo(":10");
      assertThat(its.ask("APPEND", "k", "x"))
          .isEqualTo(
              "-ERR string exceeds maximum allowed size: bytes=%s, maximum=%s", most + 1, most);
      assertThat(its.ask("SET", "k", string + "xx", "EX", "10"))
          .isEqualTo("-ERR the value is too long: bytes=%s, maximum=%s", most + 1, most);
      // One that others have stored, or a door before it knew deadlines.
      String longer = string + "xx";
      try (ByteSession session = its.door.index().session()) {
        session.store(
            bytes(form == Form.OWN ? "\0l" : "l"),
            bytes(form == Form.OWN ? "\0" + longer : longer));
      }
      assertThat(its.ask("GET", "l")).isEqualTo(longer);
      assertThat(its.ask("EXPIRE", "l", "10"))
          .isEqualTo("-ERR the value is too long: bytes=%s, maximum=%s", most + 1, most);
      assertThat(its.ask("GET", "l")).isEqualTo(longer);
    }
  }

  /** What is replaced leaves no deadline behind. */
  @ParameterizedTest
  @EnumSource(names = {"OWN", "SHARED"})
  void shouldNotPileDeadlinesUp(Form form) throws Exception {
    try (Frozen its = new Frozen(form)) {
      String key = form == Form.OWN ? "\0k" : "k";
      for (int i = 0; i < 50; i++) {
        its.clock.incrementAndGet();
        assertThat(its.ask("SET", "k", "v", "EX", "100")).isEqualTo("+OK");
        its.clock.incrementAndGet();
        assertThat(its.ask("EXPIRE", "k", "50")).isEqualTo(":1");
        its.clock.incrementAndGet();
        assertThat(its.ask("GETEX", "k", "EX", "70")).isEqualTo("v");
      }
      assertThat(its.times()).containsExactly((its.clock.get() + 70_000) + " " + key);
      assertThat(its.ask("INCR", "n")).isEqualTo(":1");
      assertThat(its.ask("DEL", "k", "n")).isEqualTo(":2");
      assertThat(its.entries()).isEmpty();
      for (String end : List.of("GETDEL k", "GETSET k w", "SET k w XX", "PERSIST k", "FLUSHALL")) {
        its.ask("SET", "k", "v", "EX", "100");
        its.ask(end.split(" ", -1));
        assertThat(its.times()).as(end).isEmpty();
      }
      its.ask("SET", "k", "v", "EX", "100");
      its.ask("SET", "k", "v");
      assertThat(its.times()).hasSize(form == Form.OWN ? 0 : 1); // of which nobody knows
      its.clock.addAndGet(100_001);
      while (!its.times().isEmpty()) {
        its.ask("PING");
      }
      assertThat(its.ask("GET", "k")).isEqualTo("v");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"OWN", "SHARED"})
  void shouldNotShowAgainWhatHasExpiredWhereTheClockGoesBack(Form form) throws Exception {
    try (Frozen its = new Frozen(form)) {
      its.ask("SET", "k", "v", "PX", "10");
      its.clock.addAndGet(10);
      assertThat(its.ask("GET", "k")).isEqualTo("v");
      its.clock.addAndGet(1);
      assertThat(its.ask("GET", "k")).isEqualTo("nil");
      its.clock.addAndGet(-500);
      assertThat(its.ask("GET", "k")).isEqualTo("nil");
      assertThat(its.ask("SET", "l", "v", "PX", "10")).isEqualTo("+OK");
      assertThat(its.ask("PEXPIRETIME", "l")).isEqualTo(":1021");
    }
  }

  /** That a key expires is a change, unless it had expired already when it was watched. */
  @Test
  void shouldNoticeWhatExpiresWhileItIsWatched() throws Exception {
    try (Hooked its = new Hooked(Form.OWN)) {
      its.strings.before =
          name -> {
            if (name.equals("remove")) { // by the sweeper
              throw new PoolFullException("full by a test");
            }
          };
      try (RespDoor door = RespDoor.open(its.keyspace, RespOptions.loopback(0));
          RawClient client = new RawClient(door.address())) {
        client.ask("SET", "k", "v", "PX", "10");
        client.ask("WATCH", "k");
        its.clock.addAndGet(11);
        for (String reply : List.of("nil", "[nil]")) {
          client.ask("MULTI");
          client.ask("GET", "k");
          assertThat(client.ask("EXEC")).isEqualTo(reply);
          client.ask("WATCH", "k");
        }
        client.ask("SET", "k", "again");
        client.ask("MULTI");
        assertThat(client.ask("EXEC")).isEqualTo("nil");
      }
    }
  }

  /** The time at which a request sees all keys is one, however many there are. */
  @ParameterizedTest
  @EnumSource(names = {"OWN", "SHARED", "REMOTE"})
  void shouldReadTheClockOnce(Form form) throws Exception {
    AtomicLong clock = new AtomicLong(1_000);
    try (TestDoor door = TestDoor.open(form, clock::getAndIncrement);
        RawClient client = door.raw()) {
      List<String> get = new ArrayList<>(List.of("MGET"));
      for (int i = 0; i < 200; i++) {
        get.add("k" + i);
        client.ask("SET", "k" + i, "v", "PXAT", "1000000");
      }
      clock.set(1_000_000);
      String found = client.ask(get.toArray(String[]::new));
      assertThat(found.contains("v")).as(found).isNotEqualTo(found.contains("nil"));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"OWN", "SHARED"})
  void shouldCountWhatHasExpired(Form form) throws Exception {
    try (Frozen its = new Frozen(form)) {
      for (int i = 0; i < 2_500; i++) {
        its.client.send(RawClient.request("SET", "k" + i, "v", "PX", "10"));
      }
      for (int i = 0; i < 2_500; i++) {
        assertThat(its.client.reply()).isEqualTo("+OK");
      }
      its.ask("SET", "later", "v", "PX", "20");
      its.ask("SET", "never", "v");
      its.ask("SET", "gone", "v", "PX", "10");
      its.ask("EXPIRE", "gone", "-1");
      its.clock.addAndGet(11);
      assertThat(its.ask("SET", "k1", "again")).isEqualTo("+OK");
      assertThat(its.ask("SETNX", "k2", "again")).isEqualTo(":1");
      while (its.times().size() > 1) {
        its.ask("PING");
      }
      assertThat(its.ask("KEYS", "*")).isEqualTo("[k1, k2, later, never]");
      assertThat(its.ask("DBSIZE")).isEqualTo(":4");
      // A plain SET of shared strings looks at nothing.
      assertThat(its.ask("INFO", "stats"))
          .contains("\r\nexpired_keys:" + (form == Form.OWN ? 2_500 : 2_499) + "\r\n");
    }
  }

  /** A door that opens finds what expires, and no deadline is in the log. */
  @ParameterizedTest
  @EnumSource
  void shouldExpireBehindARestart(SyncPolicy sync) throws Exception {
    try (FolderDoor door = FolderDoor.open(folder, sync);
        RawClient client = door.raw()) {
      client.ask("SET", "past", "v", "PXAT", "1");
      client.ask("SET", "soon", "v", "PX", "1");
      client.ask("SET", "later", "v", "EX", "10000");
      client.ask("SET", "never", "v", "EX", "10000");
      client.ask("PERSIST", "never");
      client.ask("SET", "at", "v", "PXAT", "33177117420123");
      client.ask("ZADD", "set", "0", "a", "0", "b");
      client.ask("PEXPIREAT", "set", "33177117420124");
      client.ask("ZADD", "due", "0", "a", "0", "b");
      client.ask("PEXPIRE", "due", "1");
      client.ask("SELECT", "3");
      client.ask("SET", "k", "v", "PXAT", "33177117420125");
    }
    for (int round = 0; round < 2; round++) {
      try (FolderDoor door = FolderDoor.open(folder, sync);
          RawClient client = door.raw()) {
        assertThat(client.ask("KEYS", "*")).isEqualTo("[at, later, never, set]");
        assertThat(client.ask("PEXPIRETIME", "at")).isEqualTo(":33177117420123");
        assertThat(client.ask("PEXPIRETIME", "set")).isEqualTo(":33177117420124");
        assertThat(client.ask("TTL", "never")).isEqualTo(":-1");
        assertThat(client.ask("ZRANGEBYLEX", "set", "-", "+")).isEqualTo("[a, b]");
        while (entries(door.strings().index()).size() > 5 + 2 + 4) { // keys, members, times
          client.ask("PING");
        }
        assertThat(client.ask("INFO", "keyspace"))
            .contains("db0:keys=4,expires=3,", "db3:keys=1,expires=1,");
        assertThat(entries(door.strings().index())).contains("\40" + big(33177117420125L) + "\3k=");
      }
      assertThat(entriesOf(folder))
          .hasSize(5 + 2)
          .allMatch(key -> key.charAt(0) < OwnKeyspace.TIMES);
    }
  }

  private static List<String> entriesOf(Path folder) throws IOException {
    List<String> keys = new ArrayList<>();
    try (var data =
            pando.journal.DataFolder.open(
                folder, DurableStrings.KIND, FolderDoor.options(SyncPolicy.NO));
        var entries = data.entries()) {
      while (entries.next()) {
        keys.add(text(entries.key()));
      }
    }
    return keys;
  }

  /** The deadline is in the same record as the value. */
  @Test
  void shouldKeepDeadlinesWhereThePowerIsLost() throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(98));
    FaultyFolder disk = new FaultyFolder();
    FaultyFolder left;
    int last = 0;
    try (FolderDoor door = FolderDoor.open(disk, SyncPolicy.ALWAYS);
        RawClient client = door.raw()) {
      for (int i = 0; i < 200; i++) {
        last = i;
        assertThat(client.ask("SET", "k" + i % 5, "v" + i, "PXAT", "" + (33177117420000L + i)))
            .isEqualTo("+OK");
        assertThat(client.ask("SET", "gone" + i, "v", "PXAT", "1")).isEqualTo("+OK");
      }
      left = disk.crash(random);
    }
    try (FolderDoor door = FolderDoor.open(left, SyncPolicy.ALWAYS);
        RawClient client = door.raw()) {
      assertThat(client.ask("KEYS", "*")).isEqualTo("[k0, k1, k2, k3, k4]");
      for (int i = last - 4; i <= last; i++) {
        assertThat(client.ask("GET", "k" + i % 5)).isEqualTo("v" + i);
        assertThat(client.ask("PEXPIRETIME", "k" + i % 5)).isEqualTo(":" + (33177117420000L + i));
      }
      while (!client.ask("DBSIZE").equals(":5")) {
        client.ask("PING");
      }
    }
  }

  /** Stores over hooked strings, and one beside that is not hooked. */
  private static final class Hooked implements AutoCloseable {
    final AtomicLong clock = new AtomicLong(1_000);
    final Fabric fabric = Pools.open(2, 128 << 20, 1);
    final ByteIndex index = ByteIndex.create(fabric, TestDoor.indexOptions());
    final HookedStrings strings = new HookedStrings(index, index.keyBytesMax());
    final Keyspace keyspace;
    final Store store;
    final Store other;

    Hooked(Form form) {
      keyspace =
          form == Form.OWN
              ? new OwnKeyspace(strings, index, clock::get)
              : new SharedKeyspace(strings, clock::get);
      store = keyspace.newStore(Hooked::never);
      other = keyspace.newStore(Hooked::never);
      store.begin();
      other.begin();
    }

    private static void never(Consumer<Store> task) {
      throw new AssertionError("a task for later: " + task);
    }

    MemorySegment key(String name) {
      return bytes(keyspace.markBytes == 0 ? name : "\0" + name);
    }

    MemorySegment string(String text, long deadline) {
      byte[] room = keyspace.room(text.length(), deadline);
      MemorySegment.copy(bytes(text), JAVA_BYTE, 0, room, keyspace.markBytes, text.length());
      return keyspace.stored(room, deadline);
    }

    /** Does something once, before an operation or behind it. */
    Consumer<String> once(String operation, Runnable action) {
      return name -> {
        if (name.equals(operation)) {
          strings.unhook();
          action.run();
        }
      };
    }

    @Override
    public void close() {
      try (fabric;
          index) {
        store.close();
        other.close();
      }
    }
  }

  /**
   * Another one discards a deadline while it is stored again, or stores it while it is discarded.
   */
  @ParameterizedTest
  @EnumSource(names = {"OWN", "SHARED"})
  void shouldKeepTheDeadlineThatIsStoredAgainMeanwhile(Form form) {
    try (Hooked its = new Hooked(form)) {
      MemorySegment key = its.key("k");
      List<String> times = List.of("2000 " + text(key));
      for (long first : new long[] {2_000, 3_000}) {
        its.store.put(key, its.string("v", first));
        its.strings.before = its.once("put", () -> its.other.exchange(key, its.string("w", 0)));
        its.store.put(key, its.string("x", 2_000));
        assertThat(times(its.keyspace)).isEqualTo(times);
      }
      its.strings.behind = its.once("replace", () -> its.other.put(key, its.string("y", 2_000)));
      assertThat(its.store.find(key)).isTrue();
      assertThat(its.store.setDeadline(key, its.store.value(), 0)).isTrue();
      assertThat(times(its.keyspace)).isEqualTo(times);
      its.strings.behind = its.once("remove", () -> its.other.put(key, its.string("y", 2_000)));
      its.store.remove(key);
      assertThat(times(its.keyspace)).isEqualTo(times);
      its.clock.set(3_000);
      its.store.begin();
      its.strings.behind = its.once("remove", () -> its.other.put(key, its.string("z", 2_000)));
      assertThat(its.store.removeDue(10)).isEqualTo(1);
      assertThat(times(its.keyspace)).isEqualTo(times);
      assertThat(its.store.removeDue(10)).isEqualTo(1);
      assertThat(entries(its.index)).isEmpty();
      assertThat(its.keyspace.expiredCount()).isEqualTo(2);
    }
  }

  /** What another one stores while a due value is replaced or removed stays. */
  @ParameterizedTest
  @EnumSource(names = {"OWN", "SHARED"})
  void shouldKeepWhatIsStoredInPlaceOfWhatIsDue(Form form) {
    try (Hooked its = new Hooked(form)) {
      MemorySegment key = its.key("k");
      MemorySegment due = its.string("due", 500);
      its.store.put(key, due);
      its.strings.before = its.once("replace", () -> its.other.put(key, its.string("new", 0)));
      assertThat(its.store.putIfAbsent(key, its.string("mine", 0))).isFalse();
      assertThat(text(its.keyspace.payload(its.store.value()))).isEqualTo("new");
      its.store.put(key, due);
      its.strings.before = its.once("remove", () -> its.other.put(key, its.string("new", 0)));
      its.store.removeDue(10);
      assertThat(its.store.find(key)).isTrue();
      its.store.put(key, due);
      its.strings.before = its.once("replace", () -> its.other.put(key, its.string("due", 400)));
      assertThat(its.store.putIfAbsent(key, its.string("mine", 0))).isTrue();
      its.store.put(key, its.string("v", 1_000));
      its.strings.before = its.once("replace", () -> its.other.put(key, due));
      assertThat(its.store.exchange(key, its.string("w", 0), new Exchange(false, false, false)))
          .isFalse();
      assertThat(its.store.find(key)).isFalse();
      its.store.removeDue(10);
      assertThat(times(its.keyspace)).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"OWN", "SHARED"})
  void shouldLeaveNothingBehindWhereAStepFails(Form form) {
    Consumer<String> full =
        name -> {
          if (name.startsWith("put") || name.equals("replace")) {
            throw new PoolFullException("full by a test");
          }
        };
    try (Hooked its = new Hooked(form)) {
      MemorySegment key = its.key("k");
      MemorySegment string = its.string("v", 2_000);
      its.store.put(its.key("there"), its.string("v", 0));
      assertThat(its.store.find(its.key("there"))).isTrue();
      MemorySegment there = Store.copy(its.store.value());
      List<String> before = entries(its.index);
      its.strings.before = full;
      assertThatExceptionOfType(PoolFullException.class)
          .isThrownBy(() -> its.store.put(key, string));
      assertThatExceptionOfType(PoolFullException.class)
          .isThrownBy(() -> its.store.putIfAbsent(key, string));
      assertThatExceptionOfType(PoolFullException.class)
          .isThrownBy(() -> its.store.setDeadline(its.key("there"), there, 2_000));
      its.strings.unhook();
      assertThat(entries(its.index)).isEqualTo(before);
      if (form == Form.OWN) { // A transaction that is undone leaves none of its deadlines.
        assertThatExceptionOfType(PoolFullException.class)
            .isThrownBy(() ->
                its.store.atomically(
                    null,
                    () -> {
                      its.store.put(key, string);
                      full.accept("put");
                    }));
        assertThat(entries(its.index)).isEqualTo(before);
      }
      assertThat(its.store.putIfAbsent(its.key("there"), string)).isFalse();
      assertThat(its.store.replace(its.key("there"), string, its.string("v", 5_000))).isFalse();
      assertThat(entries(its.index)).isEqualTo(before);
    }
  }

  /** Its key goes all the same: it is compared with what it has, again and again. */
  @Test
  void shouldRemoveASetThatGetsADeadlineMeanwhile() {
    try (Hooked its = new Hooked(Form.OWN)) {
      MemorySegment key = its.key("set");
      List<byte[]> one = new ArrayList<>(List.of(new byte[OwnKeyspace.MEMBER_AT]));
      assertThat(its.store.sets().add(0, key, 1, List.copyOf(one), true)).isEqualTo(1);
      int[] removals = new int[1];
      its.strings.before =
          name -> {
            // The first one is that of the member.
            if (name.equals("remove") && ++removals[0] == 2) {
              assertThat(its.other.find(key)).isTrue();
              assertThat(its.other.expire(key, its.other.value(), 2_000)).isTrue();
            }
          };
      assertThat(its.store.sets().remove(0, key, members -> some(its.store, members))).isEqualTo(1);
      assertThat(removals[0]).isEqualTo(3);
      assertThat(entries(its.index)).isEmpty();
    }
  }

  /** Else the members would go with the key that is due. */
  @Test
  void shouldGiveEachKeyASetOfItsOwnWhereOneIsDue() {
    String set = "\0\0\0\0\0\0\0\0" + big(7);
    for (List<String> values :
        List.of(
            List.of("\3" + set + big(500), "\1" + set),
            List.of("\1" + set, "\3" + set + big(500)),
            List.of("\3" + set + big(500), "\3" + set + big(2_000)))) {
      try (Fabric fabric = Pools.open(2, 128 << 20, 1);
          ByteIndex index = ByteIndex.create(fabric, TestDoor.indexOptions());
          ByteSession session = index.session()) {
        session.put(bytes("\0a"), bytes(values.get(0)));
        session.put(bytes("\0b"), bytes(values.get(1)));
        session.put(bytes("\20" + big(7) + "m"), bytes(""));
        OwnKeyspace keyspace = new OwnKeyspace(index, index, () -> 1_000);
        try (Store store = keyspace.newStore(Hooked::never)) {
          store.begin();
          assertThat(store.removeDue(10)).isEqualTo(1);
          MemorySegment left = bytes(values.get(1).endsWith(big(500)) ? "\0a" : "\0b");
          byte[] member = new byte[OwnKeyspace.MEMBER_AT + 1];
          member[OwnKeyspace.MEMBER_AT] = 'm';
          assertThat(store.sets().read(0, left, false, (_, its) -> store.sets().has(its, member)))
              .isTrue();
          assertThat(keyspace.counts()[0]).isEqualTo(1);
          assertThat(store.remove(left)).isTrue();
        }
        assertThat(entries(index)).isEmpty();
        assertThat(keyspace.timedCounts()[0]).isZero();
      }
    }
  }

  /** What no door has stored is not taken for the keys of one. */
  @Test
  void shouldRefuseAnIndexWithOtherEntries() {
    for (List<String> entry :
        List.of(
            List.of("\0k", "\2" + big(5).substring(1)),
            List.of("\0k", "\2" + big(0)),
            List.of("\0k", "\2" + big(-1)),
            List.of("\0k", "\3" + big(0) + big(1)),
            List.of("\0k", "\4v"),
            List.of(" a text", ""),
            List.of(" " + big(5) + "\0k", "value"),
            List.of(" " + big(5), ""),
            List.of(" " + big(0) + "\0k", ""),
            List.of(" " + big(5) + "\20k", ""),
            List.of("\41", ""))) {
      try (Fabric fabric = Pools.open(2, 128 << 20, 1);
          ByteIndex index = ByteIndex.create(fabric, TestDoor.indexOptions());
          ByteSession session = index.session()) {
        session.put(bytes(entry.get(0)), bytes(entry.get(1)));
        assertThatExceptionOfType(IllegalStateException.class)
            .as(entry.toString())
            .isThrownBy(() -> new OwnKeyspace(index, index))
            .withMessageStartingWith("the index has keys that no door has stored");
      }
    }
  }

  private static List<byte[]> some(Store store, byte[] members) {
    return store.keys(members, Stored.behindAll(members));
  }

  /** Two doors sweep the same keys, which others store again. */
  @Test
  void shouldSweepAtTwoDoors() throws Exception {
    AtomicLong clock = new AtomicLong(1_000);
    try (TestDoor door = TestDoor.open(Form.SHARED, clock::get);
        RespDoor other =
            RespDoor.open(new SharedKeyspace(door.index(), clock::get), RespOptions.loopback(0));
        RawClient client = door.raw();
        RawClient beside = new RawClient(other.address())) {
      for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 500; i++) {
          RawClient either = i % 2 == 0 ? client : beside;
          either.send(RawClient.request("SET", "k" + i, "v", "PX", "10"));
          either.send(RawClient.request("SET", "stays" + i, "v", "PX", "10"));
        }
        for (int i = 0; i < 500; i++) {
          RawClient either = i % 2 == 0 ? client : beside;
          assertThat(either.reply()).isEqualTo("+OK");
          assertThat(either.reply()).isEqualTo("+OK");
        }
        clock.addAndGet(11);
        for (int i = 0; i < 500; i++) {
          assertThat(client.ask("SET", "stays" + i, "w", "EX", "1000", "NX")).isEqualTo("+OK");
        }
        while (times(new SharedKeyspace(door.index())).size() > 500) {
          assertThat(beside.ask("PING")).isEqualTo("+PONG");
        }
        assertThat(entries(door.index())).hasSize(1_000);
        assertThat(beside.ask("DBSIZE")).isEqualTo(":500");
        assertThat(beside.ask("FLUSHALL")).isEqualTo("+OK");
        assertThat(entries(door.index())).isEmpty();
      }
      long expired = expired(client) + expired(beside);
      assertThat(expired).isEqualTo(5 * 1_000);
    }
  }

  private static long expired(RawClient client) {
    try {
      String stats = client.ask("INFO", "stats");
      return Long.parseLong(stats.replaceAll("(?s).*expired_keys:([0-9]+).*", "$1"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
