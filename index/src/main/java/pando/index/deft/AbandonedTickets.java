package pando.index.deft;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The tickets of a compute server's sessions that gave up waiting. Each has to be released when its
 * turn has come, or no ticket behind it ever enters. Thread-safe; a caller that is returned a
 * ticket has it alone.
 */
final class AbandonedTickets {
  /** The word of no ticket. */
  static final long NONE = -1;

  private final Queue<Ticket> tickets = new ArrayDeque<>();

  private volatile int count;

  /**
   * A ticket.
   *
   * @param word address of the lock's word
   * @param xTicket the next exclusive ticket when it was taken; of an exclusive one, itself
   * @param sTicket the next shared ticket when it was taken
   */
  record Ticket(long word, boolean isExclusive, int xTicket, int sTicket) {
    /** Returns whether its turn has come. */
    boolean mayEnter(long value) {
      return isExclusive
          ? SxWord.mayEnterExclusive(value, xTicket, sTicket)
          : SxWord.mayEnterShared(value, xTicket);
    }
  }

  /** Returns whether there are any. */
  boolean areThere() {
    return count > 0;
  }

  /** Returns their number. */
  int count() {
    return count;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Written under the monitor alone.
  synchronized void add(Ticket ticket) {
    tickets.add(ticket);
    count++;
  }

  /** Hands out a ticket for a session to wait on with, in place of one of its own. */
  synchronized @Nullable Ticket takeOver(long word, boolean exclusive) {
    for (Iterator<Ticket> all = tickets.iterator(); all.hasNext(); ) {
      Ticket ticket = all.next();
      if (ticket.word == word && ticket.isExclusive == exclusive) {
        return remove(all, ticket);
      }
    }
    return null;
  }

  /** Hands out a ticket whose turn has come, to be released. */
  synchronized @Nullable Ticket takeDue(long word, long value) {
    for (Iterator<Ticket> all = tickets.iterator(); all.hasNext(); ) {
      Ticket ticket = all.next();
      if (ticket.word == word && ticket.mayEnter(value)) {
        return remove(all, ticket);
      }
    }
    return null;
  }

  /** Rotates: returns the lock word of the least recently polled ticket. */
  synchronized long nextWord() {
    Ticket first = tickets.poll();
    if (first == null) {
      return NONE;
    }
    tickets.add(first);
    return first.word;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Written under the monitor alone.
  private Ticket remove(Iterator<Ticket> all, Ticket ticket) {
    all.remove();
    count--;
    return ticket;
  }
}
