package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import pando.fabric.GlobalAddress;
import pando.fabric.memory.Words;
import pando.index.session.Operation;

/**
 * Changes entries of one leaf and its chain where they are, in a memory server's own memory. Used
 * by one thread at a time, again and again.
 */
final class LeafWriter {
  /*
   * The same as a session does by verbs, in place: an entry goes into its leaf while that has room,
   * else into the first synonym leaf with room, else into a new one right behind the leaf; a
   * synonym leaf that loses its last entry is unlinked and retired. Readers take no lock. While a
   * leaf is being changed its checksum is wrong, so that they read it again; and what a leaf comes
   * to link to is whole before the leaf is.
   *
   * Everything that a request reaches is checked before anything is changed, so a request has its
   * whole effect or none.
   */

  private MemorySegment dram = MemorySegment.NULL;
  private MemorySegment message = MemorySegment.NULL;
  private RolexLeafLayout layout = new RolexLeafLayout(RolexLeafLayout.DELTA_MAX);
  private RunLayout runs = new RunLayout(layout.bytes());
  private int server;

  private long key;
  private long place;
  private long stamp;

  /**
   * Addresses: the leaf, the leaf of its chain that has the key, that one's predecessor, and the
   * first synonym leaf with room.
   */
  private long leaf;

  private long holder;
  private long previous;
  private long roomy;
  private long hops;

  /** Further fields of the answer. */
  private long freed;

  private long synonyms;
  private long empties;

  LeafWriter() {}

  /** Serves a request, whose fields have been checked but for the operation. */
  void write(
      RolexLeafLayout ofLeaves,
      RunLayout ofRuns,
      int memoryServer,
      MemorySegment memory,
      MemorySegment request) {
    dram = memory;
    message = request;
    layout = ofLeaves;
    runs = ofRuns;
    server = memoryServer;
    key = WriteMessage.get(message, 0, WriteMessage.KEY);
    place = WriteMessage.get(message, 0, WriteMessage.PLACE);
    stamp = WriteMessage.get(message, 0, WriteMessage.STAMP);
    leaf = GlobalAddress.NULL;
    hops = 0;
    freed = GlobalAddress.NULL;
    synonyms = 0;
    empties = 0;
    Operation operation = Operation.of(WriteMessage.get(message, 0, WriteMessage.OPERATION));
    if (operation == Operation.GET) {
      throw new IllegalArgumentException("not a write: operation=" + operation);
    }
    long gate = Words.getAcquire(dram, at(RunLayout.address(place)) + RunLayout.GATE);
    if (gate != place) {
      boolean frozen = RunLayout.isFrozen(gate, place);
      answer(frozen ? WriteMessage.BUSY : WriteMessage.STALE, gate, 0);
    } else {
      write(operation);
    }
  }

  private void write(Operation operation) {
    int number = locate();
    if (number < 0) {
      answer(WriteMessage.STALE, 0, 0);
      return;
    }
    long damaged = find();
    if (damaged != GlobalAddress.NULL) {
      answer(WriteMessage.CORRUPT, damaged, 0);
      return;
    }
    boolean found = holder != GlobalAddress.NULL;
    int index = found ? RolexLeafLayout.find(dram, at(holder), key) : -1;
    long before = found ? RolexLeafLayout.value(dram, at(holder), index) : 0;
    long value = WriteMessage.get(message, 0, WriteMessage.VALUE);
    boolean matches = before == WriteMessage.get(message, 0, WriteMessage.EXPECTED);
    boolean stores = operation.stores(found, matches);
    if (operation.removes(found, matches)) {
      remove(index);
    } else if (found && stores) {
      RolexLeafLayout.setValue(dram, at(holder), index, value);
      seal(holder);
    } else if (stores && !add(value)) {
      answer(WriteMessage.NEEDS_SPARE, 0, 0);
      return;
    }
    answer(found ? WriteMessage.FOUND : WriteMessage.ABSENT, before, number);
  }

  /** Returns the number of the leaf of the model that covers the key, or -1. */
  private int locate() {
    int last = (int) WriteMessage.get(message, 0, WriteMessage.LAST);
    for (int i = (int) WriteMessage.get(message, 0, WriteMessage.FIRST); i <= last; i++) {
      leaf = runs.leafAddress(place, i);
      if (RolexLeafLayout.covers(dram, at(leaf), key) && isWhole(leaf)) {
        return i;
      }
    }
    return -1;
  }

  /**
   * Searches the key in the leaf and its chain; returns the address of a damaged leaf, or {@code
   * NULL}.
   */
  private long find() {
    holder = GlobalAddress.NULL;
    previous = leaf;
    roomy = GlobalAddress.NULL;
    // Brent's cycle detection: on a cycle, the walk reaches again the leaf at the last power of two
    // of hops.
    long mark = leaf;
    long markAt = 1;
    long address = leaf;
    while (RolexLeafLayout.find(dram, at(address), key) < 0) {
      previous = address;
      address = RolexLeafLayout.link(dram, at(address));
      if (address == GlobalAddress.NULL) {
        return GlobalAddress.NULL;
      }
      if (address == mark || !isSynonym(address)) {
        return address;
      }
      if (roomy == GlobalAddress.NULL && !layout.isFull(dram, at(address))) {
        roomy = address;
      }
      hops++;
      if (hops == markAt) {
        mark = address;
        markAt *= 2;
      }
    }
    holder = address;
    return GlobalAddress.NULL;
  }

  private boolean isWhole(long address) {
    return layout.isWhole(dram, at(address), RolexLeafLayout.identity(address, stamp));
  }

  private boolean isSynonym(long address) {
    return RolexWrites.isHere(server, dram, address, layout.bytes())
        && isWhole(address)
        && RolexLeafLayout.low(dram, at(address)) == RolexLeafLayout.low(dram, at(leaf))
        && RolexLeafLayout.high(dram, at(address)) == RolexLeafLayout.high(dram, at(leaf));
  }

  /** Adds the entry; {@code false} if that takes a synonym leaf, and there is no spare. */
  private boolean add(long value) {
    boolean inLeaf = !layout.isFull(dram, at(leaf));
    if (!inLeaf && roomy == GlobalAddress.NULL) {
      return addSynonym(value);
    }
    boolean wasEmpty = inLeaf && RolexLeafLayout.isEmpty(dram, at(leaf));
    long target = inLeaf ? leaf : roomy;
    int index = -1 - RolexLeafLayout.find(dram, at(target), key);
    RolexLeafLayout.insert(dram, at(target), index, key, value);
    seal(target);
    if (wasEmpty) {
      addToCounts(-1, 0);
    }
    return true;
  }

  /** Puts the entry into the spare, which is linked in right behind the leaf. */
  private boolean addSynonym(long value) {
    long spare = WriteMessage.get(message, 0, WriteMessage.SPARE);
    if (spare == GlobalAddress.NULL) {
      return false;
    }
    RolexLeafLayout.format(
        dram,
        at(spare),
        RolexLeafLayout.low(dram, at(leaf)),
        RolexLeafLayout.high(dram, at(leaf)),
        RolexLeafLayout.link(dram, at(leaf)));
    RolexLeafLayout.append(dram, at(spare), key, value);
    seal(spare);
    RolexLeafLayout.setLink(dram, at(leaf), spare);
    seal(leaf);
    synonyms = RunLayout.synonyms(addToCounts(0, 1));
    return true;
  }

  private void remove(int index) {
    if (holder != leaf && RolexLeafLayout.count(dram, at(holder)) == 1) {
      RolexLeafLayout.setLink(dram, at(previous), RolexLeafLayout.link(dram, at(holder)));
      seal(previous);
      RolexLeafLayout.retire(dram, at(holder));
      addToCounts(0, -1);
      freed = holder;
    } else {
      RolexLeafLayout.delete(dram, at(holder), index);
      seal(holder);
    }
    if (RolexLeafLayout.isEmpty(dram, at(leaf))) {
      empties = RunLayout.empties(addToCounts(1, 0));
    }
  }

  /** Makes a leaf whole that has changed, before anything else changes. */
  private void seal(long address) {
    VarHandle.releaseFence();
    RolexLeafLayout.seal(dram, at(address), RolexLeafLayout.identity(address, stamp));
    VarHandle.releaseFence();
  }

  /** Adds to the counts of the run; returns them. */
  private long addToCounts(int moreEmpties, int moreSynonyms) {
    long at = at(RunLayout.address(place)) + RunLayout.COUNTS;
    long counts = Words.get(dram, at) + RunLayout.counts(moreEmpties, moreSynonyms);
    Words.set(dram, at, counts);
    return counts;
  }

  private static long at(long address) {
    return GlobalAddress.offset(address);
  }

  private void answer(long status, long before, long number) {
    long link = leaf == GlobalAddress.NULL ? leaf : RolexLeafLayout.link(dram, at(leaf));
    WriteMessage.set(message, 0, WriteMessage.STATUS, status);
    WriteMessage.set(message, 0, WriteMessage.BEFORE, before);
    WriteMessage.set(message, 0, WriteMessage.LEAF, number);
    WriteMessage.set(message, 0, WriteMessage.LINK, link);
    WriteMessage.set(message, 0, WriteMessage.FREED, freed);
    WriteMessage.set(message, 0, WriteMessage.HOPS, hops);
    WriteMessage.set(message, 0, WriteMessage.SYNONYMS, synonyms);
    WriteMessage.set(message, 0, WriteMessage.EMPTIES, empties);
  }
}
