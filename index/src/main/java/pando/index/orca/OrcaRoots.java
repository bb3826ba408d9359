package pando.index.orca;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.StalledException;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.Partitioning;
import pando.index.orca.directory.DirectoryPage;
import pando.index.pool.Catalogue;
import pando.index.pool.NodePlaces;
import pando.index.session.Retry;

/**
 * Reads the {@link RootTable} of an index, and writes its gifts. The caller holds the lock of the
 * partition table, or nobody changes the index.
 */
final class OrcaRoots {
  private final Worker worker;
  private final MemorySegment memory;
  private final long buffer;
  private final NodePlaces places;
  private final int segmentsMax;
  private final long table;
  private final long[] words = new long[RootTable.BYTES / Long.BYTES];

  /**
   * Creates an object that has read nothing yet.
   *
   * @param buffer local offset of a buffer for a page
   * @param segmentsMax greatest number of segments of a leaf
   * @param table global address of the table
   */
  OrcaRoots(Worker worker, long buffer, NodePlaces places, int segmentsMax, long table) {
    this.worker = worker;
    this.memory = worker.memory();
    this.buffer = buffer;
    this.places = places;
    this.segmentsMax = segmentsMax;
    this.table = table;
  }

  /** As {@link #OrcaRoots(Worker, long, NodePlaces, int, long)}, for a compute server. */
  OrcaRoots(OrcaContext context, long table) {
    this(context.worker, context.page(0), context.places, context.options.segmentsMax(), table);
  }

  /** READs the table. */
  void read() {
    Retry.untilDone(worker, () -> worker.read(table, buffer, RootTable.BYTES));
    for (int i = 0; i < words.length; i++) {
      words[i] = Words.get(memory, buffer + (long) i * Long.BYTES);
    }
  }

  /** Returns the root word of a compute server as it was READ, 0 if there is none. */
  long word(int owner) {
    return words[owner];
  }

  private long giftRoot(int gift) {
    return words[(RootTable.FIRST_GIFT + gift * RootTable.GIFT_BYTES) / Long.BYTES];
  }

  private long giftWord(int gift) {
    return words[(RootTable.FIRST_GIFT + gift * RootTable.GIFT_BYTES) / Long.BYTES + 1];
  }

  /** A tree that may have keys of a range; of two that have a key, the newer one counts. */
  private record Candidate(long epoch, RangeTree tree) {
    /** Among gifts of one epoch, which a lost compute server had, the later one is newer. */
    boolean isNewerThan(Candidate other) {
      return epoch > other.epoch || (epoch == other.epoch && tree.gift() > other.tree.gift());
    }
  }

  /**
   * Finds the trees that have the keys of a range, as the table was READ.
   *
   * @param owner compute server that the range belongs to
   * @param epoch of the partition table
   * @param own whether the owner's own tree may have some of them
   * @return the trees in the order of their keys
   * @throws CorruptNodeException if some keys are in none, or a root is damaged
   */
  List<RangeTree> trees(int owner, long low, long high, long epoch, boolean own) {
    List<Candidate> candidates = candidates(owner, epoch, own);
    List<RangeTree> trees = new ArrayList<>();
    long next = low;
    while (true) {
      Candidate found = newest(candidates, next);
      if (found == null) {
        throw new CorruptNodeException(
            RootTable.wordAddress(table, owner),
            "leads to no tree that has the key: key=%s, owner=%s, word=0x%x"
                .formatted(next, owner, words[owner]));
      }
      long end = Math.min(high, found.tree.high());
      for (Candidate each : candidates) {
        boolean isAhead = each.isNewerThan(found) && each.tree.low() > next;
        end = isAhead ? Math.min(end, each.tree.low() - 1) : end;
      }
      RangeTree tree = found.tree;
      boolean whole = next == tree.low() && end == tree.high();
      trees.add(new RangeTree(tree.page(), tree.giver(), tree.gift(), next, end, whole));
      if (end == high) {
        return trees;
      }
      next = end + 1;
    }
  }

  private static @Nullable Candidate newest(List<Candidate> candidates, long key) {
    Candidate newest = null;
    for (Candidate each : candidates) {
      boolean has = each.tree.low() <= key && key <= each.tree.high();
      if (has && (newest == null || each.isNewerThan(newest))) {
        newest = each;
      }
    }
    return newest;
  }

  /** Reads the roots of a compute server's own tree, and of the gifts that count. */
  private List<Candidate> candidates(int owner, long epoch, boolean own) {
    List<Candidate> candidates = new ArrayList<>();
    long word = words[owner];
    if (own && word != 0) {
      candidates.add(
          new Candidate(-1, root(RootTable.wordAddress(table, owner), word, owner, RangeTree.OWN)));
    }
    for (int gift = 0; gift < RootTable.GIFTS; gift++) {
      long second = giftWord(gift);
      if (RootTable.receiver(second) == owner && counts(gift, epoch)) {
        long address = RootTable.giftAddress(table, gift);
        RangeTree tree = root(address, giftRoot(gift), RootTable.giver(second), gift);
        candidates.add(new Candidate(RootTable.epochOfGift(second), tree));
      }
    }
    return candidates;
  }

  /** Returns whether a gift is there, and its receiver, if that has a range, is to take it on. */
  private boolean counts(int gift, long epoch) {
    long of = RootTable.epochOfGift(giftWord(gift));
    long word = words[RootTable.receiver(giftWord(gift))];
    return giftRoot(gift) != 0 && of <= epoch && (word == 0 || RootTable.isNewer(of, word));
  }

  /** READs a root; returns its tree, which counts for all keys that it has. */
  private RangeTree root(long address, long word, int giver, int gift) {
    String problem = RootTable.problem(word, places);
    if (problem != null) {
      throw new CorruptNodeException(address, problem);
    }
    long page = RootTable.page(word);
    Retry.untilDone(worker, () -> worker.read(page, buffer, DirectoryPage.BYTES));
    int level = DirectoryPage.level(memory, buffer);
    long low = DirectoryPage.low(memory, buffer);
    long high = DirectoryPage.high(memory, buffer);
    problem =
        level < Catalogue.LEVELS_MAX
            ? TreeReader.problem(memory, buffer, level, low, high, giver, segmentsMax, places)
            : "no root: level=" + level;
    if (problem != null) {
      throw new CorruptNodeException(page, problem);
    }
    return new RangeTree(page, giver, gift, low, high, true);
  }

  // Gifts.

  /** Returns the free places of gifts, as the table was READ. */
  List<Integer> freeGifts() {
    List<Integer> free = new ArrayList<>();
    for (int gift = 0; gift < RootTable.GIFTS; gift++) {
      if (giftRoot(gift) == 0) {
        free.add(gift);
      }
    }
    return free;
  }

  /**
   * Writes a gift to a free place: it counts once the partition table has its epoch.
   *
   * @return its number
   * @throws StalledException if there is no place
   */
  int give(long page, long epoch, int receiver, int giver) {
    List<Integer> free = freeGifts();
    if (free.isEmpty()) {
      throw new StalledException(
          "too many compute servers have not taken on the keys that they were given: gifts="
              + RootTable.GIFTS);
    }
    int gift = free.getFirst();
    long address = RootTable.giftAddress(table, gift);
    write(address + Long.BYTES, RootTable.gift(epoch, receiver, giver));
    write(address, RootTable.word(epoch, page));
    return gift;
  }

  /** Erases a gift. */
  void erase(int gift) {
    write(RootTable.giftAddress(table, gift), 0);
  }

  /**
   * Erases what does not count, as the table was READ: gifts of changes that were never made, gifts
   * that were taken on, and all that a compute server without a range had. Processes that end in
   * the middle leave that behind; it would count again for one that gets keys later.
   *
   * @param partitioning the partition table before anybody gets keys
   */
  void eraseUnused(Partitioning partitioning) {
    for (int gift = 0; gift < RootTable.GIFTS; gift++) {
      boolean isUsed =
          partitioning.hasServer(RootTable.receiver(giftWord(gift)))
              && counts(gift, partitioning.epoch());
      if (giftRoot(gift) != 0 && !isUsed) {
        erase(gift);
      }
    }
    for (int owner = 0; owner < RootTable.OWNERS; owner++) {
      if (words[owner] != 0 && !partitioning.hasServer(owner)) {
        write(RootTable.wordAddress(table, owner), 0);
      }
    }
  }

  private void write(long address, long word) {
    Words.set(memory, buffer, word);
    Retry.untilDone(worker, () -> worker.write(address, buffer, Long.BYTES));
    words[(int) (address - table) / Long.BYTES] = word;
  }
}
