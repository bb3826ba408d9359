package pando.index.orca;

import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.index.IndexOptions;
import pando.index.orca.directory.DirectoryPage;
import pando.index.pool.NodePlaces;

/**
 * The roots of an index: one word for each compute server, which leads to the highest directory
 * page of its range. The catalogue's root points to the table, so a load replaces all trees at
 * once.
 *
 * <pre>
 *   0         8                504     512      528            1008     1024
 *  +---------+---------+------+---------+--------+--------+-----+--------+
 *  | owner 0 | owner 1 | ...  | 63      | gift 0 | gift 1 | ... | 31     |  0 for those there are not
 *  +---------+---------+------+---------+--------+--------+-----+--------+
 *
 *  a root    63     44 43           32 31                          0
 *           +---------+---------------+-----------------------------+
 *           | epoch   | memory server | offset of the page / 1024   |
 *           +---------+---------------+-----------------------------+
 *
 *  a gift    a root 8, then   63        32 31      16 15           0
 *                            +------------+----------+--------------+
 *                            | epoch      | receiver | giver        |
 *                            +------------+----------+--------------+
 * </pre>
 *
 * <p>The owner of a range replaces its word, by CAS. The epoch there is that of the partition
 * table, its lowest 20 bits, when the owner took its range on. The table lies in the space of the
 * first range.
 *
 * <p>A <i>gift</i> is a tree of keys that have another owner from its epoch of the partition table
 * on, the receiver, until that has made it part of its own tree. While the table is older, it does
 * not count. It counts before the receiver's own tree, if that is older, and before older gifts. A
 * giver's own tree may still have the keys, if it died in between. A process that dies may also
 * leave gifts and words behind that do not count; they are erased before anybody gets keys. Gifts
 * are written and erased under the lock of the partition table.
 */
final class RootTable {
  /** Bytes of a table. */
  static final int BYTES = 1024;

  /** Compute servers that have a word. */
  static final int OWNERS = IndexOptions.COMPUTE_SERVERS_MAX;

  /** Gifts that there can be at a time. */
  static final int GIFTS = 32;

  /** Where gifts begin. */
  static final int FIRST_GIFT = OWNERS * Long.BYTES;

  /** Bytes of a gift. */
  static final int GIFT_BYTES = 2 * Long.BYTES;

  private static final int EPOCH_BITS = 20;
  private static final long EPOCH_MASK = (1L << EPOCH_BITS) - 1;
  private static final int EPOCH_SHIFT = 44;
  private static final int SERVER_SHIFT = 32;
  private static final int SERVERS_MAX = 1 << (EPOCH_SHIFT - SERVER_SHIFT);
  private static final long OFFSET_MASK = (1L << SERVER_SHIFT) - 1;
  private static final int ALIGNMENT = DirectoryPage.BYTES;

  private static final int RECEIVER_SHIFT = 16;
  private static final int SERVER_MASK = 0xFFFF;

  /** The catalogue wants to know a level of the root, at least 1. */
  private static final int LEVEL = 1;

  static {
    if (BYTES < FIRST_GIFT + GIFTS * GIFT_BYTES) {
      throw new AssertionError("too many roots: tableBytes=" + BYTES);
    }
  }

  private RootTable() {}

  /** Returns the root pointer that the catalogue has for a table. */
  static long pointer(long table) {
    return table | LEVEL;
  }

  /** Returns the global address of a compute server's word. */
  static long wordAddress(long table, int owner) {
    return table + (long) owner * Long.BYTES;
  }

  /** Returns the global address of a gift. */
  static long giftAddress(long table, int gift) {
    return table + FIRST_GIFT + (long) gift * GIFT_BYTES;
  }

  /** Returns the second word of a gift. */
  static long gift(long epoch, int receiver, int giver) {
    return epoch << Integer.SIZE | (long) receiver << RECEIVER_SHIFT | giver;
  }

  /** Returns the epoch of a gift, by its second word. */
  static long epochOfGift(long word) {
    return word >>> Integer.SIZE;
  }

  /** Returns the receiver of a gift, by its second word. */
  static int receiver(long word) {
    return (int) (word >>> RECEIVER_SHIFT) & SERVER_MASK;
  }

  /** Returns the giver of a gift, by its second word: its pages name it. */
  static int giver(long word) {
    return (int) word & SERVER_MASK;
  }

  /** Returns the word that leads to a page. */
  static long word(long epoch, long page) {
    long server = GlobalAddress.server(page);
    long offset = GlobalAddress.offset(page);
    if (server >= SERVERS_MAX || offset % ALIGNMENT != 0 || offset / ALIGNMENT > OFFSET_MASK) {
      throw new IllegalArgumentException(
          "no root can lie there: address="
              + GlobalAddress.toString(page)
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

  /** Returns whether an epoch is above that of a root's word. Both are near each other. */
  static boolean isNewer(long epoch, long word) {
    long difference = (epoch - (word >>> EPOCH_SHIFT)) & EPOCH_MASK;
    return difference != 0 && difference < EPOCH_MASK / 2;
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
