package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.fabric.UnknownOutcomeException;
import pando.index.session.Operation;

/**
 * The session that an action of {@link ByteSession#atomically} is given. It remembers what each key
 * had before the action first changed it, so all changes can be undone. Others see no change before
 * the end: the session that runs the action keeps them out.
 *
 * <p>Not thread-safe, and of no use behind the action.
 */
public final class ByteTransaction implements ByteSession {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private final ByteSession inner;

  /** What was changed, in the order of the first changes. */
  private final Map<ByteBuffer, Change> changes = new LinkedHashMap<>();

  /** The keys that may be changed; {@code null} for any. */
  private final @Nullable Set<ByteBuffer> keys;

  /** Why the transaction must not end well, although its action may go on. */
  private @Nullable Throwable failure;

  private boolean ended;
  private boolean undone;

  /** A key with what it had, and what it has now; {@code null} for nothing. */
  private static final class Change {
    final MemorySegment key;
    final @Nullable MemorySegment before;
    @Nullable MemorySegment after;

    Change(MemorySegment key, @Nullable MemorySegment before) {
      this.key = key;
      this.before = before;
      this.after = before;
    }

    boolean isNone() {
      return before == null
          ? after == null
          : after != null && before.mismatch(after) < 0;
    }
  }

  /** Receives what a transaction has changed. */
  public interface ChangeReceiver {
    /** Receives a key that has another value than before. */
    void put(MemorySegment key, MemorySegment value);

    /** Receives a key that was there before. */
    void remove(MemorySegment key);
  }

  /**
   * Makes a transaction without changes.
   *
   * @param inner session by which it operates
   * @param keys that it may change; {@code null} for any
   */
  public ByteTransaction(ByteSession inner, @Nullable Collection<MemorySegment> keys) {
    this.inner = inner;
    this.keys = keys == null ? null : copies(keys);
  }

  private static Set<ByteBuffer> copies(Collection<MemorySegment> keys) {
    Set<ByteBuffer> copies = HashSet.newHashSet(keys.size());
    keys.forEach(key -> copies.add(ByteArguments.copyOf(key).asByteBuffer()));
    return copies;
  }

  /**
   * Runs the action, and undoes its changes if it fails.
   *
   * @throws UnknownOutcomeException if they could not be undone
   */
  public void run(Consumer<ByteSession> action) {
    try {
      action.accept(this);
      checkWhole();
    } catch (Throwable e) {
      undo(e);
      throw e;
    } finally {
      ended = true;
    }
  }

  private void checkWhole() {
    switch (failure) {
      case null -> {}
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new IllegalStateException(failure);
    }
  }

  private void undo(Throwable cause) {
    List<Change> made = List.copyOf(changes.values());
    try {
      for (Change change : made.reversed()) {
        MemorySegment before = change.before;
        if (before == null) {
          inner.discard(change.key);
        } else {
          inner.store(change.key, before);
        }
      }
      undone = true;
    } catch (Throwable e) {
      cause.addSuppressed(e);
      throw UnknownOutcomeException.of(
          "changes of several keys failed, and could not be undone: keys=" + made.size(), cause);
    }
  }

  /** Returns whether the action has failed, and none of its changes has stayed. */
  public boolean isUndone() {
    return undone;
  }

  /** Gives all keys that have another value than before to a receiver, each once. */
  public void changes(ChangeReceiver receiver) {
    for (Change change : changes.values()) {
      MemorySegment after = change.after;
      if (!change.isNone()) {
        if (after == null) {
          receiver.remove(change.key);
        } else {
          receiver.put(change.key, after);
        }
      }
    }
  }

  private ByteSession usable() {
    if (ended) {
      throw new IllegalStateException("the action has ended, and so has its session");
    }
    return inner;
  }

  @Override
  public MemorySegment key() {
    return usable().key();
  }

  @Override
  public MemorySegment value() {
    return usable().value();
  }

  @Override
  public boolean get(MemorySegment wanted) {
    return usable().get(wanted);
  }

  @Override
  public boolean put(MemorySegment wanted, MemorySegment stored) {
    return change(Operation.PUT, wanted, stored, NOTHING);
  }

  @Override
  public boolean putIfAbsent(MemorySegment wanted, MemorySegment stored) {
    return change(Operation.PUT_IF_ABSENT, wanted, stored, NOTHING);
  }

  @Override
  public boolean update(MemorySegment wanted, MemorySegment stored) {
    return change(Operation.UPDATE, wanted, stored, NOTHING);
  }

  @Override
  public boolean remove(MemorySegment wanted) {
    return change(Operation.REMOVE, wanted, NOTHING, NOTHING);
  }

  @Override
  public boolean replace(MemorySegment wanted, MemorySegment expected, MemorySegment stored) {
    return change(Operation.REPLACE, wanted, stored, expected);
  }

  @Override
  public boolean remove(MemorySegment wanted, MemorySegment expected) {
    return change(Operation.REMOVE_EXPECTED, wanted, NOTHING, expected);
  }

  @Override
  public void store(MemorySegment wanted, MemorySegment stored) {
    change(Operation.STORE, wanted, stored, NOTHING);
  }

  @Override
  public void discard(MemorySegment wanted) {
    change(Operation.DISCARD, wanted, NOTHING, NOTHING);
  }

  private boolean change(
      Operation operation, MemorySegment wanted, MemorySegment given, MemorySegment itsExpected) {
    usable();
    // The arguments may be what this session has returned, and is overwritten by the lookup.
    MemorySegment stored = ByteArguments.copyOf(given);
    MemorySegment expected = ByteArguments.copyOf(itsExpected);
    Change change = changeOf(wanted);
    boolean answer;
    try {
      answer = ByteChange.carryOut(inner, operation, change.key, stored, expected);
    } catch (Throwable e) {
      failure = e; // What the key has now is not known.
      throw e;
    }
    if (answer || operation == Operation.PUT) {
      change.after = operation.isRemoval() ? null : stored;
    }
    return answer;
  }

  /** Returns the change of a key, which begins with what the key has. */
  private Change changeOf(MemorySegment wanted) {
    MemorySegment key = ByteArguments.copyOf(wanted);
    Change known = changes.get(key.asByteBuffer());
    if (known != null) {
      return known;
    }
    if (keys != null && !keys.contains(key.asByteBuffer())) {
      throw new IllegalArgumentException(
          "the key is none of those that the action may change: key=%s, keys=%s"
              .formatted(ByteArguments.text(key), keys.size()));
    }
    Change change = new Change(key, inner.get(key) ? ByteArguments.copyOf(inner.value()) : null);
    changes.put(key.asByteBuffer(), change);
    return change;
  }

  @Override
  public boolean floor(MemorySegment wanted) {
    return usable().floor(wanted);
  }

  @Override
  public boolean ceiling(MemorySegment wanted) {
    return usable().ceiling(wanted);
  }

  @Override
  public boolean lower(MemorySegment wanted) {
    return usable().lower(wanted);
  }

  @Override
  public boolean higher(MemorySegment wanted) {
    return usable().higher(wanted);
  }

  @Override
  public boolean first() {
    return usable().first();
  }

  @Override
  public boolean last() {
    return usable().last();
  }

  @Override
  public long scan(
      MemorySegment from, @Nullable MemorySegment to, long limit, ByteVisitor visitor) {
    return usable().scan(from, to, limit, visitor);
  }

  @Override
  public long scanDown(
      @Nullable MemorySegment from, MemorySegment to, long limit, ByteVisitor visitor) {
    return usable().scanDown(from, to, limit, visitor);
  }

  @Override
  public void alone(Runnable action) {
    throw nested();
  }

  @Override
  public void atomically(
      @Nullable Collection<MemorySegment> itsKeys, Consumer<ByteSession> action) {
    throw nested();
  }

  private static IllegalStateException nested() {
    return new IllegalStateException("an action that keeps others out has begun already");
  }

  @Override
  public void close() {
    throw new IllegalStateException("the session of an action ends with it");
  }
}
