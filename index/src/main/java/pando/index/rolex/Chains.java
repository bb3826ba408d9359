package pando.index.rolex;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;

/**
 * The synonym leaves behind the leaves that one READ brought. They are read ahead, together, as far
 * as they are known; else one after the other.
 *
 * <p>A synonym leaf covers what its leaf covers, and new ones are linked in right behind the leaf.
 * Entries never move along a chain; so a reader without a lock, who reads it from its leaf on,
 * meets every entry that is there throughout.
 */
final class Chains {
  private static final long NOWHERE = 0;

  private final LeafLayout layout;
  private final PoolPlaces places;
  private final SynonymTable synonyms;
  private final Worker worker;
  private final MemorySegment memory;
  private final long ahead;
  private final long single;

  /** For each leaf, the address of the synonym leaf that was read ahead. */
  private final long[] known = new long[RunLayout.LEAVES_MAX];

  private int slot;
  private long leafAddress;
  private long stamp;
  private long first;
  private long low;
  private long high;

  private long address;
  private long image;
  private int hops;

  /**
   * Where the chain was at the last power of two: to come there again is to go round in a circle.
   */
  private long mark;

  private int markAt;
  private boolean broken;

  /**
   * Creates what reads chains.
   *
   * @param scratch where there is room for {@link #leavesOfScratch} leaves in local memory
   */
  Chains(RolexServer server, Worker worker, long scratch) {
    this.layout = server.leaves;
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
    addRead(reads, slot, read ? synonym : NOWHERE);
  }

  /** Adds the READ of the synonym leaf that a leaf which was read links to. */
  void addLinked(VerbList reads, int slot, long leaf) {
    long link = LeafLayout.link(memory, leaf);
    addRead(reads, slot, places.isSynonym(link) ? link : NOWHERE);
  }

  private void addRead(VerbList reads, int slot, long synonym) {
    known[slot] = synonym;
    if (synonym != NOWHERE) {
      reads.read(synonym, ahead + (long) slot * layout.bytes(), layout.bytes());
    }
  }

  /** Turns to the chain behind a leaf that is whole; it begins with {@link #start}. */
  void begin(int slotOfLeaf, long leaf, long addressOfLeaf, long stampOfLeaf) {
    slot = slotOfLeaf;
    leafAddress = addressOfLeaf;
    stamp = stampOfLeaf;
    first = LeafLayout.link(memory, leaf);
    low = LeafLayout.low(memory, leaf);
    high = LeafLayout.high(memory, leaf);
    address = NOWHERE;
    hops = 0;
    broken = false;
  }

  /** Goes to the first synonym leaf, which may have been read ahead. */
  void start() {
    hops = 0;
    mark = NOWHERE;
    markAt = 1;
    address = first;
    image = ahead + (long) slot * layout.bytes();
    boolean readAhead = known[slot] == first && (first == NOWHERE || isSynonym());
    if (!readAhead) {
      // What was read ahead, if anything, was read in vain.
      synonyms.set(leafAddress, first);
      readSingle();
    }
  }

  /** Goes on to the next synonym leaf. */
  void next() {
    if (hops + 1 == markAt) {
      mark = address;
      markAt *= 2;
    }
    address = LeafLayout.link(memory, image);
    hops++;
    readSingle();
  }

  private void readSingle() {
    image = single;
    if (address == NOWHERE) {
      return;
    }
    if (places.isSynonym(address) && address != mark) {
      worker.read(address, image, layout.bytes());
      broken = !isSynonym();
    } else {
      broken = true;
    }
  }

  /** Tells whether the leaf that was read is whole, and of this chain. */
  private boolean isSynonym() {
    return layout.isWhole(memory, image, LeafLayout.identity(address, stamp))
        && LeafLayout.low(memory, image) == low
        && LeafLayout.high(memory, image) == high;
  }

  /** Tells whether there is a synonym leaf here. */
  boolean hasLeaf() {
    return address != NOWHERE && !broken;
  }

  /**
   * Tells whether all went well so far. Else the chain led to what is no synonym leaf of it: a
   * reader without a lock begins anew, as it was being written, or has been given back.
   */
  boolean isWhole() {
    return !broken;
  }

  /** Returns the address of the synonym leaf here. */
  long address() {
    return address;
  }

  /** Returns where the synonym leaf here starts in local memory. */
  long image() {
    return image;
  }

  /** Returns the number of synonym leaves before this one. */
  int hops() {
    return hops;
  }

  /**
   * Adds the entries of a leaf and its synonym leaves to others, in order.
   *
   * @return whether the chain was whole; else nothing was added
   */
  boolean collect(
      int slotOfLeaf, long leaf, long addressOfLeaf, long stampOfLeaf, EntryBuffer entries) {
    int from = entries.count();
    entries.addLeaf(memory, leaf);
    begin(slotOfLeaf, leaf, addressOfLeaf, stampOfLeaf);
    for (start(); hasLeaf(); next()) {
      entries.addLeaf(memory, image);
    }
    if (broken) {
      entries.truncate(from);
      return false;
    }
    if (first != NOWHERE) {
      entries.sort(from);
    }
    return true;
  }

  /** As {@link #collect}, of a leaf behind which nothing was read ahead. */
  boolean collectAlone(long leaf, long addressOfLeaf, long stampOfLeaf, EntryBuffer entries) {
    known[0] = NOWHERE;
    return collect(0, leaf, addressOfLeaf, stampOfLeaf, entries);
  }

  /** Returns what to throw where a chain is not whole though its lock is held. */
  CorruptNodeException corrupt(long key) {
    return new CorruptNodeException(
        address, "no synonym leaf of its chain: key=" + key + ", hops=" + hops);
  }
}
