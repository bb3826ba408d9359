package pando.baselines.deft;

/**
 * The word of a shared-exclusive lock, DEFT's SX lock.
 *
 * <pre>
 *  63        48 47        32 31        16 15         0
 * +------------+------------+------------+------------+
 * | X_CUR      | X_TIC      | S_CUR      | S_TIC      |
 * +------------+------------+------------+------------+
 * </pre>
 *
 * <p>X is exclusive, S is shared. TIC is the next ticket of a mode, CUR the number of released
 * tickets. Each field counts modulo 2^16 and does not carry into another one, so at most 65,535
 * tickets of a mode may be open at a time. This class only computes.
 */
final class SxWord {
  /** The highest bit of each field, for masked FAA. */
  static final long BOUNDARIES = 0x8000_8000_8000_8000L;

  /** Addend that takes a shared ticket. */
  static final long TAKE_SHARED = 1;

  /** Addend that releases a shared ticket. */
  static final long LEAVE_SHARED = 1L << 16;

  /** Addend that takes an exclusive ticket. */
  static final long TAKE_EXCLUSIVE = 1L << 32;

  /** Addend that releases an exclusive ticket. */
  static final long LEAVE_EXCLUSIVE = 1L << 48;

  /** Addend that exchanges a shared ticket for an exclusive one. */
  static final long UPGRADE = TAKE_EXCLUSIVE + LEAVE_SHARED;

  /** No lock's word: more exclusive tickets would be out than can be. */
  static final long NONE = LEAVE_EXCLUSIVE;

  private static final int FIELD_MASK = 0xFFFF;

  private SxWord() {}

  /** Returns the number of exclusive tickets released, modulo 2^16. */
  static int xCurrent(long word) {
    return (int) (word >>> 48) & FIELD_MASK;
  }

  /** Returns the next exclusive ticket. */
  static int xTicket(long word) {
    return (int) (word >>> 32) & FIELD_MASK;
  }

  /** Returns the number of shared tickets released, modulo 2^16. */
  static int sCurrent(long word) {
    return (int) (word >>> 16) & FIELD_MASK;
  }

  /** Returns the next shared ticket. */
  static int sTicket(long word) {
    return (int) word & FIELD_MASK;
  }

  /** Adds field by field, as a masked FAA does. */
  static long add(long word, long addend) {
    long sum = (word & ~BOUNDARIES) + (addend & ~BOUNDARIES);
    return sum ^ ((word ^ addend) & BOUNDARIES);
  }

  /** Returns whether no session holds the lock or waits for it. */
  static boolean isIdle(long word) {
    return isFreeForShared(word) && sCurrent(word) == sTicket(word);
  }

  /** Returns whether a shared ticket has its turn at once, if taking it found this word. */
  static boolean isFreeForShared(long before) {
    return xCurrent(before) == xTicket(before);
  }

  /**
   * Returns whether an exclusive ticket has its turn at once, if exchanging a shared one for it
   * found this word.
   */
  static boolean isFreeForUpgrade(long before) {
    return isIdle(add(before, LEAVE_SHARED));
  }

  /**
   * Returns whether a shared ticket's turn has come. That stays so until the ticket is released.
   *
   * @param xTicket the next exclusive ticket when this one was taken
   */
  static boolean mayEnterShared(long word, int xTicket) {
    return xCurrent(word) == xTicket;
  }

  /**
   * Returns whether an exclusive ticket's turn has come. That stays so until the ticket is
   * released.
   *
   * @param xTicket the ticket
   * @param sTicket the next shared ticket when this one was taken; also for an upgrade
   */
  static boolean mayEnterExclusive(long word, int xTicket, int sTicket) {
    return xCurrent(word) == xTicket && sCurrent(word) == sTicket;
  }

  /** Returns the number of unreleased exclusive tickets before {@code xTicket}. */
  static int ahead(long word, int xTicket) {
    return (xTicket - xCurrent(word)) & FIELD_MASK;
  }

  /** Returns all counters, for messages. */
  static String toString(long word) {
    return "X_CUR=%s, X_TIC=%s, S_CUR=%s, S_TIC=%s"
        .formatted(xCurrent(word), xTicket(word), sCurrent(word), sTicket(word));
  }
}
