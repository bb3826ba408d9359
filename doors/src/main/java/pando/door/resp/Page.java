package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Keys of a database in order, which of them are in the reply, and where the next page begins. */
final class Page {
  private static final byte[] NOTHING = new byte[0];

  /** Keys behind one that this door knows among which it looks first for one that it does not. */
  private static final int NEAR = 10_000;

  private final RespCall call;
  private final @Nullable Glob pattern;
  private final @Nullable String type;
  private final byte[] database;
  private final byte[] prefix;
  private final byte @Nullable [] behind;

  private int matching;
  private byte[] last = NOTHING;
  private long left;

  Page(RespCall call, @Nullable Glob pattern, @Nullable String type) {
    this.call = call;
    this.pattern = pattern;
    this.type = type;
    this.database = call.keyspace.prefix(call.client.database);
    this.prefix = inDatabase(pattern == null ? NOTHING : pattern.prefix());
    this.behind = Stored.behindAll(prefix);
  }

  private byte[] inDatabase(byte[] key) {
    byte[] its = Arrays.copyOf(database, database.length + key.length);
    System.arraycopy(key, 0, its, database.length, key.length);
    return its;
  }

  /** Returns the number of keys that were added to the reply. */
  int matching() {
    return matching;
  }

  /** Visits all keys. */
  void visitAll() {
    visit(prefix, Long.MAX_VALUE);
  }

  /**
   * Visits the keys behind a cursor.
   *
   * @return the cursor behind which there may be more, 0 if there are none
   */
  long visitBehind(long cursor, long limit) {
    byte[] from = cursor == 0 ? prefix : start(cursor);
    if (from == null || !visit(from, limit)) {
      return 0;
    }
    long next = Cursors.of(MemorySegment.ofArray(last), database.length);
    call.door.cursors().add(next, Arrays.copyOfRange(last, database.length, last.length));
    return next;
  }

  /** Returns where to go on, perhaps in another database; {@code null} if there is no such key. */
  private byte @Nullable [] start(long cursor) {
    byte[] known = call.door.cursors().key(cursor);
    byte[] key = known == null ? find(cursor) : inDatabase(known);
    byte[] next = key == null ? firstWithSameStart(cursor) : call.store.behind(key);
    return next == null || isAbove(next, prefix) ? next : prefix;
  }

  /** Looks for the key of a cursor that this door does not know, first where it was last. */
  private byte @Nullable [] find(long cursor) {
    byte[] end = Stored.behindAll(inDatabase(Cursors.leading(cursor)));
    byte[] to = end == null || (behind != null && isAbove(end, behind)) ? behind : end;
    byte[] near = call.door.cursors().lastWithSameStart(cursor);
    byte[] found = near == null ? null : find(cursor, inDatabase(near), to, NEAR);
    return found == null ? find(cursor, firstWithSameStart(cursor), to, Long.MAX_VALUE) : found;
  }

  private byte @Nullable [] find(long cursor, byte[] start, byte @Nullable [] to, long limit) {
    byte[][] found = new byte[1][];
    call.store.scan(
        isAbove(start, prefix) ? start : prefix,
        to,
        false,
        limit,
        (key, _) -> {
          boolean is = Cursors.of(key, database.length) == cursor;
          if (is) {
            found[0] = key.toArray(JAVA_BYTE);
          }
          return !is;
        });
    return found[0];
  }

  /** Returns the least key whose cursor may be this one. */
  private byte[] firstWithSameStart(long cursor) {
    byte[] leading = Cursors.leading(cursor);
    int length = leading.length;
    while (length > 0 && leading[length - 1] == 0) {
      length--;
    }
    return inDatabase(Arrays.copyOf(leading, length));
  }

  private static boolean isAbove(byte[] one, byte[] other) {
    return Arrays.compareUnsigned(one, other) > 0;
  }

  /** Visits keys; returns whether there may be more of them behind the last one. */
  private boolean visit(byte[] from, long limit) {
    if (prefix.length > call.keyspace.strings().keyBytesMax()) {
      return false; // no key is that long
    }
    left = limit;
    call.store.scan(
        from,
        behind,
        false,
        limit,
        (key, value) -> {
          visit(key.toArray(JAVA_BYTE), call.keyspace.isString(value));
          return true;
        });
    return left == 0;
  }

  private void visit(byte[] key, boolean isString) {
    int start = database.length;
    left--;
    last = key;
    call.store.work(pattern == null ? 0 : pattern.work(key.length));
    if ((type == null || type.equalsIgnoreCase(KeyCommands.typeOf(isString)))
        && (pattern == null || pattern.matches(Arrays.copyOfRange(key, start, key.length)))) {
      Replies.checkEntries(++matching);
      call.replies.bulk(key, start, key.length - start);
    }
  }
}
