package pando.durable;

import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.fabric.PandoException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.memory.StackRoom;
import pando.index.EntryVisitor;
import pando.index.Lease;
import pando.index.Session;
import pando.index.session.Operation;
import pando.journal.LogFailedException;

/**
 * One thread's access to a {@link DurableIndex}. Changes are in the log when they return, and what
 * an operation answers is, too: with {@code sync=always} on the disk. {@link #sizeEstimate} alone
 * waits for nothing.
 *
 * <p>Beside what {@link Session} says, a change throws {@link pando.journal.LogFullException} if
 * the log has no room, and has done nothing, and {@link pando.journal.LogFailedException} if the
 * log has failed. It may have taken effect then, but nobody will read that.
 */
public final class DurableSession implements Session {
  private final Session inner;
  private final Stripes stripes;
  private final SessionLog log;
  private final ChangeTurn turn;
  private final EntryVisitor checked = this::visit;

  /** Of the scan that is under way. */
  private @Nullable ScanProgress progress;

  /** Of scans that are not within another one. */
  private final ScanProgress usual = new ScanProgress();

  /** How far a scan is. */
  private static final class ScanProgress {
    EntryVisitor receiver = (_, _) -> false;
    int mark;
    long next;
    long last;
    long visited;

    /** Whether the scan of the index came to its end, and did not stop to be read again. */
    boolean isOver;

    /** Whether the visitor has ended it. */
    boolean isEnded;

    void begin(EntryVisitor its, long from) {
      receiver = its;
      next = from;
      visited = 0;
      isEnded = false;
    }
  }

  DurableSession(Session inner, Stripes stripes, SessionLog log, @Nullable Lease lease) {
    this.inner = inner;
    this.stripes = stripes;
    this.log = log;
    this.turn = new ChangeTurn(stripes, log, lease);
  }

  /**
   * Has operations return from now on without waiting until records are safe. Their caller waits,
   * up to {@link #dependsOn} or by {@link #whenSafe}, before it tells others what they have
   * answered.
   */
  public DurableSession deferred() {
    turn.defer();
    return this;
  }

  /**
   * Returns the place in the log up to which all must be safe, so that what this session has
   * answered since {@link #whenSafe} is safe; 0 if answers need not wait.
   */
  public long dependsOn() {
    return turn.dependsOn();
  }

  /**
   * Runs a task once what this session has answered since the last call of this method is as safe
   * as it has to be, or the log has failed: then the task gets the failure, and what was answered
   * must not be told. It is run by this thread, or by one that many wait for: it must be short and
   * throw nothing.
   */
  public void whenSafe(Consumer<@Nullable LogFailedException> task) {
    turn.whenSafe(task);
  }

  @Override
  public long key() {
    return inner.key();
  }

  @Override
  public long value() {
    return inner.value();
  }

  @Override
  public boolean get(long key) {
    boolean found;
    int mark;
    do {
      mark = turn.beginRead();
      found = inner.get(key);
    } while (!turn.isRead(mark));
    turn.read(Stripes.of(key));
    turn.answer();
    return found;
  }

  @Override
  public boolean put(long key, long value) {
    return change(Operation.PUT, key, value, 0);
  }

  @Override
  public boolean putIfAbsent(long key, long value) {
    return change(Operation.PUT_IF_ABSENT, key, value, 0);
  }

  @Override
  public boolean update(long key, long value) {
    return change(Operation.UPDATE, key, value, 0);
  }

  @Override
  public boolean remove(long key) {
    return change(Operation.REMOVE, key, 0, 0);
  }

  @Override
  public boolean replace(long key, long expected, long value) {
    return change(Operation.REPLACE, key, value, expected);
  }

  @Override
  public boolean remove(long key, long expected) {
    return change(Operation.REMOVE_EXPECTED, key, 0, expected);
  }

  @Override
  public void store(long key, long value) {
    change(Operation.STORE, key, value, 0);
  }

  @Override
  public void discard(long key) {
    change(Operation.DISCARD, key, 0, 0);
  }

  private boolean change(Operation operation, long key, long value, long expected) {
    StackRoom.STRINGS.check();
    if (operation.isRemoval()) {
      log.removeWord(key);
    } else {
      log.putWord(key, value);
    }
    turn.begin(Stripes.of(key), operation.isRemoval());
    boolean answer;
    try {
      answer = operate(operation, key, value, expected);
    } catch (Throwable e) {
      turn.settle(e, () -> makeRecord(key));
      throw e;
    }
    boolean changed = answer || operation == Operation.PUT;
    if (changed) {
      turn.append();
    }
    turn.end();
    turn.answer(changed);
    return answer;
  }

  /** Returns the operation's answer; where it has none, that it changed the key. */
  private boolean operate(Operation operation, long key, long value, long expected) {
    switch (operation) {
      case PUT -> {
        return inner.put(key, value);
      }
      case PUT_IF_ABSENT -> {
        return inner.putIfAbsent(key, value);
      }
      case UPDATE -> {
        return inner.update(key, value);
      }
      case REMOVE -> {
        return inner.remove(key);
      }
      case REPLACE -> {
        return inner.replace(key, expected, value);
      }
      case REMOVE_EXPECTED -> {
        return inner.remove(key, expected);
      }
      case STORE -> inner.store(key, value);
      case DISCARD -> inner.discard(key);
      case GET -> throw new IllegalArgumentException("not a change: operation=" + operation);
    }
    return true;
  }

  /** Reads a key, and makes its record. */
  private void makeRecord(long key) {
    if (inner.get(key)) {
      log.putWord(key, inner.value());
    } else {
      log.removeWord(key);
    }
  }

  @Override
  public int getAll(long[] keys, int from, int count, long[] values, boolean[] found) {
    while (true) {
      int mark = turn.beginRead();
      try {
        int present = inner.getAll(keys, from, count, values, found);
        if (turn.isRead(mark)) {
          readAll(keys, from, count);
          return present;
        }
      } catch (PandoException | Error e) {
        if (turn.isRead(mark)) {
          // Some of the results may have been set.
          readAll(keys, from, count);
          throw e;
        }
      }
    }
  }

  private void readAll(long[] keys, int from, int count) {
    for (int i = from; i < from + count; i++) {
      turn.read(Stripes.of(keys[i]));
    }
    turn.answer();
  }

  @Override
  public void putAll(long[] keys, int from, int count, long[] values) {
    Objects.checkFromIndexSize(from, count, keys.length);
    Objects.checkFromIndexSize(from, count, values.length);
    StackRoom.STRINGS.check();
    if (count == 0) {
      inner.putAll(keys, from, count, values);
    }
    for (int done = 0; done < count; done += ChangeTurn.WORDS_MAX) {
      putSome(keys, from + done, Math.min(count - done, ChangeTurn.WORDS_MAX), values);
    }
    turn.answerChange();
  }

  private void putSome(long[] keys, int from, int count, long[] values) {
    turn.begin(keys, from, count);
    try {
      inner.putAll(keys, from, count, values);
    } catch (Throwable e) {
      settleAll(e, keys, from, count);
      throw e;
    }
    for (int i = from; i < from + count; i++) {
      log.putWord(keys[i], values[i]);
      turn.append();
    }
    turn.end();
  }

  /** Ends a change of several keys that failed: any of them may have another value now. */
  private void settleAll(Throwable failure, long[] keys, int from, int count) {
    if (!(failure instanceof PandoException) && !UnknownOutcomeException.isPossible(failure)) {
      turn.end();
      return;
    }
    for (int i = from; i < from + count; i++) {
      long key = keys[i];
      if (!turn.logAsItIs(failure, () -> makeRecord(key))) {
        return;
      }
    }
    turn.end();
  }

  @Override
  public boolean floor(long key) {
    return neighbour(Neighbour.FLOOR, key);
  }

  @Override
  public boolean ceiling(long key) {
    return neighbour(Neighbour.CEILING, key);
  }

  @Override
  public boolean lower(long key) {
    return neighbour(Neighbour.LOWER, key);
  }

  @Override
  public boolean higher(long key) {
    return neighbour(Neighbour.HIGHER, key);
  }

  @Override
  public boolean first() {
    return neighbour(Neighbour.FIRST, 0);
  }

  @Override
  public boolean last() {
    return neighbour(Neighbour.LAST, 0);
  }

  private boolean neighbour(Neighbour kind, long key) {
    boolean found;
    int mark;
    do {
      mark = turn.beginRead();
      found = find(kind, key);
    } while (!turn.isRead(mark));
    if (found) {
      turn.read(Stripes.of(inner.key()));
    }
    turn.passGap();
    turn.answer();
    return found;
  }

  private boolean find(Neighbour kind, long key) {
    return switch (kind) {
      case FLOOR -> inner.floor(key);
      case CEILING -> inner.ceiling(key);
      case LOWER -> inner.lower(key);
      case HIGHER -> inner.higher(key);
      case FIRST -> inner.first();
      case LAST -> inner.last();
    };
  }

  @Override
  public long scan(long from, long to, long limit, EntryVisitor receiver) {
    return scan(from, to, false, limit, receiver);
  }

  @Override
  public long scanDown(long from, long to, long limit, EntryVisitor receiver) {
    return scan(from, to, true, limit, receiver);
  }

  private long scan(long from, long to, boolean down, long limit, EntryVisitor receiver) {
    Objects.requireNonNull(receiver, "visitor");
    ScanProgress outer = progress;
    ScanProgress own = outer == null ? usual : new ScanProgress();
    own.begin(receiver, from);
    progress = own;
    try {
      do {
        own.mark = turn.beginRead();
        own.isOver = true;
        long left = limit - own.visited;
        long _ =
            down
                ? inner.scanDown(own.next, to, left, checked)
                : inner.scan(own.next, to, left, checked);
      } while (goesOn(own, to, down, limit));
      turn.passGap();
      turn.answer();
      return own.visited;
    } finally {
      progress = outer;
    }
  }

  /** Returns whether a scan goes on behind its last entry, as what follows is to be read again. */
  private boolean goesOn(ScanProgress own, long to, boolean down, long limit) {
    boolean isAgain = !own.isEnded && (!own.isOver || !turn.isRead(own.mark));
    boolean hasMore = own.visited == 0 || own.last != to;
    if (own.visited > 0 && hasMore) {
      own.next = down ? own.last - 1 : own.last + 1;
    }
    return isAgain && hasMore && own.visited < limit;
  }

  /** Gives an entry to the visitor, once it may be seen that the keys before it are not there. */
  private boolean visit(long key, long value) {
    ScanProgress own = Objects.requireNonNull(progress);
    if (!turn.isRead(own.mark)) {
      own.isOver = false;
      return false;
    }
    turn.read(Stripes.of(key));
    turn.passGap();
    turn.answer();
    own.visited++;
    own.last = key;
    boolean more = own.receiver.visit(key, value);
    own.isEnded = !more;
    return more;
  }

  @Override
  public long sizeEstimate() {
    return inner.sizeEstimate();
  }

  @Override
  public long servedSizeEstimate() {
    return inner.servedSizeEstimate();
  }

  /**
   * {@inheritDoc}
   *
   * <p>Changes that are under way are logged first. Each change of the action is in the log as if
   * it were alone: after a crash the first ones may be there, and the others not.
   */
  @Override
  public void alone(Runnable action) {
    stripes.alone(() -> inner.alone(action));
  }

  @Override
  public void close() {
    inner.close();
  }
}
