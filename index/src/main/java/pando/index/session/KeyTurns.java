package pando.index.session;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.WaitLimit;
import pando.index.bugs.PlantedBug;

/**
 * Has sessions of one compute server that want the same key at the same time take turns: one of a
 * turn executes, for all of it. So those that wait for the same key need one READ (SMART, read
 * delegation), and writers one lock and one WRITE (write combining). Reads and writes have turns of
 * their own, in two objects. Thread-safe; allocates nothing once seats are open.
 *
 * <p>Operations stay linearizable: all of a turn began before its execution did, and end after it.
 *
 * <pre>{@code
 * if (seat.join(request, backoff)) {
 *   return seat.found(); // another session has executed it
 * }
 * boolean found = false;
 * boolean done = false;
 * try {
 *   found = lookUp(request.key());
 *   done = true;
 * } finally {
 *   if (done) {
 *     seat.answer(found, value);
 *   } else {
 *     seat.fail(false);
 *   }
 * }
 * }</pre>
 */
public final class KeyTurns {
  /*
   * Each slot of the table is a stack of seats, of one key. The word of a slot is the seat at its top
   * and a count of its changes; the other seats follow by their links. Some of the stack are a turn
   * that is executed, those above are the next turn:
   *
   *   word: changes 48 | top 16
   *              |
   *              v
   *              f -> e -> d -> c -> b -> a -> ...
   *              |-- next ---|  |-- turn ---|
   *                             ^           ^
   *                            top         end: the top of the turn before, no longer there
   *
   * A session that finds a slot empty leads a turn of its own at once. One that finds seats of its key
   * pushes its own, and waits. It belongs to the next turn, as the READ of the turn under way may have
   * taken effect before it came. When a turn has been executed, its leader looks at the top once more.
   * If that is the turn's own top, nobody has come, and it empties the slot. If not, the seats above
   * are the next turn, which closes so: the first of them that still waits leads it. Only then the
   * leader answers the others of its own turn; so a seat does not come back to the stack while its
   * number marks the end of a turn.
   *
   * One that finds seats of another key goes alone. So does one whose turn has failed.
   *
   * One that gives up waiting leaves its seat in the stack, marked as gone, and goes alone from then
   * on: others go past the seat, and its number is not used again.
   */

  private static final int SLOT_BITS = 12;
  private static final int SEAT_BITS = 16;
  private static final int SEAT_MASK = (1 << SEAT_BITS) - 1;
  private static final long HASH = 0x9E37_79B9_7F4A_7C15L;

  /** No seat has this number. */
  private static final int NONE = 0;

  /** In place of a slot: the seat is in none. */
  private static final int ALONE = -1;

  private final AtomicLongArray tops = new AtomicLongArray(1 << SLOT_BITS);
  private final BitSet numbers = new BitSet();
  private final boolean old;
  private volatile @Nullable Seat[] seats = new Seat[8];

  /** Creates a table without seats. */
  public KeyTurns() {
    this(PlantedBug.TURN_OLD_RESULT);
  }

  /** As the other one; {@code old} has those answered as well who came during the execution. */
  KeyTurns(boolean old) {
    this.old = old;
    numbers.set(NONE);
  }

  /** Opens a seat for a session. */
  public synchronized Seat open() {
    int number = numbers.nextClearBit(0);
    if (number > SEAT_MASK) {
      throw new IllegalStateException("too many sessions: maximum=" + SEAT_MASK);
    }
    numbers.set(number);
    @Nullable Seat[] all = seats;
    if (number >= all.length) {
      all = Arrays.copyOf(all, 2 * all.length);
    }
    Seat seat = new Seat(this, number);
    all[number] = seat;
    seats = all;
    return seat;
  }

  private synchronized void close(Seat seat) {
    numbers.clear(seat.number);
  }

  private Seat seat(int number) {
    return Objects.requireNonNull(seats[number]);
  }

  private static int slot(long key) {
    return (int) (key * HASH >>> (Long.SIZE - SLOT_BITS));
  }

  private static int top(long word) {
    return (int) word & SEAT_MASK;
  }

  private static long withTop(long word, int top) {
    return ((word >>> SEAT_BITS) + 1) << SEAT_BITS | top;
  }

  /** A session's place in turns. Only the session's thread may use it. */
  public static final class Seat implements AutoCloseable {
    private static final VarHandle STATE = state();

    private static final int WAITING = 1;

    /** Its operation was applied, and is not answered yet. */
    private static final int APPLIED = 2;

    private static final int ANSWERED = 3;
    private static final int FAILED = 4;
    private static final int UNKNOWN = 5;
    private static final int LEADING = 6;
    private static final int GONE = 7;

    private final KeyTurns turns;
    private final int number;
    private final Request request = new Request();

    @SuppressWarnings("unused") // Used through STATE.
    private int state = ANSWERED;

    /** The seat that was at the top before. */
    private int next;

    private int slot = ALONE;
    private boolean found;
    private long value;
    private boolean lost;

    // Of a leader.

    /** The seats of the turn: from its top until before its end. */
    private int top;

    private int end;
    private boolean present;
    private long last;

    private Seat(KeyTurns turns, int number) {
      this.turns = turns;
      this.number = number;
    }

    private static VarHandle state() {
      try {
        return MethodHandles.lookup().findVarHandle(Seat.class, "state", int.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    /**
     * Joins a turn of the key, and waits for it.
     *
     * @return {@code true} if another session has executed the operation: {@link #found} and {@link
     *     #value} have its result. {@code false} if this session is to execute the turn, its own
     *     operation among others or alone; it ends the turn by {@link #answer}, {@link #done} or
     *     {@link #fail}
     * @throws UnknownOutcomeException if another session has executed it, failed, and may have
     *     written
     * @throws StalledException if the turns do not end; the operation is in none any more
     */
    public boolean join(Request wanted, Backoff backoff) {
      request.set(wanted.operation(), wanted.key(), wanted.stored(), wanted.expected());
      top = number;
      end = NONE;
      return !lost && push(backoff) && await(backoff);
    }

    /** Returns whether there are others in the slot, for whom it waits. */
    private boolean push(Backoff backoff) {
      int wanted = slot(request.key());
      STATE.setRelease(this, WAITING);
      while (true) {
        long word = turns.tops.get(wanted);
        next = top(word);
        if (next != NONE && turns.seat(next).request.key() != request.key()) {
          return false;
        }
        backoff.transition();
        if (turns.tops.compareAndSet(wanted, word, withTop(word, number))) {
          slot = wanted;
          if (next == NONE) {
            STATE.setRelease(this, LEADING);
          }
          return next != NONE;
        }
      }
    }

    private boolean await(Backoff backoff) {
      long start = 0;
      for (int attempt = 0; isUndecided(); attempt++) {
        try {
          start =
              WaitLimit.LONG.pauseBriefly(
                  backoff, attempt, start, "operations on a key do not end: key", request.key());
        } catch (Throwable e) {
          giveUp(e);
          throw e;
        }
      }
      int decided = (int) STATE.getAcquire(this);
      if (decided == LEADING) {
        return false;
      }
      slot = ALONE;
      if (decided == UNKNOWN) {
        throw new UnknownOutcomeException(
            "written together with other operations, which failed: key=" + request.key());
      }
      return decided == ANSWERED;
    }

    private boolean isUndecided() {
      int now = (int) STATE.getAcquire(this);
      return now == WAITING || now == APPLIED;
    }

    /** Leaves the turn, if that can be; a failure then says all. */
    private void giveUp(Throwable failure) {
      boolean gone = STATE.compareAndSet(this, WAITING, GONE);
      int now = (int) STATE.getAcquire(this);
      if (now == LEADING) {
        fail(false);
        return;
      }
      lost = gone || now == APPLIED;
      slot = ALONE;
      if (!gone && now != FAILED && request.operation() != Operation.GET) {
        throw Failures.uncertain(request.key(), failure);
      }
    }

    /** Returns whether the key was there before the operation. */
    public boolean found() {
      return found;
    }

    /** Returns the value of the key before the operation, if it was there. */
    public long value() {
      return value;
    }

    // For the one that executes the turn.

    /** Ends a turn of reads, all of which have the same result. */
    public void answer(boolean foundByAll, long valueForAll) {
      found = foundByAll;
      value = valueForAll;
      end(ANSWERED);
    }

    /**
     * Applies the changes of the turn one after the other to what there is, its own first, while
     * the key is locked. Can be repeated, until the turn ends. {@link #isPresent} and {@link #last}
     * then say what there must be.
     *
     * @param isThere whether the key is there
     * @param valueThere its value, if it is
     */
    public void apply(boolean isThere, long valueThere) {
      present = isThere;
      last = valueThere;
      applyOne(this);
      for (int each = slot == ALONE ? end : top; each != end; ) {
        Seat seat = turns.seat(each);
        each = seat.next;
        if (seat != this && canApply(seat)) {
          applyOne(seat);
        }
      }
    }

    private static boolean canApply(Seat seat) {
      return STATE.compareAndSet(seat, WAITING, APPLIED) || (int) STATE.getAcquire(seat) == APPLIED;
    }

    private void applyOne(Seat seat) {
      seat.found = present;
      seat.value = last;
      if (seat.request.removes(present, last)) {
        present = false;
      } else if (seat.request.stores(present, last)) {
        present = true;
        last = seat.request.stored();
      }
    }

    /** Returns whether the key is there after all that was applied. */
    public boolean isPresent() {
      return present;
    }

    /** Returns the value after all that was applied, if the key is there. */
    public long last() {
      return last;
    }

    /** Ends a turn of writes, which have taken effect as they were applied. */
    public void done() {
      end(APPLIED);
    }

    /**
     * Ends a turn whose execution failed. Each other one of it goes alone then.
     *
     * @param uncertain whether what was applied may have been written: the outcome is unknown then
     */
    public void fail(boolean uncertain) {
      end(uncertain ? UNKNOWN : FAILED);
    }

    private void end(int outcome) {
      if (slot == ALONE) {
        return;
      }
      if (turns.old) {
        top = top(turns.tops.get(slot));
      }
      int first = top;
      passOn();
      slot = ALONE;
      for (int each = first; each != end; ) {
        Seat seat = turns.seat(each);
        each = seat.next;
        if (seat != this) {
          tell(seat, outcome);
        }
      }
    }

    private void tell(Seat seat, int outcome) {
      if ((int) STATE.getAcquire(seat) == APPLIED) {
        STATE.setRelease(seat, outcome == APPLIED ? ANSWERED : outcome);
        return;
      }
      seat.found = found;
      seat.value = value;
      STATE.compareAndSet(seat, WAITING, outcome == ANSWERED ? ANSWERED : FAILED);
    }

    /** Has another seat lead the next turn, or empties the slot. */
    private void passOn() {
      int endOfNext = top;
      while (true) {
        long word = turns.tops.get(slot);
        int topOfNext = top(word);
        if (topOfNext == endOfNext) {
          if (turns.tops.compareAndSet(slot, word, withTop(word, NONE))) {
            return;
          }
        } else if (nominate(topOfNext, endOfNext)) {
          return;
        } else {
          // All of them are gone.
          endOfNext = topOfNext;
        }
      }
    }

    private boolean nominate(int topOfNext, int endOfNext) {
      for (int each = topOfNext; each != endOfNext; ) {
        Seat seat = turns.seat(each);
        each = seat.next;
        seat.top = topOfNext;
        seat.end = endOfNext;
        if (STATE.compareAndSet(seat, WAITING, LEADING)) {
          return true;
        }
      }
      return false;
    }

    /** Gives the seat back. It is in no turn. */
    @Override
    public void close() {
      if (!lost) {
        turns.close(this);
      }
    }
  }
}
