package pando.baselines.deft;

import org.jspecify.annotations.Nullable;
import pando.baselines.deft.AbandonedTickets.Ticket;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.session.Retry;

/** DEFT's fair shared-exclusive locks. Each is taken by one masked FAA. */
final class SxLocks extends DeftNodeLocks {
  /*
   * A ticket lock in one word, see SxWord. A session locks by an FAA that adds a ticket; the word
   * that the FAA finds shows which tickets are earlier. A shared ticket has its turn when all
   * earlier exclusive tickets are released, an exclusive one when all earlier shared tickets are
   * released, too. So consecutive shared tickets hold the lock together, and no ticket overtakes
   * another. In the common case there is no wait: then the READs after the FAA, in the same
   * doorbell list, were done under the lock. A session unlocks by an FAA after its last change. An
   * upgrade takes an exclusive ticket and releases the shared one in a single FAA, so that two
   * upgrades do not wait for each other; the second one waits for the first and reads again.
   *
   * Once its turn has come, a ticket has its turn until it is released, as later tickets wait for
   * it. So a waiter polls by READs; the more exclusive tickets are before it, the less often. The
   * waiter that is next posts the caller's READs after each poll, so that they are done when its
   * turn has come.
   *
   * Fields count modulo 2^16. A session has at most one open ticket of a mode on a word, and there
   * are at most 511 sessions on each of 64 compute servers, so at most 32,704 tickets are open.
   *
   * A session that gives up waiting cannot take its ticket back; it adds the ticket to the
   * AbandonedTickets of its process. The process's next session that locks the same word in the
   * same mode waits with that ticket instead of a new one, so that repeated timeouts do not
   * increase the number of tickets. A waiter for the word releases abandoned tickets whose turn
   * has come, never earlier: a shared ticket released early would let an exclusive one in while
   * another shared one holds the lock. Other compute servers may wait for a word that no session
   * here locks again; so each session polls the word of some abandoned ticket now and then.
   *
   * If a list that takes a ticket fails, the word that its FAA has found shows that the ticket was
   * taken. If there is none and the outcome is unknown, the ticket may have been taken or not. To
   * release a ticket that was not taken would let other sessions in too early, so the ticket is
   * lost: if it was taken, the lock stays locked. The same holds for the release of a shared
   * ticket. The release of an exclusive ticket is repeated, as X_CUR shows whether it took effect:
   * only the ticket's holder can increase X_CUR past the ticket.
   *
   * A session that has lost a ticket asks for a drain (see Drainer), which resets the word. Others
   * that wait for the word meanwhile abandon their tickets and rest, and then take new ones.
   */

  private static final int EAGER = 1_000;

  /** What is added to the number of a pause if twice as many exclusive tickets are earlier. */
  private static final int PAUSE_DOUBLING = 4;

  private static final int ATTEMPTS_TO_A_PAUSE = 16;

  /** Number of lock operations to one poll of an abandoned ticket. */
  private static final int LOOK_PERIOD = 64;

  /** What has ended a wait. */
  private enum Outcome {
    /** The turn came, and the caller's READs were done under the lock. */
    READ,
    /** The turn came; the READs are to be done yet. */
    WAITED,
    /** A drain has asked for rest. */
    REST
  }

  private final Drains drains;
  private final AbandonedTickets abandoned;
  private int looks;

  /** The exclusive ticket, or the next one when it was taken, of what has its turn. */
  private int turn;

  SxLocks(LockWords words, Drains drains, long waitNanos, Worker worker, long scratch) {
    super(words, waitNanos, worker, scratch);
    this.drains = drains;
    this.abandoned = drains.abandoned;
  }

  @Override
  boolean take(long node, long word, boolean exclusively, VerbList reads) {
    boolean read = awaitTurn(node, word, exclusively, reads);
    hold(word, exclusively, turn);
    return read;
  }

  /**
   * Takes a ticket and waits for its {@link #turn}; returns whether the READs were done under the
   * lock.
   */
  private boolean awaitTurn(long node, long word, boolean exclusively, VerbList reads) {
    long since = worker.nanoTime();
    Outcome outcome = tryTurn(node, word, exclusively, reads, since);
    while (outcome == Outcome.REST) {
      rest();
      outcome = tryTurn(node, word, exclusively, reads, since);
    }
    return outcome == Outcome.READ;
  }

  /** Takes a ticket and waits for its turn; returns what has ended the wait. */
  private Outcome tryTurn(long node, long word, boolean exclusively, VerbList reads, long since) {
    Ticket other = abandoned.areThere() ? lookAfter(word, exclusively) : null;
    if (other != null) {
      return await(node, other, reads, since);
    }
    long addend = exclusively ? SxWord.TAKE_EXCLUSIVE : SxWord.TAKE_SHARED;
    long before;
    try {
      before = add(word, addend, reads);
    } catch (RuntimeException | Error e) {
      keepTaken(word, addend, e);
      throw e;
    }
    boolean free = exclusively ? SxWord.isIdle(before) : SxWord.isFreeForShared(before);
    turn = SxWord.xTicket(before);
    if (free) {
      return Outcome.READ;
    }
    return await(node, new Ticket(word, exclusively, turn, SxWord.sTicket(before)), reads, since);
  }

  /**
   * Returns an abandoned ticket to wait with, or {@code null}. Now and then, polls another
   * abandoned ticket.
   */
  private @Nullable Ticket lookAfter(long word, boolean exclusively) {
    if (++looks % LOOK_PERIOD == 0) {
      settleNext();
    }
    return abandoned.takeOver(word, exclusively);
  }

  private long add(long word, long addend, VerbList reads) {
    Words.set(worker.memory(), found, SxWord.NONE);
    begin().maskedFaa(word, addend, SxWord.BOUNDARIES, found);
    return postWith(reads);
  }

  /** Returns, after {@link #add} has failed, whether the ticket was taken for certain. */
  private boolean isTaken() {
    return Words.get(worker.memory(), found) != SxWord.NONE;
  }

  /**
   * Keeps, after {@link #add} has failed, a ticket that was taken, to be released; loses one that
   * may have been.
   */
  private void keepTaken(long word, long addend, Throwable failure) {
    if (!isTaken()) {
      loseIfUnknown(word, failure);
      return;
    }
    long before = Words.get(worker.memory(), found);
    boolean exclusively = addend != SxWord.TAKE_SHARED;
    Ticket ticket = new Ticket(word, exclusively, SxWord.xTicket(before), SxWord.sTicket(before));
    if (ticket.mayEnter(SxWord.add(before, addend))) {
      hold(word, exclusively, ticket.xTicket());
    } else {
      abandoned.add(ticket);
    }
  }

  @Override
  boolean exchange(int place, long node, VerbList reads) {
    long word = word(place);
    long before = addUpgrade(place, word, reads);
    boolean free = SxWord.isFreeForUpgrade(before);
    turn = SxWord.xTicket(before);
    try {
      boolean read =
          free || awaitUpgrade(node, new Ticket(word, true, turn, SxWord.sTicket(before)), reads);
      holdExclusively(place, turn);
      return read;
    } catch (RuntimeException | Error e) {
      // The shared ticket is released.
      forget(place);
      throw e;
    }
  }

  private boolean awaitUpgrade(long node, Ticket ticket, VerbList reads) {
    Outcome outcome = await(node, ticket, reads, worker.nanoTime());
    if (outcome == Outcome.REST) {
      rest();
      return awaitTurn(node, ticket.word(), true, reads);
    }
    return outcome == Outcome.READ;
  }

  private long addUpgrade(int place, long word, VerbList reads) {
    try {
      return add(word, SxWord.UPGRADE, reads);
    } catch (RuntimeException | Error e) {
      if (isTaken() || isUnknown(e)) {
        // The shared ticket is released, or may be.
        forget(place);
        keepTaken(word, SxWord.UPGRADE, e);
      }
      throw e;
    }
  }

  /**
   * Waits for a ticket's turn; returns what has ended the wait. If it is {@link Outcome#REST}, or
   * this fails, the ticket is abandoned.
   *
   * @param since when the session began to wait, with this ticket or others before it
   */
  private Outcome await(long node, Ticket ticket, VerbList reads, long since) {
    boolean hasTurn = false;
    try {
      Outcome outcome = poll(node, ticket, reads, since);
      hasTurn = outcome != Outcome.REST;
      turn = hasTurn ? ticket.xTicket() : turn;
      return outcome;
    } finally {
      if (!hasTurn) {
        abandoned.add(ticket);
      }
    }
  }

  /** Waits for a ticket's turn; returns what has ended the wait. */
  private Outcome poll(long node, Ticket ticket, VerbList reads, long since) {
    long word = ticket.word();
    long start = worker.nanoTime();
    boolean isNext = true;
    for (int attempt = 0; ; attempt++) {
      long value = isNext ? readWith(word, reads) : read(word);
      if (ticket.mayEnter(value)) {
        return isNext ? Outcome.READ : Outcome.WAITED;
      }
      boolean isLate = WaitLimit.LONG.isOver(worker.nanoTime() - since);
      if (isRestAsked() && !isLate) {
        return Outcome.REST;
      }
      settle(word, value);
      if (isOver(attempt, EAGER, start) && (isLate || !isDrainAsked())) {
        throw stayedLocked(node, word, SxWord.toString(value) + describe(ticket), start);
      }
      int ahead = SxWord.ahead(value, ticket.xTicket());
      isNext = ahead <= 1;
      int doublings = Integer.SIZE - Integer.numberOfLeadingZeros(ahead);
      int pause = PAUSE_DOUBLING * doublings + attempt / ATTEMPTS_TO_A_PAUSE;
      worker.backoff().pauseBriefly(pause);
    }
  }

  private static String describe(Ticket ticket) {
    return ", wanted=%s, xTicket=%s, sTicket=%s"
        .formatted(
            ticket.isExclusive() ? "exclusive" : "shared", ticket.xTicket(), ticket.sTicket());
  }

  /**
   * Returns whether a word may stay locked because of a drain, even if that does not reset it:
   * those who have their turn may rest. Not while a change of the whole index waits for this
   * session: a drain waits for that.
   */
  private boolean isDrainAsked() {
    if (isGateShut()) {
      return false;
    }
    boolean asked = drains.asked() != DrainWords.NOWHERE || DrainWords.areToBeReset(worker, found);
    if (asked) {
      drains.wake();
    }
    return asked;
  }

  private long readWith(long word, VerbList reads) {
    begin().read(word, found, Long.BYTES);
    return postWith(reads);
  }

  @Override
  boolean tryTake(long word) {
    long value = read(word);
    if (SxWord.isIdle(value) && takeIfStill(word, value)) {
      hold(word, true, SxWord.xTicket(value));
      return true;
    }
    settle(word, value);
    return false;
  }

  private boolean takeIfStill(long word, long value) {
    try {
      return addIfStill(word, value, SxWord.TAKE_EXCLUSIVE);
    } catch (RuntimeException | Error e) {
      loseIfUnknown(word, e);
      throw e;
    }
  }

  @Override
  boolean tryExchange(int place) {
    long value = read(word(place));
    if (SxWord.isFreeForUpgrade(value) && upgradeIfStill(place, value)) {
      holdExclusively(place, SxWord.xTicket(value));
      return true;
    }
    return false;
  }

  private boolean upgradeIfStill(int place, long value) {
    try {
      return addIfStill(word(place), value, SxWord.UPGRADE);
    } catch (RuntimeException | Error e) {
      if (isUnknown(e)) {
        long word = word(place);
        forget(place);
        lose(word);
      }
      throw e;
    }
  }

  private boolean addIfStill(long word, long value, long addend) {
    return worker.cas(word, value, SxWord.add(value, addend)) == value;
  }

  @Override
  boolean isInPool(int place) {
    return SxWord.xCurrent(read(word(place))) == ticket(place);
  }

  @Override
  void addRelease(int place, VerbList changes) {
    changes.maskedFaa(word(place), addendOfRelease(isExclusive(place)), SxWord.BOUNDARIES, found);
  }

  @Override
  void release(long word, boolean exclusively, int ticket, boolean maybeDone) {
    if (!maybeDone || SxWord.xCurrent(read(word)) == ticket) {
      worker.maskedFaa(word, addendOfRelease(exclusively), SxWord.BOUNDARIES);
    }
  }

  private static long addendOfRelease(boolean exclusively) {
    return exclusively ? SxWord.LEAVE_EXCLUSIVE : SxWord.LEAVE_SHARED;
  }

  private void loseIfUnknown(long word, Throwable failure) {
    if (isUnknown(failure)) {
      lose(word);
    }
  }

  /** Asks for the lock to be reset, once what this session did there takes no effect any more. */
  @Override
  void lose(long word) {
    try {
      Retry.untilDone(worker, () -> read(word));
    } catch (RuntimeException | Error _) {
      // The caller throws what has led here. What is unknown may take effect at any time.
      drains.refuse();
      return;
    }
    drains.ask(GlobalAddress.server(word));
  }

  /** {@inheritDoc} No drain may unlock them. */
  @Override
  public void keep() {
    drains.refuse();
    super.keep();
  }

  @Override
  void settle() {
    for (int left = abandoned.count(); left > 0; left--) {
      settleNext();
    }
  }

  private void settleNext() {
    long word = abandoned.nextWord();
    if (word != AbandonedTickets.NONE) {
      settle(word, read(word));
    }
  }

  /** Releases those abandoned tickets of a word whose turn has come. */
  private void settle(long word, long value) {
    if (!abandoned.areThere()) {
      return;
    }
    Ticket due = abandoned.takeDue(word, value);
    while (due != null) {
      releaseSurely(word, due.isExclusive(), due.xTicket(), false);
      // Other tickets may have their turn now.
      due = abandoned.takeDue(word, read(word));
    }
  }
}
