package pando.door.resp;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Commands on keys, whatever they have. */
final class KeyCommands {
  private static final int SCANNED = 10;
  private static final Pattern CURSOR = Pattern.compile("(?:([-+])?([0-9]+))?");

  private KeyCommands() {}

  static List<Command> all() {
    return List.of(
        new Command("DEL", -2, KeyCommands::del),
        new Command("UNLINK", -2, KeyCommands::del),
        new Command("EXISTS", -2, KeyCommands::exists),
        new Command("TOUCH", -2, KeyCommands::exists),
        new Command("TYPE", 2, KeyCommands::type),
        new Command("DBSIZE", 1, KeyCommands::dbSize),
        new Command("FLUSHALL", -1, KeyCommands::flushAll),
        new Command("FLUSHDB", -1, KeyCommands::flushDb),
        new Command("KEYS", 2, KeyCommands::keys),
        new Command("SCAN", -2, KeyCommands::scan),
        new Command("RANDOMKEY", 1, KeyCommands::randomKey),
        new Command("RENAME", 3, KeyCommands::rename),
        new Command("RENAMENX", 3, call -> call.reply(renamed(call, true))),
        new Command("COPY", -3, KeyCommands::copy),
        new Command("OBJECT", -2, KeyCommands::object),
        new Command("MEMORY", -2, KeyCommands::memory));
  }

  private static void del(RespCall call) {
    long count = 0;
    for (int i = 1; i < call.request.count(); i++) {
      if (call.store.remove(call.key(i))) {
        count++;
      }
    }
    call.replies.integer(count);
  }

  private static void exists(RespCall call) {
    long count = 0;
    for (int i = 1; i < call.request.count(); i++) {
      if (call.hit(call.store.find(call.key(i)))) {
        count++;
      }
    }
    call.replies.integer(count);
  }

  private static void type(RespCall call) {
    boolean found = call.store.find(call.key(1));
    call.replies.simple(found ? typeOf(call.keyspace.isString(call.store.value())) : "none");
  }

  static String typeOf(boolean isString) {
    return isString ? "string" : "zset";
  }

  private static void dbSize(RespCall call) {
    call.replies.integer(call.store.count(call.client.database));
  }

  private static void flushAll(RespCall call) {
    checkFlush(call);
    call.store.requireBackground();
    for (int database = 0; database < call.keyspace.databases(); database++) {
      call.store.clear(database);
    }
    call.replies.ok();
  }

  private static void flushDb(RespCall call) {
    checkFlush(call);
    call.store.requireBackground();
    call.store.clear(call.client.database);
    call.replies.ok();
  }

  private static void checkFlush(RespCall call) {
    boolean hasOption = call.request.count() == 2;
    if (call.request.count() > 2
        || (hasOption && !call.request.is(1, "SYNC") && !call.request.is(1, "ASYNC"))) {
      throw Refusal.syntax();
    }
  }

  private static void keys(RespCall call) {
    Page page = new Page(call, pattern(call, 1), null);
    page.visitAll();
    call.replies.arrayBefore(page.matching());
  }

  private static void scan(RespCall call) {
    long cursor = cursor(call);
    @Nullable Glob pattern = null;
    @Nullable String type = null;
    long count = SCANNED;
    for (int i = 2; i < call.request.count(); i += 2) {
      if (i + 1 == call.request.count()) {
        throw Refusal.syntax();
      }
      if (call.request.is(i, "MATCH")) {
        pattern = pattern(call, i + 1);
      } else if (call.request.is(i, "COUNT")) {
        count = call.request.integer(i + 1);
        if (count < 1) {
          throw Refusal.syntax();
        }
      } else if (call.request.is(i, "TYPE")) {
        type = call.request.text(i + 1);
      } else {
        throw Refusal.syntax();
      }
    }
    Page page = new Page(call, pattern, type);
    long next = page.visitBehind(cursor, Math.min(count, Replies.ENTRIES_MAX));
    call.replies.arrayBefore(page.matching());
    String text = Long.toString(next);
    call.replies.insertBefore("*2\r\n$" + text.length() + "\r\n" + text + "\r\n");
  }

  private static void randomKey(RespCall call) {
    byte[] prefix = call.keyspace.prefix(call.client.database);
    byte[] key = new RandomKey(call.store, prefix).choose();
    if (key == null) {
      call.replies.nil();
    } else {
      call.replies.bulk(key, prefix.length, key.length - prefix.length);
    }
  }

  private static void rename(RespCall call) {
    boolean _ = renamed(call, false);
    call.replies.ok();
  }

  private static boolean renamed(RespCall call, boolean onlyNew) {
    return call.store.rename(call.key(1), call.key(2), onlyNew);
  }

  private static void copy(RespCall call) {
    RespRequest request = call.request;
    int database = call.client.database;
    boolean replace = false;
    for (int i = 3; i < request.count(); i++) {
      if (request.is(i, "REPLACE")) {
        replace = true;
      } else if (request.is(i, "DB") && i + 1 < request.count()) {
        database = call.database(++i);
      } else {
        throw Refusal.syntax();
      }
    }
    MemorySegment key = call.key(1);
    MemorySegment other = call.key(2, database);
    boolean isSame =
        database == call.client.database && request.argument(1).mismatch(request.argument(2)) < 0;
    if (isSame) {
      throw new Refusal("ERR source and destination objects are the same");
    }
    call.reply(call.store.copy(key, other, replace));
  }

  /**
   * What an object is encoded as is a matter of Redis; the door has the words, by what it stores.
   */
  private static void object(RespCall call) {
    if (!call.request.is(1, "ENCODING")) {
      throw call.unknownSubcommand(
          "OBJECT", "FREQ IDLETIME REFCOUNT HELP", "the index keeps none of it");
    }
    RespCall.checkArity("object|encoding", call.request.count(), 3);
    if (!call.store.find(call.key(2))) {
      call.replies.nil();
    } else if (!call.keyspace.isString(call.store.value())) {
      call.replies.bulk("skiplist");
    } else {
      call.replies.bulk(StringCommands.encoding(call));
    }
  }

  /**
   * Replies with the bytes that a key and what it has take in the pool, where they are as they are.
   */
  private static void memory(RespCall call) {
    RespRequest request = call.request;
    if (!request.is(1, "USAGE")) {
      throw call.unknownSubcommand(
          "MEMORY",
          "DOCTOR MALLOC-STATS PURGE STATS HELP",
          "INFO memory and PANDO.STATS have sizes");
    }
    if (request.count() < 3) {
      throw Refusal.wrongArguments("memory|usage");
    }
    for (int i = 3; i < request.count(); i += 2) {
      if (!request.is(i, "SAMPLES") || i + 1 == request.count()) {
        throw Refusal.syntax();
      }
      if (request.integer(i + 1) < 0) {
        throw Refusal.syntax();
      }
    }
    MemorySegment key = call.key(2);
    if (!call.store.find(key)) {
      call.replies.nil();
      return;
    }
    long bytes = key.byteSize() + call.store.value().byteSize();
    call.replies.integer(
        call.keyspace.isString(call.store.value())
            ? bytes
            : bytes + call.store.sets().bytes(call.client.database, key));
  }

  private static Glob pattern(RespCall call, int i) {
    call.store.work(call.request.length(i) / Glob.LETTERS_OF_WORK);
    return new Glob(call.request.copy(i, 0));
  }

  /** Reads a cursor as C does: up to a NUL, with a sign or without, none as 0. */
  private static long cursor(RespCall call) {
    String given = call.request.text(1);
    int end = given.indexOf('\0');
    Matcher cursor = CURSOR.matcher(end < 0 ? given : given.substring(0, end));
    if (!cursor.matches()) {
      throw invalidCursor();
    }
    String digits = cursor.group(2);
    try {
      long number = digits == null ? 0 : Long.parseUnsignedLong(digits);
      return "-".equals(cursor.group(1)) ? -number : number;
    } catch (NumberFormatException e) {
      throw invalidCursor();
    }
  }

  private static Refusal invalidCursor() {
    return new Refusal("ERR invalid cursor");
  }
}
