package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.LongUnaryOperator;
import pando.door.resp.Store.Exchange;

/**
 * Commands on one string. Those that read a string and store another one compare it as they store,
 * and begin again if it has changed meanwhile.
 */
final class StringCommands {
  private static final int EMBEDDED_BYTES_MAX = 44;
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private StringCommands() {}

  static List<Command> all() {
    return List.of(
        new Command("GET", 2, StringCommands::get),
        new Command("SET", -3, StringCommands::set),
        new Command(
            "SETNX", 3, call -> call.reply(call.store.putIfAbsent(call.key(1), call.string(2)))),
        new Command("SETEX", 4, call -> setUntil(call, "SETEX", ExpiryOption.EX)),
        new Command("PSETEX", 4, call -> setUntil(call, "PSETEX", ExpiryOption.PX)),
        new Command(
            "GETSET", 3, call -> reply(call, call.store.exchange(call.key(1), call.string(2)))),
        new Command("GETDEL", 2, call -> reply(call, call.store.take(call.key(1)))),
        new Command("GETEX", -2, StringCommands::getUntil),
        new Command("STRLEN", 2, StringCommands::strLen),
        new Command("GETRANGE", 4, StringCommands::getRange),
        new Command("SUBSTR", 4, StringCommands::getRange),
        new Command("SETRANGE", 4, StringCommands::setRange),
        new Command("APPEND", 3, StringCommands::append),
        new Command("INCR", 2, call -> add(call, 1)),
        new Command("DECR", 2, call -> add(call, -1)),
        new Command("INCRBY", 3, call -> add(call, call.request.integer(2))),
        new Command("DECRBY", 3, StringCommands::decrBy),
        new Command("INCRBYFLOAT", 3, StringCommands::addDecimal));
  }

  private static void get(RespCall call) {
    reply(call, call.hit(call.store.findString(call.key(1))));
  }

  private static void set(RespCall call) {
    StringOptions options = StringOptions.of(call.request, "SET", 3);
    MemorySegment key = call.key(1);
    MemorySegment string = call.string(2, options.deadline(call));
    boolean stored;
    boolean found;
    if (options.onlyNew()) {
      stored = call.store.putIfAbsent(key, string);
      found = !stored;
      if (found && options.get()) {
        call.store.requireString();
      }
    } else if (options.keepsDeadline() || options.onlyKnown()) {
      boolean create = !options.onlyKnown();
      found =
          call.store.exchange(
              key, string, new Exchange(create, options.get(), options.keepsDeadline()));
      stored = found || create;
    } else if (options.get()) {
      found = call.store.exchange(key, string);
      stored = true;
    } else {
      call.store.put(key, string);
      found = false;
      stored = true;
    }
    if (options.get()) {
      reply(call, found);
    } else if (stored) {
      call.replies.ok();
    } else {
      call.replies.nil();
    }
  }

  private static void setUntil(RespCall call, String command, ExpiryOption how) {
    MemorySegment key = call.key(1);
    call.store.put(key, call.string(3, how.positive(call, 2, command)));
    call.replies.ok();
  }

  /** Replies with a string, and gives it another deadline, if one is asked for. */
  private static void getUntil(RespCall call) {
    StringOptions options = StringOptions.of(call.request, "GETEX", 2);
    MemorySegment key = call.key(1);
    boolean found;
    boolean done;
    do {
      found = call.store.findString(key);
      done = !found || setDeadline(call, options, key);
    } while (!done);
    reply(call, call.hit(found));
  }

  /** Gives the string that was found the deadline that is asked for, if it is still there. */
  private static boolean setDeadline(RespCall call, StringOptions options, MemorySegment key) {
    long deadline = options.deadline(call);
    MemorySegment string = call.store.value();
    if (deadline != Keyspace.NEVER) {
      return call.store.expire(key, string, deadline);
    }
    boolean expires = call.keyspace.deadline(string) != Keyspace.NEVER;
    return !(options.persists() && expires) || call.store.setDeadline(key, string, Keyspace.NEVER);
  }

  /** Replies with the string that was found last, if there was one. */
  static void reply(RespCall call, boolean found) {
    if (found) {
      call.replyValue();
    } else {
      call.replies.nil();
    }
  }

  private static void strLen(RespCall call) {
    call.replies.integer(length(call, call.hit(call.store.findString(call.key(1)))));
  }

  /** Returns the length of the string that was found last, if there was one. */
  private static int length(RespCall call, boolean found) {
    return found ? call.keyspace.payloadBytes(call.store.value()) : 0;
  }

  /** Replies with a part of a string; places below 0 count from its end. */
  private static void getRange(RespCall call) {
    long start = call.request.integer(2);
    long end = call.request.integer(3);
    boolean found = call.hit(call.store.findString(call.key(1)));
    long length = length(call, found);
    boolean isReversed = start < 0 && end < 0 && start > end;
    long from = Math.max(start < 0 ? length + start : start, 0);
    long last = Math.min(Math.max(end < 0 ? length + end : end, 0), length - 1);
    if (isReversed || from > last) {
      call.replies.bulk("");
    } else {
      int skipped = call.keyspace.markBytes + (int) from;
      call.replies.bulk(call.store.value(), skipped, (int) (last - from) + 1);
    }
  }

  /** Stores bytes over those of a string from a place on, with zeros up to there. */
  private static void setRange(RespCall call) {
    long offset = call.request.integer(2);
    if (offset < 0) {
      throw new Refusal("ERR offset is out of range");
    }
    MemorySegment part = call.request.argument(3);
    if (part.byteSize() == 0) {
      call.replies.integer(length(call, call.store.findString(call.key(1))));
      return;
    }
    long end = offset + Math.min(part.byteSize(), Long.MAX_VALUE - offset);
    write(call, part, _ -> offset, length -> Math.max(length, end));
  }

  private static void append(RespCall call) {
    MemorySegment more = call.request.argument(2);
    write(call, more, length -> length, length -> length + more.byteSize());
  }

  /**
   * Writes bytes into a string, which keeps its deadline; replies with its length.
   *
   * @param start where they begin, by how long the string is
   * @param sum how long it is going to be, by how long it is
   */
  private static void write(
      RespCall call, MemorySegment part, LongUnaryOperator start, LongUnaryOperator sum) {
    Keyspace keyspace = call.keyspace;
    MemorySegment key = call.key(1);
    while (true) {
      boolean found = call.store.findString(key);
      MemorySegment before = found ? call.store.value() : NOTHING;
      int length = length(call, found);
      long deadline = keyspace.deadline(before);
      long bytes = sum.applyAsLong(length);
      checkSum(call, bytes);
      byte[] room = keyspace.room(bytes, deadline);
      MemorySegment after = MemorySegment.ofArray(room);
      MemorySegment.copy(before, 0, after, 0, found ? keyspace.markBytes + length : 0);
      after.asSlice(keyspace.markBytes + start.applyAsLong(length)).copyFrom(part);
      if (stored(call, key, found, before, keyspace.stored(room, deadline))) {
        call.replies.integer(bytes);
        return;
      }
    }
  }

  /** Stores a string in place of the one that was found, if any; returns whether none has come. */
  private static boolean stored(
      RespCall call, MemorySegment key, boolean found, MemorySegment before, MemorySegment after) {
    return found ? call.store.replace(key, before, after) : call.store.putIfAbsent(key, after);
  }

  /** Checks how long a string is going to be that is made of two. */
  private static void checkSum(RespCall call, long bytes) {
    int most = call.keyspace.stringBytesMax();
    if (bytes > most) {
      throw new Refusal(
          "ERR string exceeds maximum allowed size: bytes=" + bytes + ", maximum=" + most);
    }
  }

  private static void decrBy(RespCall call) {
    long less = call.request.integer(2);
    if (less == Long.MIN_VALUE) {
      throw new Refusal("ERR decrement would overflow");
    }
    add(call, -less);
  }

  private static void add(RespCall call, long more) {
    MemorySegment key = call.key(1);
    while (true) {
      boolean found = call.store.findString(key);
      MemorySegment before = found ? call.store.value() : NOTHING;
      long sum = sum(found ? call.integer(before) : 0, more);
      MemorySegment after = until(call, before, call.number(sum));
      if (stored(call, key, found, before, after)) {
        call.replies.integer(sum);
        return;
      }
    }
  }

  /** Returns a string without a deadline with that of the one before. */
  private static MemorySegment until(RespCall call, MemorySegment before, MemorySegment string) {
    long deadline = call.keyspace.deadline(before);
    return deadline == Keyspace.NEVER ? string : call.keyspace.withDeadline(string, deadline);
  }

  private static void addDecimal(RespCall call) {
    MemorySegment key = call.key(1);
    int markBytes = call.keyspace.markBytes;
    while (true) {
      boolean found = call.store.findString(key);
      MemorySegment before = found ? call.store.value() : NOTHING;
      String digits =
          found ? new String(call.keyspace.payload(before).toArray(JAVA_BYTE), ISO_8859_1) : "0";
      String sum = Decimals.sum(digits, call.request.text(2));
      byte[] stored = ("\0" + sum).getBytes(ISO_8859_1);
      MemorySegment after =
          until(call, before, MemorySegment.ofArray(stored).asSlice(1L - markBytes));
      if (stored(call, key, found, before, after)) {
        call.replies.bulk(stored, 1, stored.length - 1);
        return;
      }
    }
  }

  /** Returns how Redis encodes a new string such as the one that was found last. */
  static String encoding(RespCall call) {
    MemorySegment stored = call.store.value();
    long length = call.keyspace.payloadBytes(stored);
    try {
      long _ = call.integer(stored);
      return "int";
    } catch (Refusal e) {
      return length <= EMBEDDED_BYTES_MAX ? "embstr" : "raw";
    }
  }

  private static long sum(long one, long other) {
    long sum = one + other;
    if (((one ^ sum) & (other ^ sum)) < 0) {
      throw new Refusal("ERR increment or decrement would overflow");
    }
    return sum;
  }
}
