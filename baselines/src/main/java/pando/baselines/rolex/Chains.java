package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;

/**
 * Reads the chains of synonym leaves behind leaves that were read together. Known synonym leaves
 * are READ ahead, in the same list as the leaves; others one after the other.
 *
 * <p>A synonym leaf covers what its leaf covers, and new ones are linked in right behind the leaf.
 * Entries never move along a chain. So a reader without a lock, which reads the chain from its leaf
 * on, finds every entry that is there all the time.
 */
final class Chains {
  private final RolexLeafLayout layout;
  private final RunLayout runs;
  private final PoolPlaces places;
  private final SynonymTable synonyms;
  private final Worker worker;
  private final MemorySegment memory;
  private final long ahead;
  private final long single;

  /** For each leaf, the address of the synonym leaf that was read ahead. */
  private final long[] known = new long[RunLayout.LEAVES_MAX];

  /** The leaf at the head of the chain. */
  private LeafCursor owner = new LeafCursor();

  private long first;
  private long low;
  private long high;

  /** The synonym leaf here; its address is {@code NULL} behind the last one. */
  private final LeafCursor leaf = new LeafCursor();

  private int hops;

  /**
   * Address of the synonym leaf at the last power of two of hops. Reaching it again shows a cycle.
   */
  private long mark;

  private int markAt;
  private boolean broken;

  /**
   * Creates a reader of chains.
   *
   * @param scratch local offset of a buffer for {@link #leavesOfScratch} leaves
   */
  Chains(RolexServer server, Worker worker, long scratch) {
    this.layout = server.leaves;
    this.runs = server.runs;
    this.places = server.places;
    this.synonyms = server.synonyms;
    this.worker = worker;
    this.memory = worker.memory();
    this.ahead = scratch;
    this.single = scratch + (long) RunLayout.LEAVES_MAX * layout.bytes();
  }

  static int leavesOfScratch() {
    return RunLayout.LEAVES_MAX + 1;
  }

  /**
   * Adds the READ of the synonym leaf that is known behind a leaf, which is number {@code slot}.
   */
  void addKnown(VerbList reads, int slot, long leafAddress, int memoryServer) {
    long synonym = synonyms.of(leafAddress);
    boolean read = GlobalAddress.server(synonym) == memoryServer && places.isSynonym(synonym);
    addRead(reads, slot, read ? synonym : GlobalAddress.NULL);
  }

  /** Adds the READ of the synonym leaf that a leaf which was read links to. */
  void addLinked(VerbList reads, int slot, long image) {
    long link = RolexLeafLayout.link(memory, image);
    addRead(reads, slot, places.isSynonym(link) ? link : GlobalAddress.NULL);
  }

  private void addRead(VerbList reads, int slot, long synonym) {
    known[slot] = synonym;
    if (synonym != GlobalAddress.NULL) {
      reads.read(synonym, ahead + (long) slot * layout.bytes(), layout.bytes());
    }
  }

  /** Selects the chain behind a whole leaf. {@link #start} reads its first synonym leaf. */
  void begin(LeafCursor before) {
    owner = before;
    first = RolexLeafLayout.link(memory, before.image);
    low = RolexLeafLayout.low(memory, before.image);
    high = RolexLeafLayout.high(memory, before.image);
    leaf.address = GlobalAddress.NULL;
    hops = 0;
    broken = false;
  }

  /** Goes to the first synonym leaf, which may have been read ahead. */
  void start() {
    hops = 0;
    mark = GlobalAddress.NULL;
    markAt = 1;
    leaf.set(owner.slot, ahead + (long) owner.slot * layout.bytes(), first, owner.stamp);
    boolean readAhead = known[owner.slot] == first && (first == GlobalAddress.NULL || isSynonym());
    if (!readAhead) {
      // A synonym leaf that was read ahead, if any, is not the right one.
      synonyms.set(owner.address, first);
      readSingle();
    }
  }

  /** Goes on to the next synonym leaf. */
  void next() {
    if (hops + 1 == markAt) {
      mark = leaf.address;
      markAt *= 2;
    }
    leaf.address = RolexLeafLayout.link(memory, leaf.image);
    hops++;
    readSingle();
  }

  private void readSingle() {
    leaf.image = single;
    if (leaf.address == GlobalAddress.NULL) {
      return;
    }
    if (places.isSynonym(leaf.address) && leaf.address != mark) {
      worker.read(leaf.address, single, layout.bytes());
      broken = !isSynonym();
    } else {
      broken = true;
    }
  }

  /** Returns whether the leaf that was read is whole, and of this chain. */
  private boolean isSynonym() {
    return layout.isWhole(memory, leaf.image, leaf.identity())
        && RolexLeafLayout.low(memory, leaf.image) == low
        && RolexLeafLayout.high(memory, leaf.image) == high;
  }

  /** Returns whether there is a synonym leaf here. */
  boolean hasLeaf() {
    return leaf.address != GlobalAddress.NULL && !broken;
  }

  /**
   * Returns whether all links so far led to synonym leaves of this chain. If not, a leaf was being
   * written or was freed, and a reader without a lock restarts.
   */
  boolean isWhole() {
    return !broken;
  }

  /** Returns the synonym leaf here, until the chain goes on. */
  LeafCursor leaf() {
    return leaf;
  }

  /** Returns the number of synonym leaves before this one. */
  int hops() {
    return hops;
  }

  /**
   * Searches a key in a leaf and its chain.
   *
   * @return which of the leaves has the key, {@code null} if none has or the chain is not whole
   */
  @Nullable LeafCursor find(LeafCursor before, long key) {
    begin(before);
    if (before.find(memory, key)) {
      return before;
    }
    for (start(); hasLeaf(); next()) {
      if (leaf.find(memory, key)) {
        return leaf;
      }
    }
    return null;
  }

  /**
   * Adds the entries of a leaf and its synonym leaves to others, in order.
   *
   * @return whether the chain was whole; else nothing was added
   */
  boolean collect(LeafCursor before, EntryBuffer entries) {
    int from = entries.count();
    entries.addLeaf(memory, before.image);
    begin(before);
    for (start(); hasLeaf(); next()) {
      entries.addLeaf(memory, leaf.image);
    }
    if (broken) {
      entries.truncate(from);
      return false;
    }
    if (first != GlobalAddress.NULL) {
      entries.sort(from);
    }
    return true;
  }

  /** As {@link #collect}, of a leaf behind which nothing was read ahead. */
  boolean collectAlone(LeafCursor before, EntryBuffer entries) {
    known[before.slot] = GlobalAddress.NULL;
    return collect(before, entries);
  }

  /** Returns how many synonym leaves hang behind a leaf, of which none was read ahead. */
  private int count(LeafCursor before) {
    known[before.slot] = GlobalAddress.NULL;
    begin(before);
    start();
    while (hasLeaf()) {
      next();
    }
    return hops;
  }

  /**
   * Returns the counts of a run that nobody changes, see {@link RunLayout#counts}.
   *
   * @param image local offset of a buffer for one leaf
   */
  long countsOf(ModelView model, long image) {
    int empties = 0;
    int hanging = 0;
    LeafCursor counted = new LeafCursor();
    for (int i = 0; i < model.leaves(); i++) {
      counted.set(0, image, runs.leafAddress(model.place, i), model.stamp);
      worker.read(counted.address, counted.image, layout.bytes());
      empties += RolexLeafLayout.isEmpty(memory, counted.image) ? 1 : 0;
      hanging += count(counted);
    }
    return RunLayout.counts(empties, hanging);
  }

  /** Returns the exception for a chain that is not whole under its lock. */
  CorruptNodeException corrupt(long key) {
    return new CorruptNodeException(
        leaf.address, "no synonym leaf of its chain: key=" + key + ", hops=" + hops);
  }
}
