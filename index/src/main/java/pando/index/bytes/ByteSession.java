package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One thread's access to {@link ByteStrings}. The bytes of a key or value are those of a whole
 * segment, native or of an array.
 *
 * <p>After an operation that found an entry, {@link #key()} and {@link #value()} return it until
 * the next operation. Operations on one key are linearizable. So are {@link #floor} and the like if
 * one process serves all keys that they pass. A client asks one compute server after the other:
 * each answer is linearizable, several together are not. Any operation throws {@link
 * pando.index.NotServedHereException} for a key that this process neither serves nor can ask for; a
 * scan visits the entries before it. Failures of the environment, what happens after {@link
 * #close()}, and what a visitor may do are as in {@link pando.index.Session}.
 *
 * <p>A key or value that is longer than {@link ByteStrings#keyBytesMax} or {@link
 * ByteStrings#valueBytesMax} is refused with an {@link IllegalArgumentException}. Arguments may be
 * segments that this session has returned.
 *
 * <p>Not thread-safe: one session, one thread.
 */
public interface ByteSession extends AutoCloseable {
  /**
   * Returns the key of the entry that the last operation found. If the caller gave the key, it is
   * the caller's segment, and changes if the caller changes that.
   */
  MemorySegment key();

  /**
   * Returns the value of the entry that the last operation found, before it was changed. It cannot
   * be written to. Each call may make a new segment of the same bytes. The next operation
   * overwrites them, and {@link #close} of the session or of the index may free them: copy what
   * must stay.
   */
  MemorySegment value();

  /** Finds the entry of a key. */
  boolean get(MemorySegment wanted);

  /**
   * Stores a value, whether or not the key is there.
   *
   * @return whether the key was there; {@link #value()} is then the value replaced
   */
  boolean put(MemorySegment wanted, MemorySegment stored);

  /**
   * Stores a value if the key is absent.
   *
   * @return whether the value was stored; else {@link #value()} is the value that is there
   */
  boolean putIfAbsent(MemorySegment wanted, MemorySegment stored);

  /**
   * Replaces the value of a key that is there.
   *
   * @return whether the key was there; {@link #value()} is then the value replaced
   */
  boolean update(MemorySegment wanted, MemorySegment stored);

  /**
   * Removes a key.
   *
   * @return whether the key was there; {@link #value()} is then the value removed
   */
  boolean remove(MemorySegment wanted);

  /**
   * Replaces the value of a key if it is the one that is expected.
   *
   * @return whether it was; else {@link #value()} is the value that is there, empty if the key is
   *     absent
   */
  boolean replace(MemorySegment wanted, MemorySegment expected, MemorySegment stored);

  /**
   * Removes a key if it has the value that is expected.
   *
   * @return whether it had; else {@link #value()} is the value that is there, empty if the key is
   *     absent
   */
  boolean remove(MemorySegment wanted, MemorySegment expected);

  /** Stores a value, whether or not the key is there, and does not say whether it was. */
  void store(MemorySegment wanted, MemorySegment stored);

  /** Removes a key if it is there, and does not say whether it was. */
  void discard(MemorySegment wanted);

  /**
   * Looks up several keys. Each is a lookup of its own, as by {@link #get}, in any order; the
   * receiver gets what they came to in the order of the keys. A failure is that of one lookup, and
   * the others are done. Over a network many are under way at once.
   *
   * <p>The receiver must not use the session, and what it throws ends this method. {@link #key()}
   * and {@link #value()} are of no use afterwards until another operation.
   *
   * @throws IllegalStateException if the session or the byte strings are closed; perhaps only for
   *     those keys that the receiver has not got
   */
  default void getAll(List<MemorySegment> keys, ByteReceiver receiver) {
    boolean goesOn = true;
    for (int i = 0; goesOn && i < keys.size(); i++) {
      MemorySegment found = null;
      RuntimeException failure = null;
      try {
        found = get(keys.get(i)) ? value() : null;
      } catch (RuntimeException e) {
        failure = e;
      }
      goesOn = receiver.receive(i, found, failure);
    }
  }

  /**
   * Stores several values. Each is a {@link #store} of its own, in any order, but values of the
   * same key are stored in that of the list. The rest is as in {@link #getAll}.
   *
   * @param values as many as keys
   * @throws IllegalArgumentException if they are not as many
   */
  default void storeAll(
      List<MemorySegment> keys, List<MemorySegment> values, ByteReceiver receiver) {
    ByteArguments.checkCounts(keys, values);
    boolean goesOn = true;
    for (int i = 0; goesOn && i < keys.size(); i++) {
      RuntimeException failure = null;
      try {
        store(keys.get(i), values.get(i));
      } catch (RuntimeException e) {
        failure = e;
      }
      goesOn = receiver.receive(i, null, failure);
    }
  }

  /**
   * Says which keys are operated on next, so that the processor fetches what is cached of them all
   * at once; without this it waits for each. Changes nothing, and does nothing where nothing is
   * cached in this process.
   *
   * @throws IllegalStateException if the session is closed, or in a scan
   */
  default void expect(List<MemorySegment> keys) {}

  /** Finds the entry with the greatest key at or below a key. */
  boolean floor(MemorySegment wanted);

  /** Finds the entry with the least key at or above a key. */
  boolean ceiling(MemorySegment wanted);

  /** Finds the entry with the greatest key below a key. */
  boolean lower(MemorySegment wanted);

  /** Finds the entry with the least key above a key. */
  boolean higher(MemorySegment wanted);

  /** Finds the entry with the least key. */
  boolean first();

  /** Finds the entry with the greatest key. */
  boolean last();

  /**
   * Visits entries in ascending order of their keys, with the promises of {@link
   * pando.index.Session#scan(long, long, long, pando.index.EntryVisitor)}.
   *
   * @param from first key, inclusive
   * @param to the first key behind the range, {@code null} if it has no end
   * @param limit entries at the most, 0 or more
   * @return the number of entries visited
   * @throws IllegalArgumentException if {@code from} is above {@code to} or the limit is negative
   */
  long scan(MemorySegment from, @Nullable MemorySegment to, long limit, ByteVisitor visitor);

  /**
   * Visits entries in descending order of their keys, with the promises of {@link #scan}.
   *
   * @param from the first key behind the range, {@code null} if it has no end: the scan begins with
   *     the greatest key below
   * @param to the last key, inclusive
   * @param limit entries at the most, 0 or more
   * @return the number of entries visited
   * @throws IllegalArgumentException if {@code from} is below {@code to} or the limit is negative
   */
  long scanDown(@Nullable MemorySegment from, MemorySegment to, long limit, ByteVisitor visitor);

  /**
   * Runs an action while no other thread operates on the index: see {@link
   * pando.index.Session#alone}.
   *
   * @throws IllegalStateException if other processes operate on it, too, which this one cannot keep
   *     out
   */
  void alone(Runnable action);

  /**
   * Operates on several keys at one moment: others see all changes of an action or none, and if the
   * byte strings are in a data folder, so does the next process that opens it. If the action
   * throws, or one of its changes fails, none of them stays.
   *
   * <p>Others wait meanwhile, so the action must be short. It must use the session that it is given
   * and no other one of these byte strings.
   *
   * @param keys that the action uses; {@code null} for any: then all others wait
   * @param action is given the session, which is of no use behind it
   * @throws IllegalArgumentException if the action changes another key that others may change
   *     meanwhile, or its changes are too long for the log of the data folder, or take too much
   *     memory with what they replace
   * @throws IllegalStateException if other processes operate on the byte strings, too, which this
   *     one cannot keep out, or if this session runs an action already
   * @throws pando.fabric.UnknownOutcomeException if changes could not be undone: then any of them
   *     may have happened
   */
  void atomically(@Nullable Collection<MemorySegment> keys, Consumer<ByteSession> action);

  /** Ends the session. */
  @Override
  void close();
}
