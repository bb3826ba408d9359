package pando.baselines.lock;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.Worker;
import pando.fabric.memory.Words;

/**
 * Maps nodes to their locks. A node's lock is an entry of the lock table in the on-chip region of
 * the node's memory server (Sherman section 4.3), or a word of the node. With local locks, each
 * on-chip lock has a local queue in front.
 *
 * <pre>
 *  on-chip region, 4 locks to a word     63        48 47        32 31        16 15         0
 *                                       +------------+------------+------------+------------+
 *                                       | lock 4i + 3| lock 4i + 2| lock 4i + 1| lock 4i    |
 *                                       +------------+------------+------------+------------+
 *  with versions, and in nodes           63                                  16 15         0
 *                                       +--------------------------------------+------------+
 *                                       | version, 0 without                   | lock       |
 *                                       +--------------------------------------+------------+
 *  lock   0, or (compute server + 1) 7 | session 9
 * </pre>
 *
 * <p>Several nodes may share a lock.
 */
public final class LockTables {
  static final int LOCK_BITS = 16;

  /** Mask of a lock at bit 0 of its word. */
  public static final long LOCK_MASK = (1L << LOCK_BITS) - 1;

  /** Number of bits of a lock that name the session; the bits above name the compute server. */
  public static final int SESSION_BITS = 9;

  static final long SESSION_MASK = (1L << SESSION_BITS) - 1;

  /** Nodes start at multiples of this. */
  private static final int LINE_BYTES = 64;

  private static final int LOCKS_TO_A_WORD = Long.SIZE / LOCK_BITS;

  private final boolean onChip;
  private final boolean versions;
  private final int wordOffset;
  private final int locks;
  private final List<LocalLocks> locals = new ArrayList<>();

  /** Creates the tables of a compute server. */
  public LockTables(Fabric fabric, LockOptions options) {
    onChip = options.onChip();
    versions = options.versions();
    wordOffset = options.wordOffset();
    int words = fabric.capabilities().onChipBytes() / Long.BYTES;
    locks = versions ? words : words * LOCKS_TO_A_WORD;
    for (int i = 0; options.local() && i < fabric.memoryServers(); i++) {
      locals.add(new LocalLocks(locks));
    }
  }

  /** Returns the name of a node's lock. Nodes that share a lock have the same name. */
  public long lockOf(long node) {
    if (!onChip) {
      return node + wordOffset;
    }
    long offset = GlobalAddress.offset(node) / LINE_BYTES;
    long spread = (offset * 0x9E37_79B9_7F4A_7C15L) >>> Integer.SIZE;
    return GlobalAddress.onChip(GlobalAddress.server(node), spread % locks);
  }

  /** Returns the address of the word that contains a lock. */
  public long wordOf(long lock) {
    if (!onChip) {
      return lock;
    }
    int perWord = versions ? 1 : LOCKS_TO_A_WORD;
    long word = GlobalAddress.offset(lock) / perWord;
    return GlobalAddress.onChip(GlobalAddress.server(lock), word * Long.BYTES);
  }

  /** Returns the bit of its word at which a lock begins. */
  public int shiftOf(long lock) {
    return onChip && !versions
        ? (int) (GlobalAddress.offset(lock) % LOCKS_TO_A_WORD) * LOCK_BITS
        : 0;
  }

  /** Returns the mask of those bits of a word that are locks. */
  public long maskOfWord() {
    return onChip && !versions ? -1 : LOCK_MASK;
  }

  /** Returns the local locks in front of a memory server's locks. Only with local locks. */
  public LocalLocks localOf(long lock) {
    return locals.get(GlobalAddress.server(lock));
  }

  /**
   * Reports each word of the on-chip regions with a lock that is held. Does nothing for locks in
   * nodes.
   *
   * @param message local offset of {@link Worker#CALL_BYTES_MAX} bytes
   * @param problems receives a description of each such word
   */
  public void forEachHeld(Fabric fabric, Worker worker, long message, Consumer<String> problems) {
    if (onChip) {
      forEachWord(fabric, worker, message, word -> (word & maskOfWord()) != 0, problems);
    }
  }

  /**
   * Reports each word of the on-chip regions that is a held lock.
   *
   * @param message local offset of {@link Worker#CALL_BYTES_MAX} bytes
   * @param isHeld returns whether a word is a held lock
   * @param problems receives a description of each such word
   */
  public static void forEachWord(
      Fabric fabric, Worker worker, long message, LongPredicate isHeld, Consumer<String> problems) {
    forEachWord(
        fabric,
        worker,
        message,
        (server, word, found) -> {
          if (isHeld.test(found)) {
            problems.accept(
                "an on-chip lock is held: server=%s, word=%s, found=0x%s"
                    .formatted(server, word, Long.toHexString(found)));
          }
        });
  }

  private static void forEachWord(Fabric fabric, Worker worker, long message, WordVisitor visitor) {
    int words = fabric.capabilities().onChipBytes() / Long.BYTES;
    int most = Worker.CALL_BYTES_MAX / Long.BYTES;
    for (int server = 0; server < fabric.memoryServers(); server++) {
      for (int first = 0; first < words; first += most) {
        int count = Math.min(words - first, most);
        long address = GlobalAddress.onChip(server, (long) first * Long.BYTES);
        worker.read(address, message, count * Long.BYTES);
        for (int i = 0; i < count; i++) {
          long found = Words.get(worker.memory(), message + (long) i * Long.BYTES);
          visitor.visit(server, first + i, found);
        }
      }
    }
  }

  /** Receives the words of the on-chip regions. */
  private interface WordVisitor {
    void visit(int server, int word, long found);
  }

  /**
   * Returns the names of all on-chip locks that a compute server holds; none if locks are in nodes.
   *
   * @param message local offset of {@link Worker#CALL_BYTES_MAX} bytes
   */
  public Set<Long> heldBy(int computeServer, Fabric fabric, Worker worker, long message) {
    Set<Long> held = new HashSet<>();
    if (!onChip) {
      return held;
    }
    int perWord = versions ? 1 : LOCKS_TO_A_WORD;
    forEachWord(
        fabric,
        worker,
        message,
        (server, word, found) -> {
          for (int i = 0; found != 0 && i < perWord; i++) {
            if (isHeldBy(computeServer, found >>> (i * LOCK_BITS))) {
              held.add(GlobalAddress.onChip(server, (long) word * perWord + i));
            }
          }
        });
    return held;
  }

  /** Returns whether a lock in the low bits of a word names a compute server. */
  public static boolean isHeldBy(int computeServer, long lock) {
    return (lock & LOCK_MASK) >>> SESSION_BITS == computeServer + 1;
  }

  /**
   * Unlocks a lock if a compute server that has ended holds it.
   *
   * @param found local offset of 8 bytes
   */
  public void unlockFor(int computeServer, long lock, Worker worker, long found) {
    unlock(lock, (computeServer + 1L) << SESSION_BITS, LOCK_MASK & ~SESSION_MASK, worker, found);
  }

  /**
   * Unlocks a lock if it equals {@code holder} in the bits of {@code compared}.
   *
   * @param found local offset of 8 bytes
   */
  void unlock(long lock, long holder, long compared, Worker worker, long found) {
    long address = wordOf(lock);
    int shift = shiftOf(lock);
    if (!versions) {
      worker.maskedCas(address, holder << shift, compared << shift, 0, LOCK_MASK << shift);
      return;
    }
    worker.read(address, found, Long.BYTES);
    long word = Words.get(worker.memory(), found);
    if (((word ^ holder) & compared) == 0) {
      worker.cas(address, word, nextVersion(word));
    }
  }

  /** Returns the unlocked word with the next version. */
  static long nextVersion(long word) {
    return (word | LOCK_MASK) + 1;
  }

  /** Returns a lock's number among those of its memory server. */
  public static int numberOf(long lock) {
    return (int) GlobalAddress.offset(lock);
  }
}
