package pando.durable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.KeyOrder;
import pando.fabric.memory.StackRoom;
import pando.index.Lease;
import pando.index.bytes.ByteArguments;
import pando.index.bytes.ByteChange;
import pando.index.bytes.ByteReceiver;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;
import pando.index.bytes.ByteTransaction;
import pando.index.bytes.ByteVisitor;
import pando.index.bytes.ChangingSession;
import pando.index.session.Operation;
import pando.journal.LogFailedException;

/**
 * One thread's access to {@link DurableStrings}, with the promises of {@link DurableSession}.
 * Changes copy their key and their value into the log.
 */
public final class DurableByteSession extends ChangingSession {
  /** So many values are stored before a wait until they are safe. */
  private static final int STORES_MAX = 256;

  private final ByteSession inner;
  private final int keyBytesMax;
  private final int valueBytesMax;
  private final Stripes stripes;
  private final SessionLog log;
  private final ChangeTurn turn;
  private final ByteVisitor checked = this::visit;

  /** Of the scan that is under way. */
  private @Nullable ScanProgress progress;

  /** The key of the operation that is under way: the caller's bytes may be the inner session's. */
  private MemorySegment keptKey = NOTHING;

  private long keptBytes;

  /** How far a scan is. */
  private static final class ScanProgress {
    final ByteVisitor receiver;
    int mark;

    /** What is left: the keys from the first one on that are below the other one. */
    MemorySegment least;

    @Nullable MemorySegment end;

    /** The last key that was visited, at the start of these bytes. */
    MemorySegment last = NOTHING;

    long lastBytes;
    long visited;

    /** Whether the scan of the index came to its end, and did not stop to be read again. */
    boolean isOver;

    /** Whether the visitor has ended it. */
    boolean isEnded;

    ScanProgress(ByteVisitor receiver, MemorySegment least, @Nullable MemorySegment end) {
      this.receiver = receiver;
      this.least = least;
      this.end = end;
    }

    /** Keeps the key of the last entry. */
    void keep(MemorySegment key) {
      lastBytes = key.byteSize();
      if (lastBytes > last.byteSize()) {
        last = MemorySegment.ofArray(new byte[Math.toIntExact(2 * lastBytes)]);
      }
      MemorySegment.copy(key, 0, last, 0, lastBytes);
    }
  }

  DurableByteSession(ByteStrings strings, Stripes stripes, SessionLog log, @Nullable Lease lease) {
    this.keyBytesMax = strings.keyBytesMax();
    this.valueBytesMax = strings.valueBytesMax();
    this.inner = strings.session();
    this.stripes = stripes;
    this.log = log;
    this.turn = new ChangeTurn(stripes, log, lease);
  }

  /**
   * Has operations return from now on without waiting until records are safe. Their caller waits,
   * up to {@link #dependsOn} or by {@link #whenSafe}, before it gives others their answers.
   */
  public DurableByteSession deferred() {
    turn.defer();
    return this;
  }

  /**
   * Returns the place in the log up to which all must be safe, so that what this session has
   * answered since {@link #forget} is safe; 0 if answers need not wait. Only {@link #forget} lowers
   * it.
   */
  public long dependsOn() {
    return turn.dependsOn();
  }

  /** Has {@link #dependsOn} count later answers alone. */
  public void forget() {
    turn.forget();
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
  public MemorySegment key() {
    return inner.key();
  }

  @Override
  public MemorySegment value() {
    return inner.value();
  }

  @Override
  public void expect(List<MemorySegment> keys) {
    inner.expect(keys);
  }

  @Override
  public boolean get(MemorySegment wanted) {
    int stripe = Stripes.of(wanted);
    keepForAgain(wanted);
    boolean found;
    int mark = turn.beginRead();
    found = inner.get(wanted);
    while (!turn.isRead(mark)) {
      mark = turn.beginRead();
      found = inner.get(kept());
    }
    turn.read(stripe);
    turn.answer();
    return found;
  }

  @Override
  @SuppressWarnings("exports") // Only modules that see operations call it.
  protected boolean change(
      Operation operation, MemorySegment wanted, MemorySegment stored, MemorySegment expected) {
    boolean answer = carryOut(operation, wanted, stored, expected);
    turn.answer(hasChanged(operation, answer));
    return answer;
  }

  /** Makes a change and logs it; does not wait until that is safe. */
  private boolean carryOut(
      Operation operation, MemorySegment wanted, MemorySegment stored, MemorySegment expected) {
    StackRoom.MAPS.check();
    ByteArguments.checkKey(wanted, keyBytesMax);
    ByteArguments.checkValue(stored, valueBytesMax);
    // All bytes are copied before the operation, which may overwrite them.
    if (operation.isRemoval()) {
      log.remove(wanted);
    } else {
      log.put(wanted, stored);
    }
    keep(wanted);
    turn.begin(Stripes.of(wanted), operation.isRemoval());
    boolean answer;
    try {
      answer = ByteChange.carryOut(inner, operation, wanted, stored, expected);
    } catch (Throwable e) {
      turn.settle(e, this::makeRecord);
      throw e;
    }
    if (hasChanged(operation, answer)) {
      turn.append();
    }
    turn.end();
    return answer;
  }

  private static boolean hasChanged(Operation operation, boolean answer) {
    return answer || operation == Operation.PUT;
  }

  private void keep(MemorySegment wanted) {
    keptBytes = wanted.byteSize();
    if (keptBytes > keptKey.byteSize()) {
      keptKey = MemorySegment.ofArray(new byte[Math.toIntExact(2 * keptBytes)]);
    }
    MemorySegment.copy(wanted, 0, keptKey, 0, keptBytes);
  }

  /** Keeps a key that an inheritance may have read again; one that is too long is refused. */
  private void keepForAgain(MemorySegment wanted) {
    if (log.outlivesFailure() && wanted.byteSize() <= keyBytesMax) {
      keep(wanted);
    }
  }

  private MemorySegment kept() {
    return keptKey.asSlice(0, keptBytes);
  }

  /** Reads the key of the change, and makes its record. */
  private void makeRecord() {
    MemorySegment key = kept();
    if (inner.get(key)) {
      log.put(key, inner.value());
    } else {
      log.remove(key);
    }
  }

  /** {@inheritDoc} Waits once for many of them until they are safe. */
  @Override
  public void storeAll(
      List<MemorySegment> keys, List<MemorySegment> values, ByteReceiver receiver) {
    ByteArguments.checkCounts(keys, values);
    for (int from = 0; from < keys.size(); from += STORES_MAX) {
      int to = Math.min(from + STORES_MAX, keys.size());
      @Nullable RuntimeException[] failures = storeSome(keys, values, from, to);
      for (int i = from; i < to; i++) {
        if (!receiver.receive(i, null, failures[i - from])) {
          return;
        }
      }
    }
  }

  /** Stores some values; returns what each of them failed by. */
  private @Nullable RuntimeException[] storeSome(
      List<MemorySegment> keys, List<MemorySegment> values, int from, int to) {
    @Nullable RuntimeException[] failures = new RuntimeException[to - from];
    for (int i = from; i < to; i++) {
      try {
        carryOut(Operation.STORE, keys.get(i), values.get(i), NOTHING);
      } catch (RuntimeException e) {
        failures[i - from] = e;
      }
    }
    try {
      turn.answerChange();
    } catch (RuntimeException e) {
      for (int i = 0; i < failures.length; i++) {
        failures[i] = failures[i] == null ? e : failures[i];
      }
    }
    return failures;
  }

  @Override
  public boolean floor(MemorySegment wanted) {
    return neighbour(Neighbour.FLOOR, wanted);
  }

  @Override
  public boolean ceiling(MemorySegment wanted) {
    return neighbour(Neighbour.CEILING, wanted);
  }

  @Override
  public boolean lower(MemorySegment wanted) {
    return neighbour(Neighbour.LOWER, wanted);
  }

  @Override
  public boolean higher(MemorySegment wanted) {
    return neighbour(Neighbour.HIGHER, wanted);
  }

  @Override
  public boolean first() {
    return neighbour(Neighbour.FIRST, NOTHING);
  }

  @Override
  public boolean last() {
    return neighbour(Neighbour.LAST, NOTHING);
  }

  private boolean neighbour(Neighbour kind, MemorySegment wanted) {
    keepForAgain(wanted);
    int mark = turn.beginRead();
    boolean found = find(kind, wanted);
    while (!turn.isRead(mark)) {
      mark = turn.beginRead();
      found = find(kind, kept());
    }
    if (found) {
      turn.read(Stripes.of(inner.key()));
    }
    turn.passGap();
    turn.answer();
    return found;
  }

  private boolean find(Neighbour kind, MemorySegment wanted) {
    return switch (kind) {
      case FLOOR -> inner.floor(wanted);
      case CEILING -> inner.ceiling(wanted);
      case LOWER -> inner.lower(wanted);
      case HIGHER -> inner.higher(wanted);
      case FIRST -> inner.first();
      case LAST -> inner.last();
    };
  }

  @Override
  public long scan(
      MemorySegment from, @Nullable MemorySegment to, long limit, ByteVisitor receiver) {
    return scan(from, to, false, limit, receiver);
  }

  @Override
  public long scanDown(
      @Nullable MemorySegment from, MemorySegment to, long limit, ByteVisitor receiver) {
    return scan(to, from, true, limit, receiver);
  }

  private long scan(
      MemorySegment least,
      @Nullable MemorySegment end,
      boolean down,
      long limit,
      ByteVisitor receiver) {
    Objects.requireNonNull(receiver, "visitor");
    ScanProgress outer = progress;
    ScanProgress own = new ScanProgress(receiver, ByteArguments.copyOf(least), copyOf(end));
    progress = own;
    try {
      do {
        own.mark = turn.beginRead();
        own.isOver = true;
        long left = limit - own.visited;
        long _ =
            down
                ? inner.scanDown(own.end, own.least, left, checked)
                : inner.scan(own.least, own.end, left, checked);
      } while (goesOn(own, down, limit));
      turn.passGap();
      turn.answer();
      return own.visited;
    } finally {
      progress = outer;
    }
  }

  private static @Nullable MemorySegment copyOf(@Nullable MemorySegment bytes) {
    return bytes == null ? null : ByteArguments.copyOf(bytes);
  }

  /** Returns whether a scan goes on behind its last entry, as what follows is to be read again. */
  private boolean goesOn(ScanProgress own, boolean down, long limit) {
    boolean isAgain = !own.isEnded && (!own.isOver || !turn.isRead(own.mark));
    if (!isAgain || own.visited == limit) {
      return false;
    }
    if (own.visited > 0 && down) {
      own.end = ByteArguments.copyOf(own.last.asSlice(0, own.lastBytes));
    } else if (own.visited > 0) {
      MemorySegment next = above(own.last.asSlice(0, own.lastBytes), keyBytesMax);
      if (next == null) {
        return false;
      }
      own.least = next;
    }
    return own.end == null || KeyOrder.compare(own.least, own.end) < 0;
  }

  /** Returns the least key above another one, {@code null} if there is none. */
  static @Nullable MemorySegment above(MemorySegment key, int keyBytesMax) {
    long bytes = key.byteSize();
    if (bytes < keyBytesMax) {
      // It has a zero behind it.
      MemorySegment next = MemorySegment.ofArray(new byte[Math.toIntExact(bytes + 1)]);
      MemorySegment.copy(key, 0, next, 0, bytes);
      return next;
    }
    while (bytes > 0 && key.get(ValueLayout.JAVA_BYTE, bytes - 1) == (byte) 0xFF) {
      bytes--;
    }
    if (bytes == 0) {
      return null;
    }
    MemorySegment next = ByteArguments.copyOf(key.asSlice(0, bytes));
    byte last = key.get(ValueLayout.JAVA_BYTE, bytes - 1);
    next.set(ValueLayout.JAVA_BYTE, bytes - 1, (byte) (last + 1));
    return next;
  }

  /** Gives an entry to the visitor, once it may be seen that the keys before it are not there. */
  private boolean visit(MemorySegment key, MemorySegment value) {
    ScanProgress own = Objects.requireNonNull(progress);
    if (!turn.isRead(own.mark)) {
      own.isOver = false;
      return false;
    }
    turn.read(Stripes.of(key));
    turn.passGap();
    turn.answer();
    own.visited++;
    if (log.outlivesFailure()) {
      own.keep(key);
    }
    boolean more = own.receiver.visit(key, value);
    own.isEnded = !more;
    return more;
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

  /**
   * {@inheritDoc}
   *
   * <p>All others wait while the action runs, and those that need keys of the same stripes until
   * its record is in the log.
   */
  @Override
  public void atomically(@Nullable Collection<MemorySegment> keys, Consumer<ByteSession> action) {
    Objects.requireNonNull(action, "action");
    StackRoom.MAPS.check();
    ByteTransaction transaction = new ByteTransaction(inner, key -> turn.has(Stripes.of(key)));
    GroupRecord record = new GroupRecord();
    if (keys == null) {
      turn.beginAll();
    } else {
      turn.begin(keys);
    }
    try {
      // Readers take no lock before they read: none may see what is changed again, or undone.
      inner.alone(() ->
          transaction.run(session -> {
            action.accept(session);
            record.reserve(transaction);
          }));
    } catch (Throwable e) {
      if (transaction.isUndone()) {
        turn.end();
      } else {
        turn.fail(e);
      }
      throw e;
    }
    if (record.hasChanges) {
      turn.append();
    }
    turn.end();
    turn.answer(record.hasChanges);
  }

  /** The record of changes that count together. */
  private final class GroupRecord implements ByteTransaction.ChangeReceiver {
    boolean hasChanges;

    /** Makes the record, and reserves room for it. If there are no changes, none is needed. */
    private void reserve(ByteTransaction transaction) {
      log.group();
      transaction.changes(this);
      if (hasChanges) {
        turn.reserve();
      }
    }

    @Override
    public void put(MemorySegment key, MemorySegment value) {
      hasChanges = true;
      log.addPut(key, value);
    }

    @Override
    public void remove(MemorySegment key) {
      hasChanges = true;
      log.addRemove(key);
    }
  }

  @Override
  public void close() {
    inner.close();
  }
}
