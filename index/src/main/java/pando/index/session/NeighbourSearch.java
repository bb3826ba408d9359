package pando.index.session;

import java.util.Arrays;
import pando.fabric.GlobalAddress;

/**
 * Looks for the entry next to a key: in one leaf without a lock, or in several that stay locked, so
 * that all belong to one snapshot.
 *
 * <p>No hold-and-wait: {@link #lookAndLock} does not wait for a lock. Where one is taken, the
 * session unlocks all it holds, {@linkplain #awaitBusy waits} for that lock alone, and starts anew
 * with it.
 */
public abstract class NeighbourSearch {
  /** What a look comes to. */
  public enum Outcome {
    /** The entry was found. */
    FOUND,
    /** Nothing here: the answer lies beyond the {@link #bound}, or takes locks to tell. */
    FURTHER,
    /** There is no such entry. */
    NONE,
    /** A lock is taken, or the way was wrong: start anew. */
    BUSY
  }

  private long[] held = new long[8];
  private int count;

  /** The address whose lock is taken by another session, {@code NULL} where none is. */
  private long busy;

  private long key;
  private long value;
  private long bound;

  /** Creates a search that holds no lock. */
  protected NeighbourSearch() {}

  /**
   * Looks without a lock.
   *
   * @param down whether to look for the greatest at or below, else for the least at or above
   */
  public abstract Outcome look(long wanted, boolean down);

  /**
   * As {@link #look}, and {@linkplain #hold holds} what it has locked. Does not wait for a lock.
   */
  protected abstract Outcome lookUnderLock(long wanted, boolean down);

  /** Waits for a lock; returns whether it is to be held for the next attempt. */
  protected abstract boolean lock(long address);

  /** Unlocks what is held. */
  protected abstract void unlock(long address);

  /** As {@link #look}, and keeps locked what was looked at. Does not wait for a lock. */
  public final Outcome lookAndLock(long wanted, boolean down) {
    busy = GlobalAddress.NULL;
    return lookUnderLock(wanted, down);
  }

  /**
   * Waits for the lock that {@link #lookAndLock} has found taken, if there was one. Nothing may be
   * held meanwhile.
   */
  public final void awaitBusy() {
    long address = busy;
    busy = GlobalAddress.NULL;
    if (address != GlobalAddress.NULL && lock(address)) {
      hold(address);
    }
  }

  /** Unlocks everything that is held. */
  public final void unlock() {
    while (count > 0) {
      unlock(held[--count]);
    }
  }

  /** Forgets what is held: it has been unlocked after a failure. */
  public final void forget() {
    count = 0;
  }

  /** Notes that a lock is held. */
  protected final void hold(long address) {
    if (count == held.length) {
      held = Arrays.copyOf(held, 2 * count);
    }
    held[count++] = address;
  }

  /** Notes the entry that was found. */
  protected final Outcome found(long foundKey, long foundValue) {
    key = foundKey;
    value = foundValue;
    return Outcome.FOUND;
  }

  /** Notes that the answer lies beyond the least or the greatest key of what was looked at. */
  protected final Outcome beyond(long fence, boolean down) {
    if (fence == (down ? Long.MIN_VALUE : Long.MAX_VALUE)) {
      return Outcome.NONE;
    }
    bound = down ? fence - 1 : fence + 1;
    return Outcome.FURTHER;
  }

  /** Notes a lock that is taken by another session. */
  protected final Outcome busy(long address) {
    busy = address;
    return Outcome.BUSY;
  }

  /** Returns the key that was found. */
  public final long key() {
    return key;
  }

  /** Returns the value that was found. */
  public final long value() {
    return value;
  }

  /** Returns the key to go on from. */
  public final long bound() {
    return bound;
  }
}
