package pando.index.deft;

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
 * <p>TIC is the next ticket of a mode, CUR counts those who let go. Each field counts modulo 2^16
 * and carries into no other; so no more than 65,535 tickets of a mode may be out at once.
 * Arithmetic alone.
 */
final class SxWord {
  /** The highest bit of each field, for masked FAA. */
  static final long BOUNDARIES = 0x8000_8000_8000_8000L;

  /** What taking a shared ticket adds. */
  static final long TAKE_SHARED = 1;

  /** What letting go of a shared ticket adds. */
  static final long LEAVE_SHARED = 1L << 16;

  /** What taking an exclusive ticket adds. */
  static final long TAKE_EXCLUSIVE = 1L << 32;

  /** What letting go of an exclusive ticket adds. */
  static final long LEAVE_EXCLUSIVE = 1L << 48;

  /** What taking an exclusive ticket for a shared one adds. */
  static final long UPGRADE = TAKE_EXCLUSIVE + LEAVE_SHARED;

  private static final int FIELD_MASK = 0xFFFF;

  private SxWord() {}

  /** Returns how many exclusive tickets were let go of. */
  static int xCurrent(long word) {
    return (int) (word >>> 48) & FIELD_MASK;
  }

  /** Returns the next exclusive ticket. */
  static int xTicket(long word) {
    return (int) (word >>> 32) & FIELD_MASK;
  }

  /** Returns how many shared tickets were let go of. */
  static int sCurrent(long word) {
    return (int) (word >>> 16) & FIELD_MASK;
  }

  /** Returns the next shared ticket. */
  static int sTicket(long word) {
    return (int) word & FIELD_MASK;
  }

  /** Adds field by field, as masked FAA does. */
  static long add(long word, long addend) {
    long sum = (word & ~BOUNDARIES) + (addend & ~BOUNDARIES);
    return sum ^ ((word ^ addend) & BOUNDARIES);
  }

  /** Returns whether nobody holds the lock nor waits for it. */
  static boolean isIdle(long word) {
    return isFreeForShared(word) && sCurrent(word) == sTicket(word);
  }

  /** Returns whether whoever took a shared ticket and found this may enter at once. */
  static boolean isFreeForShared(long before) {
    return xCurrent(before) == xTicket(before);
  }

  /** Returns whether whoever took an exclusive ticket for his shared one may enter at once. */
  static boolean isFreeForUpgrade(long before) {
    return isIdle(add(before, LEAVE_SHARED));
  }

  /**
   * Returns whether a shared ticket's turn has come. It stays so until the ticket is let go of.
   *
   * @param xTicket the next exclusive ticket when it was taken
   */
  static boolean mayEnterShared(long word, int xTicket) {
    return xCurrent(word) == xTicket;
  }

  /**
   * Returns whether an exclusive ticket's turn has come. It stays so until the ticket is let go of.
   *
   * @param xTicket the ticket
   * @param sTicket the next shared ticket when it was taken; of an upgrade, too
   */
  static boolean mayEnterExclusive(long word, int xTicket, int sTicket) {
    return xCurrent(word) == xTicket && sCurrent(word) == sTicket;
  }

  /** Returns how many exclusive tickets go before one that was taken at an exclusive ticket. */
  static int ahead(long word, int xTicket) {
    return (xTicket - xCurrent(word)) & FIELD_MASK;
  }

  /** Returns all counters, for messages. */
  static String toString(long word) {
    return "X_CUR="
        + xCurrent(word)
        + ", X_TIC="
        + xTicket(word)
        + ", S_CUR="
        + sCurrent(word)
        + ", S_TIC="
        + sTicket(word);
  }
}
