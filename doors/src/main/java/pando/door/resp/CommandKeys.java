package pando.door.resp;

import static java.util.Map.entry;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which arguments of a command are keys.
 *
 * @param isWrite whether the command may change them
 * @param first argument that is a key; 0 if the command is on keys that are no arguments
 * @param last one; counted from the end, if negative
 * @param step from one key to the next
 */
record CommandKeys(boolean isWrite, int first, int last, int step) {
  private static final Map<String, CommandKeys> ALL =
      all(
          entry(
              new CommandKeys(true, 1, 1, 1),
              """
              APPEND DECR DECRBY EXPIRE EXPIREAT GETDEL GETEX GETSET INCR INCRBY INCRBYFLOAT PANDO.CAS
              PERSIST PEXPIRE PEXPIREAT PSETEX SET SETEX SETNX SETRANGE ZADD ZREM ZREMRANGEBYLEX\
              """),
          entry(new CommandKeys(true, 1, -1, 1), "DEL UNLINK"),
          entry(new CommandKeys(true, 1, -1, 2), "MSET MSETNX"),
          entry(new CommandKeys(true, 1, 2, 1), "COPY RENAME RENAMENX"),
          entry(
              new CommandKeys(false, 1, 1, 1),
              """
              EXPIRETIME GET GETRANGE PEXPIRETIME PTTL STRLEN SUBSTR TTL TYPE ZCARD ZLEXCOUNT ZRANGE
              ZRANGEBYLEX ZREVRANGEBYLEX ZSCORE\
              """),
          entry(new CommandKeys(false, 1, -1, 1), "EXISTS MGET TOUCH WATCH"),
          entry(new CommandKeys(false, 2, 2, 1), "MEMORY OBJECT"),
          entry(new CommandKeys(true, 0, 0, 0), "FLUSHALL FLUSHDB"),
          entry(
              new CommandKeys(false, 0, 0, 0),
              "DBSIZE KEYS PANDO.CEILING PANDO.FLOOR PANDO.RANGE RANDOMKEY SCAN"));

  @SafeVarargs
  private static Map<String, CommandKeys> all(Map.Entry<CommandKeys, String>... groups) {
    Map<String, CommandKeys> all = new HashMap<>();
    for (Map.Entry<CommandKeys, String> group : groups) {
      Stream.of(group.getValue().split("\\s+", -1)).forEach(name -> all.put(name, group.getKey()));
    }
    return Map.copyOf(all);
  }

  /** Returns the keys of a command by its name in capitals; {@code null} if it is on none. */
  static @Nullable CommandKeys of(String name) {
    return ALL.get(name);
  }

  /** Returns whether all keys that the command is on are arguments. */
  boolean areArguments() {
    return first > 0;
  }

  /** Visits all arguments of a request that are keys. */
  void forEach(RespRequest request, IntConsumer argument) {
    int end = last < 0 ? request.count() + last : Math.min(last, request.count() - 1);
    for (int i = first; i > 0 && i <= end; i += step) {
      argument.accept(i);
    }
  }
}
