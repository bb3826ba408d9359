package pando.door.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.door.resp.TestDoor.Form;
import pando.index.Seeds;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisDataException;

/** Random scripts of all commands on keys, through a client that others have written. */
class RespModelTest {
  private static final int STEPS = Seeds.count(4_000, 24_000, 1_000_000);
  private static final String WRONGTYPE =
      "WRONGTYPE Operation against a key holding the wrong kind of value";
  private static final String NOT_A_NUMBER = "ERR value is not an integer or out of range";

  /** Databases of strings and of sets, and what each command does with them. */
  private static final class Model {
    final List<NavigableMap<String, Object>> databases =
        List.of(new TreeMap<>(), new TreeMap<>(), new TreeMap<>());
    int database;

    NavigableMap<String, Object> keys() {
      return databases.get(database);
    }

    @Nullable String string(String key) {
      Object value = keys().get(key);
      if (value instanceof NavigableSet) {
        throw new Refusal(WRONGTYPE);
      }
      return (String) value;
    }

    @SuppressWarnings("unchecked")
    NavigableSet<String> set(String key) {
      Object value = keys().get(key);
      if (value instanceof String) {
        throw new Refusal(WRONGTYPE);
      }
      return value == null ? new TreeSet<>() : (NavigableSet<String>) value;
    }

    void put(String key, NavigableSet<String> set) {
      if (set.isEmpty()) {
        keys().remove(key);
      } else {
        keys().put(key, set);
      }
    }

    private long add(String key, long more) {
      String before = string(key);
      long sum;
      try {
        sum = Math.addExact(before == null ? 0 : Long.parseLong(before), more);
      } catch (NumberFormatException e) {
        throw new Refusal(NOT_A_NUMBER);
      }
      keys().put(key, Long.toString(sum));
      return sum;
    }

    @Nullable Object run(String name, List<String> a) {
      String key = a.isEmpty() ? "" : a.getFirst();
      return switch (name) {
        case "GET" -> string(key);
        case "SET" -> set(key, a);
        case "SETNX" -> keys().putIfAbsent(key, a.get(1)) == null ? 1L : 0L;
        case "GETSET" -> {
          String old = string(key);
          keys().put(key, a.get(1));
          yield old;
        }
        case "GETDEL" -> {
          String gone = string(key);
          keys().remove(key);
          yield gone;
        }
        case "MGET" -> {
          List<Object> found = new ArrayList<>();
          a.forEach(each -> found.add(keys().get(each) instanceof String its ? its : null));
          yield found;
        }
        case "MSET" -> {
          for (int i = 0; i < a.size(); i += 2) {
            keys().put(a.get(i), a.get(i + 1));
          }
          yield "OK";
        }
        case "DEL", "UNLINK" -> a.stream().filter(each -> keys().remove(each) != null).count();
        case "EXISTS" -> a.stream().filter(keys()::containsKey).count();
        case "STRLEN" -> {
          String its = string(key);
          yield its == null ? 0L : (long) its.length();
        }
        case "APPEND" -> {
          String before = string(key);
          String after = (before == null ? "" : before) + a.get(1);
          keys().put(key, after);
          yield (long) after.length();
        }
        case "INCR" -> add(key, 1);
        case "DECR" -> add(key, -1);
        case "INCRBY" -> add(key, Long.parseLong(a.get(1)));
        case "DECRBY" -> add(key, -Long.parseLong(a.get(1)));
        case "TYPE" -> {
          Object value = keys().get(key);
          yield value == null ? "none" : value instanceof String ? "string" : "zset";
        }
        case "DBSIZE" -> (long) keys().size();
        case "FLUSHDB" -> {
          keys().clear();
          yield "OK";
        }
        case "SELECT" -> {
          database = Integer.parseInt(key);
          yield "OK";
        }
        case "KEYS" -> {
          String prefix = key.substring(0, key.length() - 1);
          yield keys().keySet().stream().filter(each -> each.startsWith(prefix)).toList();
        }
        case "PANDO.FLOOR" -> entry(keys().floorEntry(key));
        case "PANDO.CEILING" -> entry(keys().ceilingEntry(key));
        case "PANDO.CAS" -> {
          boolean is = a.get(1).equals(string(key));
          if (is) {
            keys().put(key, a.get(2));
          }
          yield is ? 1L : 0L;
        }
        case "PANDO.RANGE" -> range(a);
        default -> runOnSet(name, key, a);
      };
    }

    private @Nullable Object set(String key, List<String> a) {
      List<String> options = a.subList(2, a.size());
      String old = options.contains("GET") ? string(key) : null;
      boolean known = keys().containsKey(key);
      boolean done = (!options.contains("NX") || !known) && (!options.contains("XX") || known);
      if (done) {
        keys().put(key, a.get(1));
      }
      return options.contains("GET") ? old : done ? "OK" : null;
    }

    private static @Nullable List<Object> entry(Map.@Nullable Entry<String, Object> entry) {
      return entry == null ? null : pair(entry.getKey(), entry.getValue());
    }

    private static List<Object> pair(String key, @Nullable Object value) {
      List<Object> pair = new ArrayList<>();
      pair.add(key);
      pair.add(value instanceof String ? value : null);
      return pair;
    }

    private List<Object> range(List<String> a) {
      boolean down = a.contains("REV");
      boolean onlyKeys = a.contains("KEYS");
      int at = a.indexOf("LIMIT");
      long limit = at < 0 ? Long.MAX_VALUE : Long.parseLong(a.get(at + 1));
      List<String> within = within(keys().keySet(), a.get(down ? 1 : 0), a.get(down ? 0 : 1), down);
      List<Object> all = new ArrayList<>();
      within.stream()
          .limit(limit)
          .forEach(key -> {
            if (onlyKeys) {
              all.add(key);
            } else {
              all.addAll(pair(key, keys().get(key)));
            }
          });
      return all;
    }

    private static List<String> within(
        Iterable<String> ordered, String least, String greatest, boolean down) {
      List<String> all = new ArrayList<>();
      for (String each : ordered) {
        if (isAbove(each, least) && isBelow(each, greatest)) {
          all.add(each);
        }
      }
      return down ? all.reversed() : all;
    }

    private static boolean isAbove(String each, String bound) {
      int order = each.compareTo(bound.substring(1));
      return bound.equals("-")
          || (bound.startsWith("[") && order >= 0)
          || (bound.startsWith("(") && order > 0);
    }

    private static boolean isBelow(String each, String bound) {
      int order = each.compareTo(bound.substring(1));
      return bound.equals("+")
          || (bound.startsWith("[") && order <= 0)
          || (bound.startsWith("(") && order < 0);
    }

    private @Nullable Object runOnSet(String name, String key, List<String> a) {
      NavigableSet<String> set = set(key);
      return switch (name) {
        case "ZADD" -> {
          long added = 0;
          for (int i = 2; i < a.size(); i += 2) {
            added += set.add(a.get(i)) ? 1 : 0;
          }
          put(key, set);
          yield added;
        }
        case "ZREM" -> {
          long removed = a.stream().skip(1).filter(set::remove).count();
          put(key, set);
          yield removed;
        }
        case "ZSCORE" -> set.contains(a.get(1)) ? "0" : null;
        case "ZCARD" -> (long) set.size();
        case "ZLEXCOUNT" -> (long) within(set, a.get(1), a.get(2), false).size();
        case "ZREMRANGEBYLEX" -> {
          List<String> gone = within(set, a.get(1), a.get(2), false);
          set.removeAll(gone);
          put(key, set);
          yield (long) gone.size();
        }
        case "ZRANGEBYLEX", "ZRANGE", "ZREVRANGEBYLEX" -> {
          boolean down = name.startsWith("ZREV") || a.contains("REV");
          int at = a.indexOf("LIMIT");
          List<String> within = within(set, a.get(down ? 2 : 1), a.get(down ? 1 : 2), down);
          yield at < 0
              ? within
              : within.stream()
                  .skip(Long.parseLong(a.get(at + 1)))
                  .limit(Long.parseLong(a.get(at + 2)))
                  .toList();
        }
        default -> throw new AssertionError(name);
      };
    }
  }

  /** Draws commands. */
  private record Draw(SplittableRandom random, Form form) {
    private static final List<String> NAMES =
        List.of(
            """
            GET GET SET SET SETNX GETSET GETDEL MGET MSET DEL UNLINK EXISTS STRLEN APPEND INCR DECR \
            INCRBY DECRBY TYPE DBSIZE KEYS SELECT ZADD ZADD ZADD ZREM ZSCORE ZCARD ZRANGE \
            ZRANGEBYLEX ZREVRANGEBYLEX ZLEXCOUNT ZREMRANGEBYLEX PANDO.RANGE PANDO.FLOOR \
            PANDO.CEILING PANDO.CAS FLUSHDB\
            """
                .split(" ", -1));

    String name() {
      String name = NAMES.get(random.nextInt(NAMES.size()));
      if (form != Form.OWN && (name.startsWith("Z") || name.equals("SELECT"))) {
        return "PANDO.RANGE";
      }
      return name.equals("FLUSHDB") && random.nextInt(20) > 0 ? "GET" : name;
    }

    /** Draws a key; few begin with z, which mostly have sets, where there are sets. */
    String key(boolean ofSet) {
      if (form != Form.OWN) {
        return word(Form.SHORT_BYTES);
      }
      boolean other = random.nextInt(12) == 0;
      return (ofSet != other ? "z" : "") + word(3);
    }

    String word(int lengthMax) {
      StringBuilder word = new StringBuilder();
      for (int i = random.nextInt(lengthMax + 1); i > 0; i--) {
        word.append("\0ab\377".charAt(random.nextInt(4)));
      }
      return word.toString();
    }

    String value() {
      return switch (random.nextInt(6)) {
        case 0, 1, 2 -> Long.toString(random.nextInt(-50, 1000));
        case 3 -> "x".repeat(random.nextInt(300));
        default -> word(8);
      };
    }

    String bound() {
      return switch (random.nextInt(8)) {
        case 0 -> "-";
        case 1 -> "+";
        case 2, 3, 4 -> "[" + word(form == Form.OWN ? 2 : 6);
        default -> "(" + word(form == Form.OWN ? 2 : 6);
      };
    }

    List<String> arguments(String name) {
      List<String> a = new ArrayList<>();
      boolean ofSet = name.startsWith("Z");
      switch (name) {
        case "DBSIZE", "FLUSHDB" -> {}
        case "SELECT" -> a.add(Integer.toString(random.nextInt(3)));
        case "KEYS" -> a.add(key(false).replace("\0", "") + "*");
        case "MGET", "DEL", "UNLINK", "EXISTS" -> {
          for (int i = random.nextInt(4); i >= 0; i--) {
            a.add(key(random.nextInt(4) == 0));
          }
        }
        case "MSET" -> {
          for (int i = random.nextInt(4); i >= 0; i--) {
            a.addAll(List.of(key(false), value()));
          }
        }
        case "PANDO.RANGE" -> {
          a.addAll(List.of(bound(), bound()));
          if (random.nextBoolean()) {
            a.add("KEYS");
          }
          if (random.nextBoolean()) {
            a.add("REV");
          }
          if (random.nextBoolean()) {
            a.addAll(List.of("LIMIT", Integer.toString(random.nextInt(5))));
          }
        }
        default -> {
          a.add(key(ofSet));
          more(name, a);
        }
      }
      return a;
    }

    private void more(String name, List<String> a) {
      switch (name) {
        case "SET" -> {
          a.add(value());
          a.addAll(
              List.of(
                      List.<String>of(),
                      List.of("NX"),
                      List.of("XX"),
                      List.of("GET"),
                      List.of("XX", "GET"),
                      List.of("GET", "NX"))
                  .get(random.nextInt(6)));
        }
        case "SETNX", "GETSET", "APPEND" -> a.add(value());
        case "INCRBY", "DECRBY" -> a.add(Integer.toString(random.nextInt(-9, 10)));
        case "PANDO.CAS" -> a.addAll(List.of(value(), value()));
        case "ZADD" -> {
          for (int i = random.nextInt(4); i >= 0; i--) {
            a.addAll(List.of("0", word(3)));
          }
        }
        case "ZREM" -> a.addAll(List.of(word(3), word(3)));
        case "ZSCORE" -> a.add(word(3));
        case "ZLEXCOUNT", "ZREMRANGEBYLEX" -> a.addAll(List.of(bound(), bound()));
        case "ZRANGE", "ZRANGEBYLEX", "ZREVRANGEBYLEX" -> {
          a.addAll(List.of(bound(), bound()));
          if (name.equals("ZRANGE")) {
            a.add("BYLEX");
            if (random.nextBoolean()) {
              a.add("REV");
            }
          }
          if (random.nextBoolean()) {
            a.addAll(
                List.of(
                    "LIMIT",
                    Integer.toString(random.nextInt(3)),
                    Integer.toString(random.nextInt(4))));
          }
        }
        default -> {}
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldAnswerAsTheModelDoes(Form form) throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(3101));
    Draw draw = new Draw(random, form);
    Model model = new Model();
    try (TestDoor door = TestDoor.open(form);
        Jedis jedis = door.jedis()) {
      for (int step = 0; step < STEPS; step++) {
        String name = draw.name();
        List<String> arguments = draw.arguments(name);
        String asked = step + ": " + name + " " + arguments;
        assertThat(answer(jedis, name, arguments))
            .as(asked)
            .isEqualTo(answer(model, name, arguments));
        if (step % 500 == 0) {
          String protocol = step % 1000 == 0 ? "3" : "2";
          assertThat(answer(jedis, "HELLO", List.of(protocol))).asString().contains(protocol);
        }
        if (step % 1000 == 0) {
          assertThat(scanned(jedis, random)).isEqualTo(List.copyOf(model.keys().keySet()));
        }
      }
    }
  }

  /** Many requests are sent before a reply is read; most are GETs and SETs. */
  @ParameterizedTest
  @EnumSource
  void shouldAnswerPipelinesAsTheModelDoes(Form form) throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(3102));
    Draw draw = new Draw(random, form);
    Model model = new Model();
    try (TestDoor door = TestDoor.open(form);
        Jedis jedis = door.jedis()) {
      for (int step = 0; step < STEPS / 20; step++) {
        List<String> asked = new ArrayList<>();
        List<@Nullable Object> expected = new ArrayList<>();
        List<Response<Object>> replies = new ArrayList<>();
        try (Pipeline pipeline = jedis.pipelined()) {
          int percent = random.nextInt(101);
          for (int i = random.nextInt(150); i >= 0; i--) {
            boolean isPlain = random.nextInt(20) > 0;
            boolean gets = random.nextInt(100) < percent;
            String name = isPlain ? (gets ? "GET" : "SET") : draw.name();
            List<String> arguments =
                !isPlain
                    ? draw.arguments(name)
                    : gets ? List.of(draw.key(false)) : List.of(draw.key(false), draw.value());
            asked.add(step + ": " + name + " " + arguments);
            expected.add(answer(model, name, arguments));
            replies.add(pipeline.sendCommand(() -> name.getBytes(ISO_8859_1), bytes(arguments)));
          }
        }
        for (int i = 0; i < asked.size(); i++) {
          assertThat(answer(replies.get(i))).as(asked.get(i)).isEqualTo(expected.get(i));
        }
      }
    }
  }

  private static @Nullable Object answer(Response<Object> reply) {
    try {
      return text(reply.get());
    } catch (JedisDataException e) {
      return "-" + e.getMessage();
    }
  }

  private static byte[][] bytes(List<String> arguments) {
    return arguments.stream().map(each -> each.getBytes(ISO_8859_1)).toArray(byte[][]::new);
  }

  private static @Nullable Object answer(Model model, String name, List<String> arguments) {
    try {
      return model.run(name, arguments);
    } catch (Refusal e) {
      return "-" + e.getMessage();
    } catch (ArithmeticException e) {
      return "-ERR increment or decrement would overflow";
    }
  }

  private static @Nullable Object answer(Jedis jedis, String name, List<String> arguments) {
    String given = name.length() % 2 == 0 ? name.toLowerCase(Locale.ROOT) : name;
    try {
      return text(jedis.sendCommand(() -> given.getBytes(ISO_8859_1), bytes(arguments)));
    } catch (JedisDataException e) {
      return "-" + e.getMessage();
    }
  }

  private static @Nullable Object text(@Nullable Object reply) {
    if (reply instanceof List<?> list) {
      List<Object> texts = new ArrayList<>();
      list.forEach(each -> texts.add(text(each)));
      return texts;
    }
    if (reply instanceof Double score) {
      return Scores.text(score);
    }
    return reply instanceof byte[] bytes ? new String(bytes, ISO_8859_1) : reply;
  }

  private static List<String> scanned(Jedis jedis, SplittableRandom random) {
    List<String> all = new ArrayList<>();
    String cursor = "0";
    do {
      List<String> arguments = List.of(cursor, "COUNT", Integer.toString(1 + random.nextInt(20)));
      List<?> page = (List<?>) Objects.requireNonNull(answer(jedis, "SCAN", arguments));
      cursor = (String) page.getFirst();
      ((List<?>) page.get(1)).forEach(key -> all.add((String) key));
    } while (!cursor.equals("0"));
    return all;
  }
}
