package pando.index.lock;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.Worker;
import pando.fabric.memory.Words;

/**
 * Which lock protects a node: one of the global lock table in the on-chip region of the node's
 * memory server (Sherman section 4.3), or a word of the node. With local locks, each on-chip lock
 * has one in front.
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

  /** The bits of a lock, in a word that begins with it. */
  public static final long LOCK_MASK = (1L << LOCK_BITS) - 1;

  /** Bits of a lock that name the session; those above name the compute server. */
  public static final int SESSION_BITS = 9;

  static final long SESSION_MASK = (1L << SESSION_BITS) - 1;

  /** Nodes start at multiples. */
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

  /** Returns a name of a node's lock, the same for nodes that share one. */
  public long lockOf(long node) {
    if (!onChip) {
      return node + wordOffset;
    }
    long offset = GlobalAddress.offset(node) / LINE_BYTES;
    long spread = (offset * 0x9E37_79B9_7F4A_7C15L) >>> Integer.SIZE;
    return GlobalAddress.onChip(GlobalAddress.server(node), spread % locks);
  }

  /** Returns the address of the word that a lock is part of. */
  public long wordOf(long lock) {
    if (!onChip) {
      return lock;
    }
    int perWord = versions ? 1 : LOCKS_TO_A_WORD;
    long word = GlobalAddress.offset(lock) / perWord;
    return GlobalAddress.onChip(GlobalAddress.server(lock), word * Long.BYTES);
  }

  /** Returns where in its word a lock begins, in bits. */
  public int shiftOf(long lock) {
    return onChip && !versions
        ? (int) (GlobalAddress.offset(lock) % LOCKS_TO_A_WORD) * LOCK_BITS
        : 0;
  }

  /** Returns the bits of a word that are locks. */
  public long maskOfWord() {
    return onChip && !versions ? -1 : LOCK_MASK;
  }

  /** Returns the local locks of a lock's memory server. Where there are any. */
  public LocalLocks localOf(long lock) {
    return locals.get(GlobalAddress.server(lock));
  }

  /**
   * Looks for on-chip locks that are held.
   *
   * @param message local offset of {@link Worker#CALL_BYTES_MAX} bytes
   * @param problems takes a description of each word with one
   */
  public void forEachHeld(Fabric fabric, Worker worker, long message, Consumer<String> problems) {
    if (onChip) {
      forEachWord(fabric, worker, message, word -> (word & maskOfWord()) != 0, problems);
    }
  }

  /**
   * Looks for words of the on-chip regions that are held locks.
   *
   * @param message local offset of {@link Worker#CALL_BYTES_MAX} bytes
   * @param isHeld tells a held one
   * @param problems takes a description of each
   */
  public static void forEachWord(
      Fabric fabric, Worker worker, long message, LongPredicate isHeld, Consumer<String> problems) {
    int words = fabric.capabilities().onChipBytes() / Long.BYTES;
    int most = Worker.CALL_BYTES_MAX / Long.BYTES;
    for (int server = 0; server < fabric.memoryServers(); server++) {
      for (int first = 0; first < words; first += most) {
        int count = Math.min(words - first, most);
        long address = GlobalAddress.onChip(server, (long) first * Long.BYTES);
        worker.read(address, message, count * Long.BYTES);
        for (int i = 0; i < count; i++) {
          long found = Words.get(worker.memory(), message + (long) i * Long.BYTES);
          if (isHeld.test(found)) {
            problems.accept(
                "an on-chip lock is held: server="
                    + server
                    + ", word="
                    + (first + i)
                    + ", found=0x"
                    + Long.toHexString(found));
          }
        }
      }
    }
  }

  /** Returns a lock's number among those of its memory server. */
  public static int numberOf(long lock) {
    return (int) GlobalAddress.offset(lock);
  }
}
