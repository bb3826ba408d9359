package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import pando.baselines.lock.LockTables;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.memory.Words;

/**
 * The bytes of a <i>run</i>: the leaves of one model, side by side, so that the model's leaf table
 * is the address of the first. The address of a leaf is computed, as in the paper.
 *
 * <pre>
 *    0  counts    8   leaves without an entry 32 | synonym leaves behind the run's leaves 32
 *    8  gate      8   whether writes by CALL may come in: open, frozen, or retired
 *   64  leaves    size of a leaf each
 *
 *   gate, open: the place of the run; retired: 1; frozen:
 *                    63  62           47 46             32 31                    0
 *                   +---+---------------+-----------------+-----------------------+
 *                   | 1 | owner         | ticket          | mark of the place     |
 *                   +---+---------------+-----------------+-----------------------+
 *
 *   place of a run   63                                    6 5        0
 *                   +---------------------------------------+----------+
 *                   | address of the run                    | leaves   |
 *                   +---------------------------------------+----------+
 * </pre>
 *
 * <p>A run has one of a few lengths, so that what one run gave back is what another needs.
 */
final class RunLayout {
  /** Leaves that a run can have at most. */
  static final int LEAVES_MAX = 63;

  static final int COUNTS = 0;
  static final int GATE = 8;
  static final int HEADER_BYTES = 64;

  /** In place of the gate of a run that was replaced. */
  static final long RETIRED = RolexLeafLayout.RETIRED;

  /** Number of bits of a gate that name the session that has frozen the run. */
  static final int OWNER_BITS = 16;

  private static final int ALIGNMENT = 64;
  private static final int TICKET_BITS = 15;
  private static final long TICKET_MASK = (1L << TICKET_BITS) - 1;
  private static final int OWNER_SHIFT = Integer.SIZE + TICKET_BITS;
  private static final long MARK = 0x9E37_79B9_7F4A_7C15L;

  /** The least that is allocated. */
  private static final int BYTES_MIN = 128;

  private static final long LEAVES_MASK = 63;

  /** The lengths of runs: from 2 on, none is more than half as much again as the one before. */
  private static final int[] LENGTHS = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 63};

  private final int leafBytes;

  /** Creates the layout of runs of leaves of some size. */
  RunLayout(int leafBytes) {
    this.leafBytes = leafBytes;
  }

  /** Returns the number of lengths that a run of at most so many leaves can have. */
  static int lengths(int leavesMax) {
    int lengths = 0;
    while (lengths < LENGTHS.length && LENGTHS[lengths] <= leavesMax) {
      lengths++;
    }
    return lengths;
  }

  /** Returns a length, the shortest being number 0. */
  static int length(int number) {
    return LENGTHS[number];
  }

  /** Returns the index of the greatest run length that is &lt;= {@code leaves}. */
  static int numberOfLength(int leaves) {
    return lengths(leaves) - 1;
  }

  /** Returns the bytes of a run, a multiple of 64. */
  int bytes(int leaves) {
    return aligned(HEADER_BYTES + leaves * leafBytes);
  }

  /** Returns the bytes of a synonym leaf with those around it, a multiple of 64. */
  int synonymBytes() {
    return aligned(Math.max(leafBytes, BYTES_MIN));
  }

  private static int aligned(int bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }

  /** Returns where a leaf starts in a run. */
  long leafOffset(int leaf) {
    return HEADER_BYTES + (long) leaf * leafBytes;
  }

  /** Returns the address of a leaf. */
  long leafAddress(long place, int leaf) {
    return address(place) + leafOffset(leaf);
  }

  static long place(long address, int leaves) {
    return address | leaves;
  }

  static long address(long place) {
    return place & ~LEAVES_MASK;
  }

  static int leaves(long place) {
    return (int) (place & LEAVES_MASK);
  }

  /**
   * Returns the word that counts so many leaves without an entry, chain included, and so many
   * synonym leaves. One such word added to another adds both counts, negative ones as well.
   */
  static long counts(int empties, int synonyms) {
    return ((long) empties << Integer.SIZE) + synonyms;
  }

  static int empties(long counts) {
    return (int) (counts >>> Integer.SIZE);
  }

  static int synonyms(long counts) {
    return (int) counts;
  }

  static void setCounts(MemorySegment memory, long run, long counts) {
    Words.set(memory, run + COUNTS, counts);
  }

  static void setGate(MemorySegment memory, long run, long gate) {
    Words.set(memory, run + GATE, gate);
  }

  /** Returns the gate of a frozen run. Each freeze must use another ticket. */
  static long frozen(long place, long owner, long ticket) {
    long holder = owner << OWNER_SHIFT | (ticket & TICKET_MASK) << Integer.SIZE;
    return Long.MIN_VALUE | holder | mark(place);
  }

  /**
   * Returns whether a gate is that of a frozen run at a place. Bytes that are there after the run
   * was replaced are not.
   */
  static boolean isFrozen(long gate, long place) {
    return gate < 0 && (gate & Integer.toUnsignedLong(-1)) == mark(place);
  }

  /** Returns whether a compute server has frozen the run at a place. */
  static boolean isFrozenBy(int computeServer, long gate, long place) {
    return isFrozen(gate, place) && LockTables.isHeldBy(computeServer, gate >>> OWNER_SHIFT);
  }

  private static long mark(long place) {
    return (place * MARK) >>> Integer.SIZE;
  }

  /** Returns the exception for a run that stayed frozen by the session in its gate. */
  static StalledException stayedFrozen(long place, long gate, long waitedNanos) {
    long owner = (gate & Long.MAX_VALUE) >>> OWNER_SHIFT;
    return new StalledException(
        "a run stayed frozen: run=%s, holder=computeServer %s session %s, waitedNanos=%s"
            .formatted(
                toString(place),
                (owner >>> LockTables.SESSION_BITS) - 1,
                owner & ((1 << LockTables.SESSION_BITS) - 1),
                waitedNanos));
  }

  static boolean isAligned(long address) {
    return (address & LEAVES_MASK) == 0;
  }

  static String toString(long place) {
    return GlobalAddress.toString(address(place)) + "+" + leaves(place);
  }
}
