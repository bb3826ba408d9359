package pando.index.dex;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.index.EntryVisitor;
import pando.index.Session;

/**
 * One thread's access to a DEX index by the bytes of its keys, which all have the length that
 * {@code key-bytes} says, and order byte by byte, as unsigned numbers. A key is the bytes of a
 * whole segment, native or of an array; one of another length is refused by an {@link
 * IllegalArgumentException}.
 *
 * <p>In a {@link Session} of the same index the key of a number is the number with its sign bit
 * turned over, big-endian, written one behind the other until the length is reached. That session
 * finds and scans such keys alone: one that meets another key throws {@link IllegalStateException}.
 *
 * <p>All else is as in {@link Session}: what operations promise, what they throw, and that once
 * warm they allocate nothing. Several keys at a time, and an estimate of the size, are not here.
 *
 * <p>Not thread-safe: one session, one thread.
 */
public final class WideSession implements AutoCloseable {
  private static final ValueLayout.OfLong WORD =
      JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final DexSession session;
  private final long keyBytes;
  private final MemorySegment key;
  private final MemorySegment keyView;
  private final EntryVisitor entryVisitor = this::visit;

  /** Receives the entries of the scan that runs, if one does. */
  private @Nullable WideVisitor visitor;

  WideSession(DexSession session, int keyBytes) {
    this.session = session;
    this.keyBytes = keyBytes;
    this.key = MemorySegment.ofArray(new byte[keyBytes]);
    this.keyView = key.asReadOnly();
  }

  /**
   * Returns a view of the key of the entry that the last operation found. The next operation
   * overwrites it; it may be the argument of that operation.
   */
  public MemorySegment key() {
    return keyView;
  }

  /**
   * Returns the value of the entry that the last operation found, before it was changed; as in
   * {@link Session#value()}.
   */
  public long value() {
    return session.value();
  }

  /** Finds the entry of a key. */
  public boolean get(MemorySegment wanted) {
    return session.get(take(wanted));
  }

  /** As {@link Session#put}. */
  public boolean put(MemorySegment wanted, long value) {
    return session.put(take(wanted), value);
  }

  /** As {@link Session#putIfAbsent}. */
  public boolean putIfAbsent(MemorySegment wanted, long value) {
    return session.putIfAbsent(take(wanted), value);
  }

  /** As {@link Session#update}. */
  public boolean update(MemorySegment wanted, long value) {
    return session.update(take(wanted), value);
  }

  /** As {@link Session#remove(long)}. */
  public boolean remove(MemorySegment wanted) {
    return session.remove(take(wanted));
  }

  /** As {@link Session#replace}. */
  public boolean replace(MemorySegment wanted, long expected, long value) {
    return session.replace(take(wanted), expected, value);
  }

  /** As {@link Session#remove(long, long)}. */
  public boolean remove(MemorySegment wanted, long expected) {
    return session.remove(take(wanted), expected);
  }

  /** As {@link Session#store}. */
  public void store(MemorySegment wanted, long value) {
    session.store(take(wanted), value);
  }

  /** As {@link Session#discard}. */
  public void discard(MemorySegment wanted) {
    session.discard(take(wanted));
  }

  /** Finds the entry with the greatest key at or below a key. */
  public boolean floor(MemorySegment wanted) {
    return found(session.floor(take(wanted)));
  }

  /** Finds the entry with the least key at or above a key. */
  public boolean ceiling(MemorySegment wanted) {
    return found(session.ceiling(take(wanted)));
  }

  /** Finds the entry with the greatest key below a key. */
  public boolean lower(MemorySegment wanted) {
    take(wanted);
    return session.step(true)
        ? found(session.floor(session.wanted[0]))
        : session.lower(Long.MIN_VALUE);
  }

  /** Finds the entry with the least key above a key. */
  public boolean higher(MemorySegment wanted) {
    take(wanted);
    return session.step(false)
        ? found(session.ceiling(session.wanted[0]))
        : session.higher(Long.MAX_VALUE);
  }

  /** Finds the entry with the least key. */
  public boolean first() {
    session.check();
    Arrays.fill(session.wanted, Long.MIN_VALUE);
    return found(session.ceiling(Long.MIN_VALUE));
  }

  /** Finds the entry with the greatest key. */
  public boolean last() {
    session.check();
    Arrays.fill(session.wanted, Long.MAX_VALUE);
    return found(session.floor(Long.MAX_VALUE));
  }

  /** As {@link Session#scan(long, long, long, EntryVisitor)}: both bounds are inclusive. */
  public long scan(MemorySegment from, MemorySegment to, long limit, WideVisitor visitor) {
    return scan(from, to, false, limit, visitor);
  }

  /** As {@link Session#scanDown(long, long, long, EntryVisitor)}: both bounds are inclusive. */
  public long scanDown(MemorySegment from, MemorySegment to, long limit, WideVisitor visitor) {
    return scan(from, to, true, limit, visitor);
  }

  private long scan(
      MemorySegment from, MemorySegment to, boolean down, long limit, WideVisitor receiver) {
    Objects.requireNonNull(receiver, "visitor");
    take(from, session.wanted);
    take(to, session.last);
    int order = Arrays.compare(session.wanted, session.last);
    if (down ? order < 0 : order > 0) {
      throw new IllegalArgumentException(
          "range is reversed: from="
              + session.text(session.wanted)
              + ", to="
              + session.text(session.last));
    }
    visitor = receiver;
    try {
      // The bounds are there as words.
      return down
          ? session.scanDown(0, 0, limit, entryVisitor)
          : session.scan(0, 0, limit, entryVisitor);
    } finally {
      visitor = null;
    }
  }

  private boolean visit(long at, long value) {
    give(session.scanKeys, (int) at);
    return Objects.requireNonNull(visitor).visit(keyView, value);
  }

  /** As {@link Session#alone}: this thread goes on by any session, a {@link Session}, too. */
  public void alone(Runnable action) {
    session.alone(action);
  }

  /** Takes a key to the words of the session, and returns the first of them. */
  private long take(MemorySegment wanted) {
    take(wanted, session.wanted);
    MemorySegment.copy(wanted, 0, key, 0, keyBytes);
    return session.wanted[0];
  }

  private void take(MemorySegment wanted, long[] words) {
    if (wanted.byteSize() != keyBytes) {
      throw new IllegalArgumentException(
          "the key has another length: keyBytes=%s, expected=%s"
              .formatted(wanted.byteSize(), keyBytes));
    }
    session.check();
    for (int i = 0; i < words.length; i++) {
      words[i] = wanted.get(WORD, (long) i * Long.BYTES) ^ Long.MIN_VALUE;
    }
  }

  private void give(long[] words, int at) {
    for (int i = 0; i < session.wanted.length; i++) {
      key.set(WORD, (long) i * Long.BYTES, words[at + i] ^ Long.MIN_VALUE);
    }
  }

  private boolean found(boolean isThere) {
    if (isThere) {
      give(session.found, 0);
    }
    return isThere;
  }

  /** Ends the session. */
  @Override
  public void close() {
    session.close();
  }
}
