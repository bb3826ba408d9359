package pando.door.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.door.resp.TestDoor.Form;
import pando.index.Seeds;

/** Cursors of SCAN, which are good at each door and in each connection. */
class ScansTest {
  private static final int SCANS = Seeds.count(20, 200, 5_000);
  private static final List<String> GARBAGE =
      List.of("-1", "1", "77", "18446744073709551615", "-9223372036854775808", "9007199254740991");

  /** A page of a scan. */
  private record Scanned(String next, List<String> keys) {
    static Scanned of(RawClient client, String cursor, int count, String... more)
        throws IOException {
      List<String> request = new ArrayList<>();
      request.addAll(List.of("SCAN", cursor, "COUNT", Integer.toString(count)));
      request.addAll(List.of(more));
      String reply = client.ask(request.toArray(String[]::new));
      assertThat(reply).startsWith("[").endsWith("]]");
      String next = reply.substring(1, reply.indexOf(','));
      String keys = reply.substring(reply.indexOf(',') + 3, reply.length() - 2);
      return new Scanned(next, keys.isEmpty() ? List.of() : List.of(keys.split(", ", -1)));
    }

    boolean isLast() {
      return next.equals("0");
    }
  }

  /** Doors to the same byte strings, of which now and then another one takes the place of one. */
  private static final class Doors implements AutoCloseable {
    private final TestDoor first;
    private final List<RespDoor> others = new ArrayList<>();

    Doors() throws IOException {
      first = TestDoor.open(Form.SHARED);
      others.add(open());
      others.add(open());
    }

    private RespDoor open() throws IOException {
      return RespDoor.openShared(first.index(), RespOptions.loopback(0).withEventLoops(1));
    }

    RawClient client(int number) throws IOException {
      return number == 0 ? first.raw() : new RawClient(others.get(number - 1).address());
    }

    void replace(int number) throws IOException {
      others.get(number).close();
      others.set(number, open());
    }

    @Override
    public void close() {
      try (first) {
        others.forEach(RespDoor::close);
      }
    }
  }

  private static String key(SplittableRandom random) {
    String[] starts = {"", "a", "a\0", "a\0\0", "\377\377", "user:", "user:1", "session:"};
    StringBuilder key = new StringBuilder(starts[random.nextInt(starts.length)]);
    for (int i = random.nextInt(5); i > 0; i--) {
      key.append("\0b1\377".charAt(random.nextInt(4)));
    }
    return key.isEmpty() ? "k" : key.toString();
  }

  /** Each page comes from any door, and over a connection of its own. */
  @Test
  void shouldFindAllKeysThatAreThereThroughoutAtWhateverDoor() throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(3120));
    NavigableSet<String> model = new TreeSet<>();
    try (Doors doors = new Doors();
        RawClient writer = doors.client(0)) {
      while (model.size() < 400) {
        add(writer, model, key(random));
      }
      for (int scan = 0; scan < SCANS; scan++) {
        int changes = scan % 4; // none in some scans
        Set<String> throughout = new HashSet<>(model);
        Set<String> ever = new HashSet<>(model);
        List<String> found = new ArrayList<>();
        String prefix = random.nextInt(3) == 0 ? "user:" : "";
        int count = 1 + random.nextInt(80);
        String cursor = "0";
        int pages = 0;
        do {
          try (RawClient client = doors.client(random.nextInt(3))) {
            Scanned page = Scanned.of(client, cursor, count, "MATCH", prefix + "*");
            found.addAll(page.keys());
            cursor = page.next();
          }
          for (int i = 0; i < changes; i++) {
            String gone = i == 0 && !found.isEmpty() ? found.getLast() : key(random);
            remove(writer, model, gone);
            throughout.remove(gone);
            String added = key(random);
            add(writer, model, added);
            ever.add(added);
          }
          if (random.nextInt(30) == 0) {
            doors.replace(random.nextInt(2));
          }
          assertThat(++pages).as("pages").isLessThan(10_000);
        } while (!cursor.equals("0"));
        throughout.removeIf(key -> !key.startsWith(prefix));
        assertThat(found).as("scan %s", scan).containsAll(throughout);
        assertThat(ever).containsAll(found);
        if (changes == 0) {
          assertThat(found).isEqualTo(List.copyOf(sorted(throughout)));
        }
      }
    }
  }

  private static NavigableSet<String> sorted(Set<String> keys) {
    return new TreeSet<>(keys);
  }

  private static void add(RawClient writer, Set<String> model, String key) throws IOException {
    assertThat(writer.ask("SET", key, "v")).isEqualTo("+OK");
    model.add(key);
  }

  private static void remove(RawClient writer, Set<String> model, String key) throws IOException {
    assertThat(writer.ask("DEL", key)).isEqualTo(model.remove(key) ? ":1" : ":0");
  }

  @ParameterizedTest
  @EnumSource(names = {"OWN", "SHARED"})
  void shouldEndFromWhateverCursor(Form form) throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(3121));
    NavigableSet<String> model = new TreeSet<>();
    try (TestDoor door = TestDoor.open(form);
        RawClient client = door.raw()) {
      while (model.size() < 100) {
        add(client, model, key(random));
      }
      assertThat(Scanned.of(client, "", 1000).keys()).isEqualTo(List.copyOf(model));
      List<String> cursors = new ArrayList<>(GARBAGE);
      for (int i = 0; i < 50; i++) {
        long bits = random.nextLong() >>> random.nextInt(64);
        cursors.add(Long.toUnsignedString(bits == 0 ? 1 : bits));
      }
      for (String garbage : cursors) {
        Scanned page = Scanned.of(client, garbage, 7);
        Set<String> found = new HashSet<>(page.keys());
        for (int pages = 0; !page.isLast(); pages++) {
          assertThat(pages).isLessThan(100);
          page = Scanned.of(client, page.next(), 7);
          page.keys().forEach(key -> assertThat(found.add(key)).as(key).isTrue());
        }
        assertThat(model).containsAll(found);
      }
    }
  }

  /** A cursor that this door has not given is not told from others by the database. */
  @Test
  void shouldGoOnInEachDatabase() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      for (String database : List.of("0", "7", "15")) {
        assertThat(client.ask("SELECT", database)).isEqualTo("+OK");
        assertThat(client.ask("MSET", "a", "1", "b", "2", "\377\377", "3")).isEqualTo("+OK");
        Scanned first = Scanned.of(client, "0", 1);
        Scanned second = Scanned.of(client, first.next(), 1);
        Scanned third = Scanned.of(client, second.next(), 1);
        assertThat(List.of(first.keys(), second.keys(), third.keys()).toString())
            .isEqualTo("[[a], [b], [\377\377]]");
        assertThat(Scanned.of(client, third.next(), 1)).isEqualTo(new Scanned("0", List.of()));
      }
    }
  }

  /** A client may hold a cursor as a double. */
  @Test
  void shouldGiveCursorsThatDoublesHold() {
    SplittableRandom random = new SplittableRandom(Seeds.of(3122));
    Set<Long> all = new HashSet<>();
    for (int i = 0; i < 10_000; i++) {
      byte[] key = new byte[1 + random.nextInt(9)];
      random.nextBytes(key);
      long cursor = Cursors.of(MemorySegment.ofArray(key), 1);
      assertThat(cursor).isBetween(1L, (1L << 53) - 1);
      byte[] leading = {key.length > 1 ? key[1] : 0, key.length > 2 ? key[2] : 0};
      assertThat(Cursors.leading(cursor)).isEqualTo(leading);
      all.add(cursor);
    }
    assertThat(all).hasSizeGreaterThan(8_000);
    byte[] key = "user:1000".getBytes(ISO_8859_1);
    assertThat(Cursors.of(MemorySegment.ofArray(key), 0))
        .as("the same in each version")
        .isEqualTo(4_132_470_143_553_594L);
  }

  @Test
  void shouldKeepTheLastCursorsAsFarAsThereIsMemory() {
    MemoryBudget budget = new MemoryBudget(10_000_000);
    Cursors cursors = new Cursors(budget);
    int many = Cursors.CURSORS_MAX + 10;
    for (int i = 1; i <= many; i++) {
      cursors.add(i, new byte[] {(byte) i});
    }
    cursors.add(many, new byte[] {(byte) many}); // again
    assertThat(cursors.key(10)).isNull();
    assertThat(cursors.key(11)).containsExactly(11);
    assertThat(cursors.lastWithSameStart(5)).containsExactly(many);
    assertThat(budget.bytes()).isEqualTo(129L * Cursors.CURSORS_MAX);
    for (int i = 1; i <= 100; i++) {
      cursors.add(i, new byte[1_000_000]);
      assertThat(budget.bytes()).isLessThanOrEqualTo(RespOptions.WAITING_BYTES_MIN / 16);
    }
    assertThat(cursors.key(100)).hasSize(1_000_000);
    assertThat(cursors.key(11)).isNull();
    long left = 10_000_000 - budget.bytes();
    assertThat(budget.tryTake(left)).isTrue();
    cursors.add(101, new byte[1_000]); // in place of others
    assertThat(cursors.key(101)).hasSize(1_000);
    Cursors others = new Cursors(budget);
    others.add(1, new byte[1_000_000]); // for which there is no memory
    assertThat(others.key(1)).isNull();
    assertThat(budget.bytes()).isLessThan(10_000_000);
  }
}
