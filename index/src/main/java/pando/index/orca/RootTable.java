package pando.index.orca;

import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.index.IndexOptions;
import pando.index.orca.directory.DirectoryPage;
import pando.index.pool.NodePlaces;

/**
 * The roots of an index: one word for each range of keys, which leads to the highest directory page
 * of that range. The catalogue's root points to the table, so a load replaces all trees at once.
 *
 * <pre>
 *   0         8                504     512
 *  +---------+---------+------+---------+
 *  | range 0 | range 1 | ...  | 63      |     0 for those that there are not
 *  +---------+---------+------+---------+
 *
 *   63     44 43           32 31                          0
 *  +---------+---------------+-----------------------------+
 *  | epoch   | memory server | offset of the page / 1024   |
 *  +---------+---------------+-----------------------------+
 * </pre>
 *
 * <p>The owner of a range replaces its word, by CAS. The epoch is the owner's. The table lies in
 * the space of the first range.
 */
final class RootTable {
  /** Bytes of a table. */
  static final int BYTES = 512;

  /** Bits of an epoch. */
  static final int EPOCH_BITS = 20;

  private static final int EPOCH_SHIFT = 44;
  private static final int SERVER_SHIFT = 32;
  private static final int SERVERS_MAX = 1 << (EPOCH_SHIFT - SERVER_SHIFT);
  private static final long OFFSET_MASK = (1L << SERVER_SHIFT) - 1;
  private static final int ALIGNMENT = DirectoryPage.BYTES;

  /** The catalogue wants to know a level of the root, at least 1. */
  private static final int LEVEL = 1;

  static {
    if (BYTES < IndexOptions.COMPUTE_SERVERS_MAX * Long.BYTES) {
      throw new AssertionError("too many ranges: tableBytes=" + BYTES);
    }
  }

  private RootTable() {}

  /** Returns the root pointer that the catalogue has for a table. */
  static long pointer(long table) {
    return table | LEVEL;
  }

  /** Returns the global address of a range's word. */
  static long wordAddress(long table, int range) {
    return table + (long) range * Long.BYTES;
  }

  /** Returns the word that leads to a page. */
  static long word(long epoch, long page) {
    long server = GlobalAddress.server(page);
    long offset = GlobalAddress.offset(page);
    if (server >= SERVERS_MAX
        || offset % ALIGNMENT != 0
        || offset / ALIGNMENT > OFFSET_MASK
        || epoch >>> EPOCH_BITS != 0) {
      throw new IllegalArgumentException(
          "no root can lie there: address="
              + GlobalAddress.toString(page)
              + ", epoch="
              + epoch
              + ", memoryServersMax="
              + SERVERS_MAX);
    }
    return epoch << EPOCH_SHIFT | server << SERVER_SHIFT | offset / ALIGNMENT;
  }

  /** Returns the address of the page that a word leads to. */
  static long page(long word) {
    long server = word >>> SERVER_SHIFT & (SERVERS_MAX - 1);
    return server << GlobalAddress.SERVER_SHIFT | (word & OFFSET_MASK) * ALIGNMENT;
  }

  /** Returns what is wrong with a word that was READ, or null if it may be followed. */
  static @Nullable String problem(long word, NodePlaces places) {
    return places.fits(page(word), DirectoryPage.BYTES)
        ? null
        : "no root word: word=0x"
            + Long.toHexString(word)
            + ", address="
            + GlobalAddress.toString(page(word));
  }
}
