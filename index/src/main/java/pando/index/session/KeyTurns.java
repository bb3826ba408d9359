package pando.index.session;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.index.bugs.PlantedBug;

/**
 * Lets sessions of one compute server that want the same key at the same time take turns. One
 * session of a turn executes for all. Readers then need one READ together (SMART's read
 * delegation), writers one lock and one WRITE (write combining). Use one object for reads and
 * another for writes. Thread-safe; allocates nothing once seats are open, unless one gives up.
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
   * Each session has a ticket. Each slot of the table is a stack of tickets, all of one key. The word
   * of a slot has the number of the ticket at the top, and counts changes; each ticket has the number
   * of the one below it. The lower tickets are the turn that is executed, those above the next turn:
   *
   *   word: changes 48 | top 16
   *              |
   *              v
   *              f -> e -> d -> c -> b -> a -> ...
   *              |-- next ---|  |-- turn ---|
   *                             ^           ^
   *                            top         end: the top of the turn before
   *
   * A session that finds a slot empty leads a turn of its own at once. A session that finds tickets of
   * its key pushes its own, and waits. It belongs to the next turn, as the READ of the turn under way
   * may have taken effect before the session came.
   *
   * When a turn has been executed, its leader ends it in two steps:
   *
   *   1. It looks at the top of the stack. If that is the top of its own turn, nobody has come, and it
   *      empties the slot. If not, the tickets above its turn are the next turn, which is complete now:
   *      the leader appoints a session of it that still waits as the next leader.
   *   2. It answers the other sessions of its own turn, and not before.
   *
   * A turn ends at the ticket that was the top of the turn before. The session of that ticket may push
   * it again once it is answered, in step 2. Step 1 has completed the turn by then, so the ticket joins
   * a later turn, and never the one whose end it marks.
   *
   * A session that finds tickets of another key goes alone. So does one whose turn has failed.
   *
   * A session that gives up waiting leaves its ticket in the stack, and takes a new one for its next
   * operation. Others may read the old ticket for long: a leader that has applied its operation may
   * apply it again. So nobody uses that ticket or its number again.
   *
   * If the Java stack of a thread overflows in an operation, it may overflow again as the session ends
   * its turn. Then the session ends that turn before its next operation, or as it closes.
   */

  private static final int SLOT_BITS = 12;
  private static final int TICKET_BITS = 16;
  private static final int TICKET_MASK = (1 << TICKET_BITS) - 1;
  private static final long HASH = 0x9E37_79B9_7F4A_7C15L;

  /** No ticket has this number. */
  static final int NONE = 0;

  /** In place of a slot: the session's ticket is in none. */
  static final int ALONE = -1;

  private final AtomicLongArray tops = new AtomicLongArray(1 << SLOT_BITS);
  private final BitSet numbers = new BitSet();
  private final boolean plantsOldResults;
  private volatile @Nullable Ticket[] tickets = new Ticket[8];

  /** Creates a table without seats. */
  public KeyTurns() {
    this(PlantedBug.TURN_OLD_RESULT);
  }

  /**
   * Creates a table without seats.
   *
   * @param plantsOldResults whether to answer also those who came during the execution: a bug that
   *     tests must find
   */
  KeyTurns(boolean plantsOldResults) {
    this.plantsOldResults = plantsOldResults;
    numbers.set(NONE);
  }

  /**
   * Opens a seat for a session.
   *
   * @throws IllegalStateException if there are too many, those counted as well that were abandoned
   */
  public Seat open() {
    return new Seat(this, newTicket());
  }

  synchronized Ticket newTicket() {
    int number = numbers.nextClearBit(0);
    if (number > TICKET_MASK) {
      throw new IllegalStateException("too many sessions: maximum=" + TICKET_MASK);
    }
    numbers.set(number);
    @Nullable Ticket[] all = tickets;
    if (number >= all.length) {
      all = Arrays.copyOf(all, 2 * all.length);
    }
    Ticket ticket = new Ticket(number);
    all[number] = ticket;
    tickets = all;
    return ticket;
  }

  /** Gives the number of a ticket back. It is in no slot. */
  synchronized void free(Ticket ticket) {
    numbers.clear(ticket.number);
  }

  Ticket ticket(int number) {
    return Objects.requireNonNull(tickets[number]);
  }

  private static int slot(long key) {
    return (int) ((key * HASH) >>> (Long.SIZE - SLOT_BITS));
  }

  private static int top(long word) {
    return (int) word & TICKET_MASK;
  }

  private static long withTop(long word, int top) {
    return ((word >>> TICKET_BITS) + 1) << TICKET_BITS | top;
  }

  /**
   * Puts a ticket into the slot of its key: to lead, if the slot is empty, else to wait.
   *
   * @return the slot, or {@link #ALONE} if another key has it
   */
  int push(Ticket ticket, Backoff backoff) {
    long key = ticket.request.key();
    int slot = slot(key);
    while (true) {
      long word = tops.get(slot);
      int next = top(word);
      if (next != NONE && ticket(next).request.key() != key) {
        return ALONE;
      }
      ticket.next = next;
      ticket.setState(next == NONE ? Ticket.LEADING : Ticket.WAITING);
      backoff.transition();
      if (tops.compareAndSet(slot, word, withTop(word, ticket.number))) {
        return slot;
      }
    }
  }

  /**
   * Has another session lead the next turn, or empties the slot.
   *
   * @param top the top of the turn that ends
   */
  void passOn(int slot, int top) {
    int endOfNext = top;
    while (true) {
      long word = tops.get(slot);
      int topOfNext = top(word);
      if (topOfNext == endOfNext) {
        if (tops.compareAndSet(slot, word, withTop(word, NONE))) {
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
      Ticket ticket = ticket(each);
      each = ticket.next;
      ticket.top = topOfNext;
      ticket.end = endOfNext;
      if (ticket.changeState(Ticket.WAITING, Ticket.LEADING)) {
        return true;
      }
    }
    return false;
  }

  /** Returns the top of the turn that a leader answers. */
  int topToAnswer(int slot, Ticket leader) {
    return plantsOldResults ? top(tops.get(slot)) : leader.top;
  }
}
