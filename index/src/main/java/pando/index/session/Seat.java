package pando.index.session;

import pando.fabric.Backoff;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.WaitLimit;

/** One session's part in {@link KeyTurns}. Only the session's thread may use it. */
public final class Seat implements AutoCloseable {
  /** In place of a slot: the next turn is led by another, and some of this one are not answered. */
  private static final int ENDING = -2;

  private final KeyTurns turns;
  private Ticket ticket;

  /** Whether others may still read the ticket, in which this session has no part any more. */
  private boolean abandoned;

  /** The slot that the ticket is in, or what stands in its place. */
  private int slot = KeyTurns.ALONE;

  // Of a leader.

  private boolean present;
  private long last;

  Seat(KeyTurns turns, Ticket ticket) {
    this.turns = turns;
    this.ticket = ticket;
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
    leave();
    if (abandoned) {
      ticket = turns.newTicket();
      abandoned = false;
    }
    ticket.request.set(wanted.operation(), wanted.key(), wanted.stored(), wanted.expected());
    ticket.top = ticket.number;
    ticket.end = KeyTurns.NONE;
    // Nothing is called between the push and the note of it, which could overflow the stack.
    slot = turns.push(ticket, backoff);
    return slot != KeyTurns.ALONE && ticket.next != KeyTurns.NONE && await(backoff);
  }

  private boolean await(Backoff backoff) {
    long key = ticket.request.key();
    long start = 0;
    for (int attempt = 0; isUndecided(); attempt++) {
      try {
        start =
            WaitLimit.LONG.pauseBriefly(
                backoff, attempt, start, "operations on a key do not end: key", key);
      } catch (Throwable e) {
        giveUp(e);
        throw e;
      }
    }
    int decided = ticket.state();
    if (decided == Ticket.LEADING) {
      return false;
    }
    slot = KeyTurns.ALONE;
    if (decided == Ticket.UNKNOWN) {
      throw new UnknownOutcomeException(
          "written together with other operations, which failed: key=" + key);
    }
    return decided == Ticket.ANSWERED;
  }

  private boolean isUndecided() {
    int now = ticket.state();
    return now == Ticket.WAITING || now == Ticket.APPLIED;
  }

  /** Leaves the turn, where {@code failure} says all then; else throws what says more. */
  private void giveUp(Throwable failure) {
    if (leave() && ticket.request.operation() != Operation.GET) {
      throw Failures.uncertain(ticket.request.key(), failure);
    }
  }

  /**
   * Leaves the turn, if it is in one; returns whether another session may have executed the
   * operation. Can be repeated if the stack overflows.
   */
  private boolean leave() {
    if (slot == KeyTurns.ALONE) {
      return false;
    }
    ticket.changeState(Ticket.WAITING, Ticket.GONE);
    int now = ticket.state();
    if (now == Ticket.LEADING) {
      fail(true);
      return false;
    }
    abandoned = now == Ticket.GONE || now == Ticket.APPLIED;
    slot = KeyTurns.ALONE;
    return now != Ticket.GONE && now != Ticket.FAILED;
  }

  /** Returns whether the key was there before the operation. */
  public boolean found() {
    return ticket.found;
  }

  /** Returns the value of the key before the operation, if it was there. */
  public long value() {
    return ticket.value;
  }

  // For the one that executes the turn.

  /** Ends a turn of reads, all of which have the same result. */
  public void answer(boolean foundByAll, long valueForAll) {
    ticket.found = foundByAll;
    ticket.value = valueForAll;
    end(Ticket.ANSWERED);
  }

  /**
   * Applies the changes of the turn one after the other to what there is, its own first, while the
   * key is locked. Can be repeated, until the turn ends. {@link #isPresent} and {@link #last} then
   * say what there must be.
   *
   * @param isThere whether the key is there
   * @param valueThere its value, if it is
   */
  public void apply(boolean isThere, long valueThere) {
    present = isThere;
    last = valueThere;
    applyOne(ticket);
    for (int each = slot == KeyTurns.ALONE ? ticket.end : ticket.top; each != ticket.end; ) {
      Ticket other = turns.ticket(each);
      each = other.next;
      if (other != ticket && canApply(other)) {
        applyOne(other);
      }
    }
  }

  private static boolean canApply(Ticket other) {
    return other.changeState(Ticket.WAITING, Ticket.APPLIED) || other.state() == Ticket.APPLIED;
  }

  private void applyOne(Ticket each) {
    each.found = present;
    each.value = last;
    if (each.request.removes(present, last)) {
      present = false;
    } else if (each.request.stores(present, last)) {
      present = true;
      last = each.request.stored();
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
    end(Ticket.APPLIED);
  }

  /**
   * Ends a turn whose execution failed. Every other session of it then goes alone. Does nothing if
   * the turn has ended.
   *
   * @param uncertain whether what was applied may have been written: the outcome is unknown then
   */
  public void fail(boolean uncertain) {
    end(uncertain ? Ticket.UNKNOWN : Ticket.FAILED);
  }

  /** Ends the turn. Goes on where a call stopped before, as the stack overflowed. */
  private void end(int outcome) {
    if (slot == KeyTurns.ALONE) {
      return;
    }
    if (slot != ENDING) {
      ticket.top = turns.topToAnswer(slot, ticket);
      turns.passOn(slot, ticket.top);
      slot = ENDING;
    }
    while (ticket.top != ticket.end) {
      Ticket other = turns.ticket(ticket.top);
      int next = other.next;
      if (other != ticket) {
        answerOther(other, outcome);
      }
      ticket.top = next;
    }
    slot = KeyTurns.ALONE;
  }

  private void answerOther(Ticket other, int outcome) {
    if (other.state() == Ticket.APPLIED) {
      other.setState(outcome == Ticket.APPLIED ? Ticket.ANSWERED : outcome);
      return;
    }
    other.found = ticket.found;
    other.value = ticket.value;
    other.changeState(Ticket.WAITING, outcome == Ticket.ANSWERED ? Ticket.ANSWERED : Ticket.FAILED);
  }

  /** Gives the seat back, and ends its turn if an operation could not. */
  @Override
  public void close() {
    leave();
    if (!abandoned) {
      turns.free(ticket);
    }
  }
}
