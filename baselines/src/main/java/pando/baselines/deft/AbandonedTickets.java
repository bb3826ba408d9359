package pando.baselines.deft;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;

/**
 * The tickets of a process's sessions that gave up waiting. Each must be released when its turn has
 * come; otherwise no later ticket ever gets its turn, unless a {@linkplain Drainer drain} resets
 * the word. Thread-safe. A ticket is returned to one caller only.
 */
final class AbandonedTickets {
  /** Returned instead of the address of a word if there is no ticket. */
  static final long NONE = -1;

  private final Queue<Ticket> tickets = new ArrayDeque<>();

  /** Tickets whose words are reset by the round of a drain, unless that is given up. */
  private final List<Ticket> aside = new ArrayList<>();

  private volatile int count;

  /**
   * A ticket.
   *
   * @param word address of the lock word
   * @param xTicket the next exclusive ticket when this one was taken; for an exclusive ticket, its
   *     own number
   * @param sTicket the next shared ticket when this one was taken
   */
  record Ticket(long word, boolean isExclusive, int xTicket, int sTicket) {
    /** Returns whether the ticket's turn has come. */
    boolean mayEnter(long value) {
      return isExclusive
          ? SxWord.mayEnterExclusive(value, xTicket, sTicket)
          : SxWord.mayEnterShared(value, xTicket);
    }
  }

  /** Returns whether there are any tickets. */
  boolean areThere() {
    return count > 0;
  }

  /** Returns the number of tickets. */
  int count() {
    return count;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Written under the monitor alone.
  synchronized void add(Ticket ticket) {
    tickets.add(ticket);
    count++;
  }

  /**
   * Removes and returns a ticket with which a session waits instead of taking a new one, or {@code
   * null}.
   */
  synchronized @Nullable Ticket takeOver(long word, boolean exclusive) {
    for (Iterator<Ticket> all = tickets.iterator(); all.hasNext(); ) {
      Ticket ticket = all.next();
      if (ticket.word == word && ticket.isExclusive == exclusive) {
        return remove(all, ticket);
      }
    }
    return null;
  }

  /**
   * Removes and returns a ticket whose turn has come and which the caller must release, or {@code
   * null}.
   */
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

  /** Sets the tickets aside whose words a round of a drain resets. */
  synchronized void setAside(int where) {
    for (Iterator<Ticket> all = tickets.iterator(); all.hasNext(); ) {
      Ticket ticket = all.next();
      if (DrainWords.includes(where, GlobalAddress.server(ticket.word))) {
        aside.add(remove(all, ticket));
      }
    }
  }

  /** Takes the tickets back that were set aside: the round was given up. */
  synchronized void takeBack() {
    aside.forEach(this::add);
    aside.clear();
  }

  /**
   * Forgets the tickets that were set aside.
   *
   * @return where their words are: see {@link DrainWords}
   */
  synchronized int forgetAside() {
    int where = DrainWords.NOWHERE;
    for (Ticket ticket : aside) {
      where = DrainWords.both(where, DrainWords.at(GlobalAddress.server(ticket.word)));
    }
    aside.clear();
    return where;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Written under the monitor alone.
  private Ticket remove(Iterator<Ticket> all, Ticket ticket) {
    all.remove();
    count--;
    return ticket;
  }
}
