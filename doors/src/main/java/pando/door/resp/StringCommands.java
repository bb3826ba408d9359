package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Commands on strings. Those that read a string and store another one compare it as they store, and
 * begin again if it has changed meanwhile.
 */
final class StringCommands {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private StringCommands() {}

  static List<Command> all() {
    return List.of(
        new Command("GET", 2, StringCommands::get),
        new Command("SET", -3, StringCommands::set),
        new Command(
            "SETNX", 3, call -> call.reply(call.store.putIfAbsent(call.key(1), call.string(2)))),
        new Command("GETSET", 3, call -> exchange(call, true)),
        new Command("GETDEL", 2, StringCommands::getDel),
        new Command("MGET", -2, StringCommands::mGet),
        new Command("MSET", -3, StringCommands::mSet),
        new Command("STRLEN", 2, StringCommands::strLen),
        new Command("APPEND", 3, StringCommands::append),
        new Command("INCR", 2, call -> add(call, 1)),
        new Command("DECR", 2, call -> add(call, -1)),
        new Command("INCRBY", 3, call -> add(call, call.request.integer(2))),
        new Command("DECRBY", 3, StringCommands::decrBy));
  }

  private static void get(Call call) {
    reply(call, call.store.findString(call.key(1)));
  }

  private static void mGet(Call call) {
    int keys = call.request.count() - 1;
    checkEntries(keys);
    call.replies.array(keys);
    for (int i = 1; i <= keys; i++) {
      reply(call, call.store.find(call.key(i)) && call.keyspace.isString(call.store.value()));
    }
  }

  /** Checks how many entries a reply is going to have. */
  static void checkEntries(long entries) {
    if (entries > Replies.ENTRIES_MAX) {
      throw new Refusal(
          "ERR the reply would have too many entries: maximum=" + Replies.ENTRIES_MAX);
    }
  }

  private static void mSet(Call call) {
    int count = call.request.count();
    if (count % 2 == 0) {
      throw Refusal.wrongArguments("mset");
    }
    for (int i = 1; i < count; i += 2) {
      call.key(i); // none is stored if one is too long, or its value
      call.string(i + 1);
    }
    for (int i = 1; i < count; i += 2) {
      call.store.put(call.key(i), call.string(i + 1));
    }
    call.replies.ok();
  }

  private static void set(Call call) {
    boolean onlyNew = false;
    boolean onlyKnown = false;
    boolean get = false;
    for (int i = 3; i < call.request.count(); i++) {
      if (call.request.is(i, "NX")) {
        onlyNew = true;
      } else if (call.request.is(i, "XX")) {
        onlyKnown = true;
      } else if (call.request.is(i, "GET")) {
        get = true;
      } else {
        throw option(call, i);
      }
    }
    if (onlyNew && onlyKnown) {
      throw Refusal.syntax();
    }
    if (get && onlyNew) {
      getOrPut(call);
    } else if (get) {
      exchange(call, !onlyKnown);
    } else if (stored(call, onlyNew, onlyKnown)) {
      call.replies.ok();
    } else {
      call.replies.nil();
    }
  }

  private static Refusal option(Call call, int i) {
    for (String expiry : List.of("EX", "PX", "EXAT", "PXAT", "KEEPTTL")) {
      if (call.request.is(i, expiry)) {
        return Refusal.notSupported("SET " + expiry, Unsupported.NO_EXPIRY);
      }
    }
    return Refusal.syntax();
  }

  private static boolean stored(Call call, boolean onlyNew, boolean onlyKnown) {
    MemorySegment key = call.key(1);
    MemorySegment string = call.string(2);
    if (onlyNew) {
      return call.store.putIfAbsent(key, string);
    }
    if (onlyKnown) {
      return call.store.update(key, string);
    }
    call.store.put(key, string);
    return true;
  }

  /** Returns the string that is there; stores one if there is none. */
  private static void getOrPut(Call call) {
    if (call.store.putIfAbsent(call.key(1), call.string(2))) {
      call.replies.nil();
    } else {
      call.store.requireString();
      call.replyValue();
    }
  }

  /** Stores a string in place of another one, which is the reply. */
  private static void exchange(Call call, boolean create) {
    reply(call, call.store.exchange(call.key(1), call.string(2), create));
  }

  private static void getDel(Call call) {
    reply(call, call.store.take(call.key(1)));
  }

  /** Replies with the string that was found last, if there was one. */
  private static void reply(Call call, boolean found) {
    if (found) {
      call.replyValue();
    } else {
      call.replies.nil();
    }
  }

  private static void strLen(Call call) {
    boolean found = call.store.findString(call.key(1));
    call.replies.integer(found ? call.store.value().byteSize() - call.keyspace.markBytes : 0);
  }

  private static void append(Call call) {
    MemorySegment key = call.key(1);
    MemorySegment more = call.string(2);
    int markBytes = call.keyspace.markBytes;
    while (true) {
      boolean found = call.store.findString(key);
      MemorySegment before = found ? call.store.value() : NOTHING;
      MemorySegment after = found ? joined(before, more.asSlice(markBytes)) : more;
      boolean done =
          found ? call.store.replace(key, before, after) : call.store.putIfAbsent(key, after);
      if (done) {
        call.replies.integer(after.byteSize() - markBytes);
        return;
      }
    }
  }

  private static MemorySegment joined(MemorySegment one, MemorySegment other) {
    byte[] both = new byte[Math.toIntExact(one.byteSize() + other.byteSize())];
    MemorySegment.copy(one, JAVA_BYTE, 0, both, 0, (int) one.byteSize());
    MemorySegment.copy(other, JAVA_BYTE, 0, both, (int) one.byteSize(), (int) other.byteSize());
    return MemorySegment.ofArray(both);
  }

  private static void decrBy(Call call) {
    long less = call.request.integer(2);
    if (less == Long.MIN_VALUE) {
      throw new Refusal("ERR decrement would overflow");
    }
    add(call, -less);
  }

  private static void add(Call call, long more) {
    MemorySegment key = call.key(1);
    while (true) {
      boolean found = call.store.findString(key);
      MemorySegment before = found ? call.store.value() : NOTHING;
      long sum = sum(found ? integer(before, call.keyspace.markBytes) : 0, more);
      MemorySegment after = call.string(sum);
      boolean done =
          found ? call.store.replace(key, before, after) : call.store.putIfAbsent(key, after);
      if (done) {
        call.replies.integer(sum);
        return;
      }
    }
  }

  private static long integer(MemorySegment stored, int skipped) {
    if (stored.byteSize() > skipped + Ascii.INTEGER_BYTES_MAX) {
      throw Refusal.notAnInteger();
    }
    byte[] digits = stored.toArray(JAVA_BYTE);
    return Ascii.integer(digits, skipped, digits.length - skipped);
  }

  private static long sum(long one, long other) {
    long sum = one + other;
    if (((one ^ sum) & (other ^ sum)) < 0) {
      throw new Refusal("ERR increment or decrement would overflow");
    }
    return sum;
  }
}
