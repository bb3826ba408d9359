package pando.door.resp;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;

/**
 * One event loop's way to the range that has the keys with a deadline in the order of their
 * deadlines. It is beside all keys that clients see:
 *
 * <pre>
 * key                                              value
 * mark | deadline 8 | key as it is stored          nothing
 * </pre>
 *
 * <p>The mark is {@link Keyspace#timesMark}; a deadline is in milliseconds since 1970, big-endian.
 *
 * <p>Each key with a deadline has an entry. An entry may also be left of a deadline that the key no
 * longer has. It does no harm, and goes when it is due. An entry is written <em>before</em> the
 * value, so that a crash in between leaves an entry too many and no value without one. A thread
 * that replaces the value then discards its entry. Meanwhile another one may give the key the very
 * same deadline again, and this is the entry of that one, too. So a thread that discards an entry
 * looks at the key afterwards, and a thread that stores a value looks at the entry afterwards. The
 * last of them finds what the other one has done, and writes the entry again.
 *
 * <p>It has a session of its own, because with a data folder the entries are not in the log: a door
 * that opens makes them from the values. The first operation that needs the session opens it.
 */
final class Times implements AutoCloseable {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private final Keyspace keyspace;
  private final byte[] mark;

  /** Where the key begins. */
  private final int keyAt;

  private @Nullable ByteSession session;

  Times(Keyspace keyspace) {
    this.keyspace = keyspace;
    this.mark = keyspace.timesMark();
    this.keyAt = mark.length + Long.BYTES;
  }

  private ByteSession session() {
    ByteSession its = session;
    if (its == null) {
      its = keyspace.timesSession();
      session = its;
    }
    return its;
  }

  /**
   * Adds a key with its deadline.
   *
   * @throws Refusal if there is no room for so long a key
   */
  void add(long millis, MemorySegment key) {
    check(key);
    session().store(entry(millis, key), NOTHING);
  }

  /** Adds a key with its deadline again, if that has been discarded meanwhile. */
  void keep(long millis, MemorySegment key) {
    MemorySegment entry = entry(millis, key);
    if (!session().get(entry)) {
      session().store(entry, NOTHING);
    }
  }

  /** Removes a deadline that a key no longer has; leaves it if the key has it again. */
  void discard(long millis, MemorySegment key) {
    MemorySegment entry = entry(millis, key);
    session().discard(entry);
    if (session().get(key) && keyspace.deadline(session().value()) == millis) {
      session().store(entry, NOTHING);
    }
  }

  /**
   * Checks that there is room for a key that expires.
   *
   * @throws Refusal if it is too long
   */
  private void check(MemorySegment key) {
    int most = keyspace.strings().keyBytesMax() - keyAt;
    if (key.byteSize() > most) {
      int markBytes = keyspace.markBytes;
      throw new Refusal(
          "ERR the key is too long to expire: bytes=%s, maximum=%s"
              .formatted(key.byteSize() - markBytes, Math.max(most - markBytes, 0)));
    }
  }

  private MemorySegment entry(long millis, MemorySegment key) {
    MemorySegment entry = MemorySegment.ofArray(new byte[keyAt + Math.toIntExact(key.byteSize())]);
    entry.copyFrom(start(millis));
    MemorySegment.copy(key, 0, entry, keyAt, key.byteSize());
    return entry;
  }

  /** Returns what all entries of a deadline begin with. */
  private MemorySegment start(long millis) {
    MemorySegment start = MemorySegment.ofArray(Arrays.copyOf(mark, keyAt));
    start.set(ByteStrings.WORD, mark.length, millis);
    return start;
  }

  /** A key, and a deadline that it has or had. */
  record Due(long millis, MemorySegment key) {}

  /** Returns the first deadlines before a time, with their keys. */
  List<Due> before(long now, int most) {
    List<Due> due = new ArrayList<>();
    List<MemorySegment> broken = new ArrayList<>();
    session()
        .scan(
            start(Keyspace.NEVER),
            start(now),
            most,
            (entry, _) -> {
              if (entry.byteSize() < keyAt) {
                broken.add(Store.copy(entry)); // no door has stored this
              } else {
                MemorySegment key = Store.copy(entry.asSlice(keyAt));
                due.add(new Due(entry.get(ByteStrings.WORD, mark.length), key));
              }
              return true;
            });
    broken.forEach(session()::discard);
    return due;
  }

  @Override
  public void close() {
    ByteSession its = session;
    session = null;
    if (its != null) {
      its.close();
    }
  }
}
