package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import pando.fabric.UnknownOutcomeException;
import pando.index.session.Operation;

/**
 * The session that an action of {@link ByteSession#atomically} is given. It remembers what each
 * change replaced, so all of them can be undone. Others see no change before the end: the session
 * that runs the action keeps them out.
 *
 * <p>Not thread-safe, and of no use behind the action.
 */
public final class ByteTransaction extends ChangingSession {
  /** What is remembered takes so much memory at the most. */
  private static final long BYTES_MAX = 128 << 20;

  /** What a key takes in memory, beside its bytes. */
  private static final int BYTES_OF_CHANGE = 192;

  private final ByteSession inner;
  private final Predicate<MemorySegment> mayChange;

  /** What was changed, by the key, in the order of first changes. */
  private final SequencedMap<ByteBuffer, Change> changes = new LinkedHashMap<>();

  /** What {@link #changes} takes in memory. */
  private long bytes;

  /** Why the transaction must not end well, although its action may go on. */
  private @Nullable Throwable failure;

  /** Whether the change that failed may have happened, so that it is not known what it replaced. */
  private boolean isLost;

  private boolean begun;
  private boolean ended;
  private boolean undone;

  /** A key with what it had at first, and what it got at last; {@code null} for nothing. */
  private record Change(
      MemorySegment key, @Nullable MemorySegment before, @Nullable MemorySegment after) {
    private long bytes() {
      return BYTES_OF_CHANGE + key.byteSize() + bytes(before) + bytes(after);
    }

    private static long bytes(@Nullable MemorySegment value) {
      return value == null ? 0 : value.byteSize();
    }
  }

  /** Receives what a transaction has changed. */
  public interface ChangeReceiver {
    /** Receives a key that got a value. */
    void put(MemorySegment key, MemorySegment value);

    /** Receives a key that was removed. */
    void remove(MemorySegment key);
  }

  /**
   * Makes a transaction without changes.
   *
   * @param inner session by which it operates
   * @param mayChange whether others are kept from a key
   */
  public ByteTransaction(ByteSession inner, Predicate<MemorySegment> mayChange) {
    this.inner = inner;
    this.mayChange = mayChange;
  }

  /**
   * Runs the action, and undoes its changes if it fails.
   *
   * @throws UnknownOutcomeException if they could not be undone
   */
  public void run(Consumer<ByteSession> action) {
    begun = true;
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
    try {
      for (Change change : changes.sequencedValues().reversed()) {
        MemorySegment before = change.before();
        if (before == null) {
          inner.discard(change.key());
        } else {
          inner.store(change.key(), before);
        }
      }
      undone = !isLost;
    } catch (Throwable e) {
      cause.addSuppressed(e);
    }
    if (!undone) {
      throw UnknownOutcomeException.of(
          "changes of several keys failed, and could not be undone: changes=" + changes.size(),
          cause);
    }
  }

  /** Returns whether the action has failed or never begun, and none of its changes has stayed. */
  public boolean isUndone() {
    return undone || !begun;
  }

  /** Gives what each key that was changed has got to a receiver. */
  public void changes(ChangeReceiver receiver) {
    for (Change change : changes.values()) {
      MemorySegment after = change.after();
      if (after == null) {
        receiver.remove(change.key());
      } else {
        receiver.put(change.key(), after);
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
  @SuppressWarnings("exports") // Only modules that see operations call it.
  protected boolean change(
      Operation operation, MemorySegment wanted, MemorySegment stored, MemorySegment expected) {
    usable();
    // The arguments may be what this session has returned, and the operation overwrites.
    MemorySegment key = ByteArguments.copyOf(wanted);
    MemorySegment after = operation.isRemoval() ? null : ByteArguments.copyOf(stored);
    if (!mayChange.test(key)) {
      throw new IllegalArgumentException(
          "the key is none of those that the action is for: key=" + ByteArguments.text(key));
    }
    try {
      boolean answer = ByteChange.carryOut(inner, returning(operation), key, stored, expected);
      if (answer || operation == Operation.PUT || operation == Operation.STORE) {
        boolean wasThere = answer && operation != Operation.PUT_IF_ABSENT;
        remember(key, wasThere ? ByteArguments.copyOf(inner.value()) : null, after);
      }
      return answer;
    } catch (Throwable e) {
      failure = e;
      isLost |= UnknownOutcomeException.isPossible(e);
      throw e;
    }
  }

  private void remember(
      MemorySegment key, @Nullable MemorySegment before, @Nullable MemorySegment after) {
    Change earlier = changes.get(key.asByteBuffer());
    Change change = new Change(key, earlier == null ? before : earlier.before(), after);
    changes.put(key.asByteBuffer(), change);
    bytes += change.bytes() - (earlier == null ? 0 : earlier.bytes());
    if (bytes > BYTES_MAX) {
      throw new IllegalArgumentException(
          "changes of several keys take too much memory, with what they replace: keys=%s,"
                  .formatted(changes.size())
              + " bytes=%s, maximum=%s".formatted(bytes, BYTES_MAX));
    }
  }

  /** Returns the operation that does the same, and says what was there before. */
  private static Operation returning(Operation operation) {
    return switch (operation) {
      case STORE -> Operation.PUT;
      case DISCARD -> Operation.REMOVE;
      default -> operation;
    };
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
