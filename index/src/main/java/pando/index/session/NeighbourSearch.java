package pando.index.session;

import java.util.Arrays;
import pando.fabric.GlobalAddress;

/**
 * Searches the entry next to a key: in one leaf without a lock, or in several leaves that stay
 * locked, so that together they are one snapshot.
 *
 * <p>No hold-and-wait: {@link #lookAndLock} does not wait for a lock. If one is taken, the session
 * unlocks all it holds, {@linkplain #awaitBusy waits} for that lock only, and restarts.
 */
public abstract class NeighbourSearch {
  /** Result of one step of a search. */
  public enum Outcome {
    /** The entry was found. */
    FOUND,
    /** No entry found: go on with locks, from {@link #bound} if locks are held already. */
    FURTHER,
    /** There is no such entry. */
    NONE,
    /** A lock is taken, or the node was wrong: restart. */
    BUSY
  }

  private long[] held = new long[8];
  private int count;

  /** Address of a node whose lock another session holds, {@code NULL} if there is none. */
  private long busy;

  private long key;
  private long value;
  private long bound;

  /** Creates a search that holds no lock. */
  protected NeighbourSearch() {}

  /**
   * Searches one leaf without a lock.
   *
   * @param down {@code true} for the entry with the greatest key &lt;= {@code wanted}, {@code
   *     false} for the one with the least key &gt;= {@code wanted}
   */
  public abstract Outcome look(long wanted, boolean down);

  /**
   * Locks a leaf, {@linkplain #hold records} the lock, and searches the leaf. Does not wait for a
   * lock. Called only if {@link #look} returns {@link Outcome#FURTHER} or {@link Outcome#BUSY};
   * throws unless overridden.
   */
  protected Outcome lookUnderLock(long wanted, boolean down) {
    throw noLocks();
  }

  /**
   * Waits for a lock; returns whether it is held now. If not, the next attempt takes it. Called
   * only after {@link #lookUnderLock} has found a lock taken; throws unless overridden.
   */
  protected boolean lock(long address) {
    throw noLocks();
  }

  /**
   * Unlocks a node. Called only after {@link #lookUnderLock} has locked nodes; throws unless
   * overridden.
   */
  protected void unlock(long address) {
    throw noLocks();
  }

  private UnsupportedOperationException noLocks() {
    return new UnsupportedOperationException(
        "the search of a neighbour takes no locks: class=" + getClass().getName());
  }

  /** Locks a leaf and searches it; the leaf stays locked. Does not wait for a lock. */
  public final Outcome lookAndLock(long wanted, boolean down) {
    busy = GlobalAddress.NULL;
    return lookUnderLock(wanted, down);
  }

  /**
   * Waits for the lock that {@link #lookAndLock} has found taken, if there was one. The session
   * must hold no lock.
   */
  public final void awaitBusy() {
    long address = busy;
    busy = GlobalAddress.NULL;
    if (address != GlobalAddress.NULL && lock(address)) {
      hold(address);
    }
  }

  /** Unlocks everything that this search holds. */
  public final void unlock() {
    while (count > 0) {
      unlock(held[--count]);
    }
  }

  /** Forgets the held locks, which were unlocked after a failure. */
  public final void forget() {
    count = 0;
  }

  /** Records that a lock is held. */
  protected final void hold(long address) {
    if (count == held.length) {
      held = Arrays.copyOf(held, 2 * count);
    }
    held[count++] = address;
  }

  /** Records the entry that was found. */
  protected final Outcome found(long foundKey, long foundValue) {
    key = foundKey;
    value = foundValue;
    return Outcome.FOUND;
  }

  /** Records that the leaf has no such entry: the search continues beyond its fence. */
  protected final Outcome beyond(long fence, boolean down) {
    if (fence == (down ? Long.MIN_VALUE : Long.MAX_VALUE)) {
      return Outcome.NONE;
    }
    bound = down ? fence - 1 : fence + 1;
    return Outcome.FURTHER;
  }

  /** Records a node whose lock another session holds. */
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

  /** Returns the key from which to continue the search. */
  public final long bound() {
    return bound;
  }
}
