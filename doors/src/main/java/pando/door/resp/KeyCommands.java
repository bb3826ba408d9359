package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Commands on keys, whatever they have. */
final class KeyCommands {
  private static final byte[] NOTHING = new byte[0];
  private static final int SCANNED = 10;

  private KeyCommands() {}

  static List<Command> all() {
    return List.of(
        new Command("DEL", -2, KeyCommands::del),
        new Command("UNLINK", -2, KeyCommands::del),
        new Command("EXISTS", -2, KeyCommands::exists),
        new Command("TYPE", 2, KeyCommands::type),
        new Command("DBSIZE", 1, KeyCommands::dbSize),
        new Command("FLUSHDB", -1, KeyCommands::flushDb),
        new Command("KEYS", 2, KeyCommands::keys),
        new Command("SCAN", -2, KeyCommands::scan));
  }

  private static void del(Call call) {
    long count = 0;
    for (int i = 1; i < call.request.count(); i++) {
      if (call.store.remove(call.key(i))) {
        count++;
      }
    }
    call.replies.integer(count);
  }

  private static void exists(Call call) {
    long count = 0;
    for (int i = 1; i < call.request.count(); i++) {
      if (call.store.find(call.key(i))) {
        count++;
      }
    }
    call.replies.integer(count);
  }

  private static void type(Call call) {
    boolean found = call.store.find(call.key(1));
    call.replies.simple(found ? typeOf(call.keyspace.isString(call.store.value())) : "none");
  }

  private static String typeOf(boolean isString) {
    return isString ? "string" : "zset";
  }

  private static void dbSize(Call call) {
    call.replies.integer(call.store.count(call.client.database));
  }

  private static void flushDb(Call call) {
    boolean hasOption = call.request.count() == 2;
    if (call.request.count() > 2
        || (hasOption && !call.request.is(1, "SYNC") && !call.request.is(1, "ASYNC"))) {
      throw Refusal.syntax();
    }
    call.store.clear(call.client.database);
    call.replies.ok();
  }

  private static void keys(Call call) {
    Page page = new Page(call, new Glob(call.request.copy(1, 0)), null);
    page.visit(null, Long.MAX_VALUE);
    call.replies.arrayBefore(0, page.matching);
  }

  private static void scan(Call call) {
    byte @Nullable [] resume = call.door.clients().resumed(cursor(call));
    @Nullable Glob pattern = null;
    @Nullable String type = null;
    long count = SCANNED;
    for (int i = 2; i < call.request.count(); i += 2) {
      if (i + 1 == call.request.count()) {
        throw Refusal.syntax();
      }
      if (call.request.is(i, "MATCH")) {
        pattern = new Glob(call.request.copy(i + 1, 0));
      } else if (call.request.is(i, "COUNT")) {
        count = call.request.integer(i + 1);
      } else if (call.request.is(i, "TYPE")) {
        type = call.request.text(i + 1);
      } else {
        throw Refusal.syntax();
      }
    }
    if (count < 1) {
      throw Refusal.syntax();
    }
    Page page = new Page(call, pattern, type);
    boolean isOver = !page.visit(resume, Math.min(count, Replies.ENTRIES_MAX));
    call.replies.arrayBefore(0, page.matching);
    String next = isOver ? "0" : Long.toUnsignedString(call.client.cursors.add(page.last));
    call.replies.insertBefore(0, "*2\r\n$" + next.length() + "\r\n" + next + "\r\n");
  }

  private static long cursor(Call call) {
    try {
      return Long.parseUnsignedLong(call.request.text(1));
    } catch (NumberFormatException e) {
      throw new Refusal("ERR invalid cursor");
    }
  }

  /** Keys in order from a key on, and which of them are in the reply. */
  private static final class Page {
    private final Call call;
    private final @Nullable Glob pattern;
    private final @Nullable String type;
    private final byte[] prefix;

    int matching;
    byte[] last = NOTHING;
    private long left;

    Page(Call call, @Nullable Glob pattern, @Nullable String type) {
      this.call = call;
      this.pattern = pattern;
      this.type = type;
      byte[] its = pattern == null ? NOTHING : pattern.prefix();
      byte[] database = call.keyspace.prefix(call.client.database);
      this.prefix = Arrays.copyOf(database, database.length + its.length);
      System.arraycopy(its, 0, prefix, database.length, its.length);
    }

    /**
     * Visits keys behind one, or from the first.
     *
     * @return whether there may be more of them behind {@link #last}
     */
    boolean visit(byte @Nullable [] behind, long limit) {
      byte[] from = behind == null ? prefix : next(behind);
      if (from == null || prefix.length > call.keyspace.strings().keyBytesMax()) {
        return false; // no key is that great, or that long
      }
      left = limit;
      call.store.scan(
          from,
          Stored.behindAll(prefix),
          false,
          limit,
          (key, value) -> {
            visit(key.toArray(JAVA_BYTE), call.keyspace.isString(value));
            return true;
          });
      return left == 0;
    }

    /** Returns where to go on behind a key, perhaps of another database. */
    private byte @Nullable [] next(byte[] behind) {
      byte[] database = call.keyspace.prefix(call.client.database);
      byte[] last = behind.clone();
      System.arraycopy(database, 0, last, 0, database.length);
      byte[] next = call.store.behind(last);
      return next == null || Arrays.compareUnsigned(next, prefix) > 0 ? next : prefix;
    }

    private void visit(byte[] key, boolean isString) {
      int start = call.keyspace.markBytes;
      left--;
      last = key;
      if ((type == null || type.equalsIgnoreCase(typeOf(isString)))
          && (pattern == null || pattern.matches(Arrays.copyOfRange(key, start, key.length)))) {
        StringCommands.checkEntries(++matching);
        call.replies.bulk(key, start, key.length - start);
      }
    }
  }
}
