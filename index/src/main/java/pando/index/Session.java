package pando.index;

/**
 * One thread's access to an index. Once warm, no operation allocates Java objects, except to
 * receive a batch of new nodes from a memory server, and in ORCA to merge changes into a leaf.
 *
 * <p>After an operation that found an entry, {@link #key()} and {@link #value()} return it until
 * the next operation; after {@link #store}, {@link #discard}, {@link #getAll}, {@link #putAll} and
 * {@link #sizeEstimate} they are undefined. Point operations are linearizable.
 *
 * <p>Failures of the environment are {@link pando.fabric.PandoException}s: {@link
 * CorruptNodeException}, {@link pando.fabric.PoolFullException}, {@link
 * pando.fabric.MemoryServerLostException}, {@link pando.fabric.StalledException}, {@link
 * pando.fabric.server.CallFailedException}, {@link NotServedHereException}, {@link
 * pando.fabric.FencedException}, and {@link pando.fabric.UnknownOutcomeException}. Only after the
 * last one may the operation have happened ({@link #putAll} has a rule of its own). After each of
 * them the session stays usable, except for operations that need a verb of a compute server that is
 * fenced. No lock stays behind, except for those of such a compute server.
 *
 * <p>An {@link Error} is rethrown unchanged; if the operation may have happened, an {@link
 * pando.fabric.UnknownOutcomeException} is among its suppressed exceptions. An operation that finds
 * less room on the stack than it needs throws a {@link StackOverflowError}, and has done nothing.
 * After {@link #close()}, after the index was closed, and inside a visitor of the session's own
 * scan, every operation throws {@link IllegalStateException}.
 *
 * <p>Not thread-safe: one session, one thread.
 */
public interface Session extends AutoCloseable {
  /** Returns the key of the entry that the last operation found. */
  long key();

  /**
   * Returns the value of the entry that the last operation found: the value before the operation
   * changed it.
   */
  long value();

  /** Finds the entry of a key. */
  boolean get(long key);

  /**
   * Stores a value, whether or not the key is there.
   *
   * @return whether the key was there; {@link #value()} is then the value replaced
   */
  boolean put(long key, long value);

  /**
   * Stores a value if the key is absent.
   *
   * @return whether the value was stored; else {@link #value()} is the value that is there
   */
  boolean putIfAbsent(long key, long value);

  /**
   * Replaces the value of a key that is there.
   *
   * @return whether the key was there; {@link #value()} is then the value replaced
   */
  boolean update(long key, long value);

  /**
   * Removes a key.
   *
   * @return whether the key was there; {@link #value()} is then the value removed
   */
  boolean remove(long key);

  /**
   * Replaces the value of a key if it is the one that is expected.
   *
   * @return whether it was; else {@link #value()} is the value that is there, 0 if the key is
   *     absent
   */
  boolean replace(long key, long expected, long value);

  /**
   * Removes a key if it has the value that is expected.
   *
   * @return whether it had; else {@link #value()} is the value that is there, 0 if the key is
   *     absent
   */
  boolean remove(long key, long expected);

  /**
   * Stores a value, whether or not the key is there, and does not say whether it was. For callers
   * that need no answer: a system may save the look at what was there before.
   */
  void store(long key, long value);

  /**
   * Removes a key if it is there, and does not say whether it was. For callers that need no answer:
   * a system may save the look at what was there before.
   */
  void discard(long key);

  /**
   * Finds the entries of several keys, in any order; a key may come more than once. The result for
   * {@code keys[i]} is at the same place of the other arrays. Each lookup is linearizable by
   * itself; they have no given order, and together they are no snapshot.
   *
   * <p>If it throws, some of the results may have been set, each of which is right.
   *
   * @param from place of the first key
   * @param count number of keys, 0 or more
   * @param values receives the value of each key that is there, and keeps what it has for others;
   *     another array than {@code keys}
   * @param found receives whether each key is there
   * @return how many of the keys are there, each as often as it was asked for
   * @throws IllegalArgumentException if {@code values} is {@code keys}
   * @throws IndexOutOfBoundsException if an array has no such places
   */
  int getAll(long[] keys, int from, int count, long[] values, boolean[] found);

  /**
   * Stores values under several keys, in any order, whether or not they are there, as {@link
   * #store} does. A key that comes more than once gets the last of its values. Each value is stored
   * linearizably by itself; they have no given order, and together they are no transaction.
   *
   * <p>If it throws, any of the values may have been stored. The exception is that of the value at
   * which it ended: this value may have been stored after an {@link
   * pando.fabric.UnknownOutcomeException}, and was not stored after any other.
   *
   * @param from place of the first key, and of its value
   * @param count number of keys, 0 or more
   * @param values the value of each key, at the same place
   * @throws IndexOutOfBoundsException if an array has no such places
   */
  void putAll(long[] keys, int from, int count, long[] values);

  /** Finds the entry with the greatest key at or below {@code key}. */
  boolean floor(long key);

  /** Finds the entry with the least key at or above {@code key}. */
  boolean ceiling(long key);

  /** Finds the entry with the greatest key below {@code key}. */
  boolean lower(long key);

  /** Finds the entry with the least key above {@code key}. */
  boolean higher(long key);

  /** Finds the entry with the least key. */
  boolean first();

  /** Finds the entry with the greatest key. */
  boolean last();

  /**
   * Visits entries in ascending order of their keys, from {@code from} to {@code to} inclusive;
   * neither need exist. Keys come in order and without duplicates; every key that is present during
   * the whole scan is visited; every value was current at some moment of the scan.
   *
   * <p>{@link RangeIndex#close} does not wait for a scan whose visitor runs.
   *
   * @param from first key
   * @param to last key, at or above {@code from}
   * @param limit entries at the most, 0 or more
   * @param visitor receives each entry and may end the scan
   * @return the number of entries visited
   * @throws IllegalArgumentException if {@code from} is above {@code to} or {@code limit} is
   *     negative
   * @throws IllegalStateException also in the midst of the scan, when it needs its next leaf, if
   *     the index was closed
   */
  long scan(long from, long to, long limit, EntryVisitor visitor);

  /** As {@link #scan(long, long, long, EntryVisitor)} without an upper bound. */
  default long scan(long from, long limit, EntryVisitor visitor) {
    return scan(from, Long.MAX_VALUE, limit, visitor);
  }

  /**
   * Visits entries in descending order of their keys, from {@code from} down to {@code to}
   * inclusive, and else as {@link #scan}, at the cost of a scan up over the same entries.
   *
   * @param from first and greatest key
   * @param to last and least key, at or below {@code from}
   * @param limit entries at the most, 0 or more
   * @param visitor receives each entry and may end the scan
   * @return the number of entries visited
   * @throws IllegalArgumentException if {@code from} is below {@code to} or {@code limit} is
   *     negative
   * @throws IllegalStateException also in the midst of the scan, when it needs its next leaf, if
   *     the index was closed
   */
  long scanDown(long from, long to, long limit, EntryVisitor visitor);

  /** As {@link #scanDown(long, long, long, EntryVisitor)} without a lower bound. */
  default long scanDown(long from, long limit, EntryVisitor visitor) {
    return scanDown(from, Long.MIN_VALUE, limit, visitor);
  }

  /**
   * Returns about how many entries there are. Fewer than 1,000 are counted exactly, by a scan; more
   * are estimated, nearly always within 10 %. Changes meanwhile are counted or not.
   *
   * <p>The estimate READs all nodes of the upper levels, as long as a level has 128 or fewer. Below
   * them it READs paths to leaves that are drawn at random, 32 to 1,024 of them, until the standard
   * error is 2.5 %: some hundred READs in all, and as many for each partition. ROLEX and XStore-D
   * READ leaves alone, as their models know how many there are. ORCA issues no verb beyond the
   * scan: its directories know the records of leaves. Each change that waits in a delta counts as
   * one entry more or less, even if it changes the number by none. In EMT-D each tree counts its
   * entries, so one word of each memory server is READ.
   *
   * @throws NotServedHereException if another process serves some of the partitions
   */
  long sizeEstimate();

  /**
   * Returns about how many entries this process serves: those of its own ranges if the index has
   * partitions, all if it has none. {@link #sizeEstimate} is for all.
   */
  default long servedSizeEstimate() {
    return sizeEstimate();
  }

  /**
   * Runs an action while no other thread of this process operates on the index: operations that
   * have begun end first, later ones wait, and scans wait between two leaves. This thread's own
   * operations go on, by any session. So the action reads a snapshot, and others see all of its
   * changes or none; but a failure in the middle undoes nothing. In a partitioned index this holds
   * for the keys that this process serves. An operation that ended with an unknown outcome may take
   * effect later, and so during the action.
   *
   * <p>The action should be short, as all others wait. It must not wait for a thread that operates
   * on the index. It must not close or load the index, look at its space or move its partitions,
   * nor run another such action: these throw {@link IllegalStateException}.
   *
   * @throws IllegalStateException if other processes could change the same keys: those of an index
   *     without partitions that has compute servers elsewhere
   * @throws pando.fabric.StalledException if an operation does not end within ten seconds, or a
   *     change of the index as a whole within a hundred; the action has not begun then
   */
  void alone(Runnable action);

  /** Ends the session. */
  @Override
  void close();
}
