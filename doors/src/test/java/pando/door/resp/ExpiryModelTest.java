package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.door.resp.TestDoor.Form;
import pando.index.Seeds;
import pando.index.bytes.ByteSession;

/** Random scripts of keys that expire, by a clock that goes on between requests. */
@Timeout(600)
class ExpiryModelTest {
  private static final int STEPS = Seeds.count(6_000, 40_000, 1_000_000);
  private static final long START = 1_000_000;

  /** A string or the members of a set, and when it is gone: after that millisecond. */
  private record Value(String string, @Nullable TreeSet<String> set, long deadline) {
    static Value of(String string, long deadline) {
      return new Value(string, null, deadline);
    }

    Value until(long other) {
      return new Value(string, set, other);
    }

    Value with(String other) {
      return of(other, deadline);
    }

    boolean isString() {
      return set == null;
    }
  }

  private static final String WRONGTYPE =
      "-WRONGTYPE Operation against a key holding the wrong kind of value";

  /** What a door has that answers as Redis does. */
  private static final class Model {
    final NavigableMap<String, Value> keys = new TreeMap<>();
    final AtomicLong clock;

    Model(AtomicLong clock) {
      this.clock = clock;
    }

    long now() {
      return clock.get();
    }

    @Nullable Value get(String key) {
      keys.values().removeIf(value -> value.deadline() != 0 && value.deadline() < now());
      return keys.get(key);
    }

    private long deadline(String unit, long given) {
      return switch (unit) {
        case "EX" -> now() + given * 1000;
        case "PX" -> now() + given;
        case "EXAT" -> given * 1000;
        case "PXAT" -> given;
        default -> throw new IllegalArgumentException(unit);
      };
    }

    String set(String key, String string, List<String> options) {
      Value before = get(key);
      if (options.contains("GET") && before != null && !before.isString()) {
        return WRONGTYPE;
      }
      boolean done =
          !(options.contains("NX") && before != null)
              && !(options.contains("XX") && before == null);
      long deadline = options.contains("KEEPTTL") && before != null ? before.deadline() : 0;
      for (String unit : List.of("EX", "PX", "EXAT", "PXAT")) {
        int at = options.indexOf(unit);
        deadline = at < 0 ? deadline : deadline(unit, Long.parseLong(options.get(at + 1)));
      }
      if (done) {
        keys.put(key, Value.of(string, deadline));
      }
      String old = before == null ? "nil" : before.string();
      return options.contains("GET") ? old : done ? "+OK" : "nil";
    }

    String expire(String command, String key, long given, List<String> options) {
      String unit =
          switch (command) {
            case "EXPIRE" -> "EX";
            case "PEXPIRE" -> "PX";
            case "EXPIREAT" -> "EXAT";
            default -> "PXAT";
          };
      long deadline = deadline(unit, given);
      Value before = get(key);
      boolean done = before != null;
      for (String option : options) {
        long its = before == null ? 0 : before.deadline();
        done &=
            switch (option) {
              case "NX" -> its == 0;
              case "XX" -> its != 0;
              case "GT" -> its != 0 && deadline > its;
              case "LT" -> its == 0 || deadline < its;
              default -> throw new IllegalArgumentException(option);
            };
      }
      if (done && before != null) {
        keys.put(key, before.until(deadline));
        if (deadline <= now()) {
          keys.remove(key);
        }
      }
      return done ? ":1" : ":0";
    }

    String getEx(String key, String option, long given) {
      Value before = get(key);
      if (before == null) {
        return "nil";
      }
      if (!before.isString()) {
        return WRONGTYPE;
      }
      if (option.equals("PERSIST")) {
        keys.put(key, before.until(0));
      } else if (!option.isEmpty()) {
        long deadline = deadline(option, given);
        keys.put(key, before.until(deadline));
        if (deadline <= now()) {
          keys.remove(key);
        }
      }
      return before.string();
    }

    String time(String command, String key) {
      Value its = get(key);
      if (its == null) {
        return ":-2";
      }
      if (its.deadline() == 0) {
        return ":-1";
      }
      long left = its.deadline() - now();
      return ":"
          + switch (command) {
            case "TTL" -> (left + 500) / 1000;
            case "PTTL" -> left;
            case "EXPIRETIME" -> (its.deadline() + 500) / 1000;
            default -> its.deadline();
          };
    }

    String move(String command, String key, String other, boolean replace) {
      boolean copies = command.equals("COPY");
      Value its = get(key);
      if (copies && key.equals(other)) {
        return "-ERR source and destination objects are the same";
      }
      if (its == null) {
        return copies ? ":0" : "-ERR no such key";
      }
      boolean done = command.equals("RENAME") || replace || get(other) == null;
      if (done) {
        if (!copies) {
          keys.remove(key);
        }
        keys.put(
            other,
            new Value(
                its.string(), its.set() == null ? null : new TreeSet<>(its.set()), its.deadline()));
      }
      return command.equals("RENAME") ? "+OK" : done ? ":1" : ":0";
    }

    String change(String command, String key, String argument) {
      Value its = get(key);
      if (its != null && !its.isString()) {
        return WRONGTYPE;
      }
      String before = its == null ? "" : its.string();
      Value value = its == null ? Value.of("", 0) : its;
      return switch (command) {
        case "INCR" -> {
          if (!before.matches("|0|-?[1-9][0-9]{0,15}")) {
            yield "-ERR value is not an integer or out of range";
          }
          long sum = 1 + (its == null ? 0 : before.isEmpty() ? 0 : Long.parseLong(before));
          if (its != null && before.isEmpty()) {
            yield "-ERR value is not an integer or out of range";
          }
          keys.put(key, value.with(Long.toString(sum)));
          yield ":" + sum;
        }
        case "APPEND" -> {
          keys.put(key, value.with(before + argument));
          yield ":" + (before.length() + argument.length());
        }
        case "SETRANGE" -> {
          String padded = before.isEmpty() ? "\0" : before;
          String after =
              padded.charAt(0)
                  + argument
                  + padded.substring(Math.min(padded.length(), 1 + argument.length()));
          if (!argument.isEmpty()) {
            keys.put(key, value.with(after));
            yield ":" + after.length();
          }
          yield ":" + before.length();
        }
        case "GETSET" -> {
          keys.put(key, Value.of(argument, 0));
          yield its == null ? "nil" : before;
        }
        case "GETDEL" -> {
          keys.remove(key);
          yield its == null ? "nil" : before;
        }
        case "STRLEN" -> ":" + before.length();
        case "GET" -> its == null ? "nil" : before;
        default -> throw new IllegalArgumentException(command);
      };
    }

    String cas(String key, String expected, String string) {
      Value its = get(key);
      if (its == null) {
        return ":0";
      }
      if (!its.isString()) {
        return WRONGTYPE;
      }
      boolean done = its.string().equals(expected);
      if (done) {
        keys.put(key, its.with(string));
      }
      return done ? ":1" : ":0";
    }

    String ofSet(String command, String key, String member) {
      Value its = get(key);
      if (its != null && its.isString()) {
        return WRONGTYPE;
      }
      TreeSet<String> set = its == null || its.set() == null ? new TreeSet<>() : its.set();
      boolean done =
          switch (command) {
            case "ZADD" -> set.add(member);
            case "ZREM" -> set.remove(member);
            default -> false;
          };
      if (set.isEmpty()) {
        keys.remove(key);
      } else if (its == null) {
        keys.put(key, new Value("", set, 0));
      }
      return switch (command) {
        case "ZCARD" -> ":" + set.size();
        case "ZRANGEBYLEX" -> set.toString();
        default -> done ? ":1" : ":0";
      };
    }

    String keys() {
      get("");
      return keys.keySet().toString();
    }

    private String string(String key) {
      Value its = get(key);
      return its == null || !its.isString() ? "nil" : its.string();
    }

    String entry(@Nullable String key) {
      return key == null ? "nil" : "[" + key + ", " + string(key) + "]";
    }
  }

  /** A client that is told what the model says. */
  private static final class Script {
    final SplittableRandom random;
    final Model model;
    final RawClient client;
    final boolean hasSets;
    final List<String> last = new ArrayList<>();

    Script(SplittableRandom random, Model model, RawClient client, boolean hasSets) {
      this.random = random;
      this.model = model;
      this.client = client;
      this.hasSets = hasSets;
    }

    String key() {
      return "k" + random.nextInt(8);
    }

    String string() {
      return switch (random.nextInt(6)) {
        case 0 -> "";
        case 1, 2 -> Integer.toString(random.nextInt(100));
        case 3 -> "x".repeat(random.nextInt(300));
        default -> pick("a", "b", "\2", "\0\0\0\0\0\0\0\0", "\3".repeat(25));
      };
    }

    String pick(String... from) {
      return from[random.nextInt(from.length)];
    }

    /** Returns how long until a deadline, in milliseconds. */
    long millis() {
      return 1L + random.nextInt(pick("a", "b").equals("a") ? 20 : 5_000);
    }

    /** Returns a deadline in the words of a command. */
    List<String> deadline() {
      String unit = pick("EX", "PX", "EXAT", "PXAT");
      return List.of(unit, Long.toString(given(unit)));
    }

    long given(String unit) {
      long at = model.now() + millis() - (random.nextInt(8) == 0 ? 10_000 : 0);
      return switch (unit) {
        case "EX" -> 1 + random.nextInt(3);
        case "PX" -> millis();
        case "EXAT" -> Math.max(1, at / 1000);
        default -> Math.max(1, at);
      };
    }

    void ask(String expected, String... request) throws IOException {
      last.add(String.join(" ", request) + " -> " + expected);
      assertThat(client.ask(request))
          .as(() -> String.join("\n", last.subList(Math.max(0, last.size() - 30), last.size())))
          .isEqualTo(expected);
    }

    void ask(String expected, Collection<String> request) throws IOException {
      ask(expected, request.toArray(String[]::new));
    }

    void step() throws IOException {
      if (random.nextInt(4) == 0) {
        model.clock.addAndGet(random.nextInt(random.nextInt(10) == 0 ? 2_000 : 20));
      }
      String key = key();
      switch (random.nextInt(hasSets ? 22 : 19)) {
        case 0, 1, 2, 3 -> set(key);
        case 4, 5, 6 -> expire(key);
        case 7 -> {
          String option = pick("", "PERSIST", "EX", "PX", "EXAT", "PXAT");
          boolean hasTime = option.length() > 0 && !option.equals("PERSIST");
          long given = hasTime ? given(option) : 0;
          List<String> request = new ArrayList<>(List.of("GETEX", key));
          if (!option.isEmpty()) {
            request.add(option);
          }
          if (hasTime) {
            request.add(Long.toString(given));
          }
          ask(model.getEx(key, option, given), request);
        }
        case 8, 9 -> {
          String command = pick("TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME");
          ask(model.time(command, key), command, key);
        }
        case 10 -> {
          Value its = model.get(key);
          boolean done = its != null && its.deadline() != 0;
          if (done && its != null) {
            model.keys.put(key, its.until(0));
          }
          ask(done ? ":1" : ":0", "PERSIST", key);
        }
        case 11, 12 -> {
          String command = pick("INCR", "GETDEL", "STRLEN", "GET");
          ask(model.change(command, key, ""), command, key);
          String changing = pick("APPEND", "GETSET");
          String argument = string();
          ask(model.change(changing, key, argument), changing, key, argument);
          String part = string();
          ask(model.change("SETRANGE", key, part), "SETRANGE", key, "1", part);
        }
        case 13 -> {
          String command = pick("RENAME", "RENAMENX", "COPY");
          String other = key();
          boolean replace = command.equals("COPY") && random.nextBoolean();
          List<String> request = new ArrayList<>(List.of(command, key, other));
          if (replace) {
            request.add("REPLACE");
          }
          ask(model.move(command, key, other, replace), request);
        }
        case 14 -> {
          String other = key();
          boolean isNew = random.nextBoolean();
          boolean done = !isNew || (model.get(key) == null && model.get(other) == null);
          String one = string();
          String two = string();
          if (done) {
            model.keys.put(key, Value.of(one, 0));
            model.keys.put(other, Value.of(two, 0));
          }
          String reply = isNew ? done ? ":1" : ":0" : "+OK";
          ask(reply, isNew ? "MSETNX" : "MSET", key, one, other, two);
        }
        case 15 -> {
          boolean is = model.get(key) != null;
          ask(is ? ":1" : ":0", "EXISTS", key);
          if (random.nextInt(3) == 0) {
            model.keys.remove(key);
            ask(is ? ":1" : ":0", "DEL", key);
          }
        }
        case 16 -> {
          Value its = model.get(key);
          boolean matches = its != null && its.isString() && random.nextBoolean();
          String expected = matches && its != null ? its.string() : string();
          String string = string();
          ask(model.cas(key, expected, string), "PANDO.CAS", key, expected, string);
        }
        case 17 -> look(key);
        case 18 -> {
          String other = key();
          ask("[" + model.string(key) + ", " + model.string(other) + "]", "MGET", key, other);
        }
        default -> {
          String command = pick("ZADD", "ZADD", "ZREM", "ZCARD", "ZRANGEBYLEX");
          String member = pick("a", "b", "c");
          List<String> request =
              switch (command) {
                case "ZADD" -> List.of(command, key, "1", member);
                case "ZREM" -> List.of(command, key, member);
                case "ZCARD" -> List.of(command, key);
                default -> List.of(command, key, "-", "+");
              };
          ask(model.ofSet(command, key, member), request);
        }
      }
    }

    private void set(String key) throws IOException {
      String string = string();
      if (random.nextInt(5) == 0) {
        long given = millis();
        model.set(key, string, List.of("PX", Long.toString(given)));
        ask("+OK", "PSETEX", key, Long.toString(given), string);
        return;
      }
      List<String> options = new ArrayList<>();
      switch (random.nextInt(6)) {
        case 0 -> {}
        case 1 -> options.add("KEEPTTL");
        default -> options.addAll(deadline());
      }
      String condition = pick("", "", "", "NX", "XX");
      if (!condition.isEmpty()) {
        options.add(condition);
      }
      if (random.nextInt(3) == 0) {
        options.addFirst("GET");
      }
      List<String> request = new ArrayList<>(List.of("SET", key, string));
      request.addAll(options);
      ask(model.set(key, string, options), request);
    }

    private void expire(String key) throws IOException {
      String command = pick("EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT");
      long given =
          random.nextInt(10) == 0
              ? -random.nextInt(10)
              : given(
                  switch (command) {
                    case "EXPIRE" -> "EX";
                    case "PEXPIRE" -> "PX";
                    case "EXPIREAT" -> "EXAT";
                    default -> "PXAT";
                  });
      List<String> options =
          switch (random.nextInt(8)) {
            case 0 -> List.of("NX");
            case 1 -> List.of("XX");
            case 2 -> List.of("GT");
            case 3 -> List.of("LT");
            case 4 -> List.of("XX", "GT");
            default -> List.of();
          };
      List<String> request = new ArrayList<>(List.of(command, key, Long.toString(given)));
      request.addAll(options);
      ask(model.expire(command, key, given, options), request);
    }

    private void look(String key) throws IOException {
      String all = model.keys();
      ask(all, "KEYS", "*");
      ask("[0, " + all + "]", "SCAN", "0", "COUNT", "100");
      ask(model.entry(model.keys.floorKey(key)), "PANDO.FLOOR", key);
      ask(model.entry(model.keys.ceilingKey(key)), "PANDO.CEILING", key);
      int limit = random.nextInt(10);
      List<String> up = model.keys.keySet().stream().limit(limit).toList();
      List<String> down = model.keys.descendingKeySet().stream().limit(limit).toList();
      ask(up.toString(), "PANDO.RANGE", "-", "+", "KEYS", "LIMIT", Integer.toString(limit));
      ask(
          down.toString(),
          "PANDO.RANGE",
          "+",
          "-",
          "REV",
          "KEYS",
          "LIMIT",
          Integer.toString(limit));
      pages(1 + random.nextInt(3));
      String some = client.ask("RANDOMKEY");
      assertThat(some).isIn(model.keys.isEmpty() ? List.of("nil") : model.keys.keySet());
      Value its = model.get(key);
      ask(its == null ? "+none" : its.isString() ? "+string" : "+zset", "TYPE", key);
      if (!hasSets) {
        ask(":" + model.keys.size(), "DBSIZE");
      }
    }

    private void pages(int count) throws IOException {
      List<String> found = new ArrayList<>();
      String cursor = "0";
      do {
        String page = client.ask("SCAN", cursor, "COUNT", Integer.toString(count));
        cursor = page.substring(1, page.indexOf(','));
        String keys = page.substring(page.indexOf(',') + 3, page.length() - 2);
        found.addAll(keys.isEmpty() ? List.of() : List.of(keys.split(", ", -1)));
      } while (!cursor.equals("0"));
      assertThat(found.toString()).isEqualTo(model.keys());
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"OWN", "SHARED", "REMOTE"})
  void shouldAnswerAsTheModel(Form form) throws Exception {
    long seed = Seeds.of(7);
    AtomicLong clock = new AtomicLong(START);
    Model model = new Model(clock);
    try (TestDoor door = TestDoor.open(form, clock::get);
        RawClient client = door.raw()) {
      Script script = new Script(new SplittableRandom(seed), model, client, form == Form.OWN);
      for (int i = 0; i < STEPS; i++) {
        script.step();
      }
      checkTimes(door, form, model);
      clock.addAndGet(10_000_000);
      model.keys();
      awaitSwept(door, client, model, form);
      script.look("k4");
    }
  }

  /** Each key that expires has an entry of its deadline. */
  private static void checkTimes(TestDoor door, Form form, Model model) {
    model.keys();
    List<String> entries = times(door, form);
    model.keys.forEach((key, value) -> {
      if (value.deadline() != 0) {
        String stored = form == Form.OWN ? "\0" + key : key;
        assertThat(entries).contains(value.deadline() + " " + stored);
      }
    });
    assertThat(entries).doesNotHaveDuplicates();
  }

  private static List<String> times(TestDoor door, Form form) {
    Keyspace keyspace =
        form == Form.OWN
            ? new OwnKeyspace(door.index(), door.index())
            : new SharedKeyspace(door.index());
    try (Times times = new Times(keyspace)) {
      return times.before(Long.MAX_VALUE, Integer.MAX_VALUE).stream()
          .map(due -> due.millis() + " " + text(due.key()))
          .toList();
    }
  }

  /** Nothing of what is due stays. */
  private static void awaitSwept(TestDoor door, RawClient client, Model model, Form form)
      throws IOException {
    int entries;
    int bare;
    do {
      client.ask("PING");
      entries = 0;
      bare = 0;
      try (ByteSession session = door.index().session()) {
        int[] counts = new int[2];
        session.scan(
            MemorySegment.ofArray(new byte[0]),
            null,
            Long.MAX_VALUE,
            (key, _) -> {
              counts[key.get(JAVA_BYTE, 0) == (form == Form.OWN ? 0 : 'k') ? 0 : 1]++;
              return true;
            });
        bare = counts[0];
        entries = counts[1];
      }
    } while (bare > model.keys.size()
        || entries > model.keys.values().stream().mapToInt(ExpiryModelTest::members).sum());
    assertThat(client.ask("DBSIZE")).isEqualTo(":" + model.keys.size());
    assertThat(client.ask("INFO", "keyspace")).doesNotContainPattern("expires=[1-9]");
  }

  private static int members(Value value) {
    return value.set() == null ? 0 : value.set().size();
  }

  private static String text(MemorySegment bytes) {
    return new String(bytes.toArray(JAVA_BYTE), ISO_8859_1);
  }
}
