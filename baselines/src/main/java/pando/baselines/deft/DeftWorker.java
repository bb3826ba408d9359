package pando.baselines.deft;

import java.lang.foreign.MemorySegment;
import pando.baselines.blink.BLinkSize;
import pando.baselines.deft.DeftLeaves.Access;
import pando.fabric.VerbList;
import pando.fabric.WaitLimit;
import pando.fabric.memory.Words;
import pando.index.host.HostedWorker;
import pando.index.session.Request;

/** One session's operations at one compute server of DEFT. */
final class DeftWorker extends HostedWorker {
  /*
   * Sessions change single entries of a leaf concurrently, under a shared lock (DEFT section 4.3);
   * no entry is moved or removed meanwhile. A value is exchanged by a masked CAS that compares
   * nothing, so it never fails and returns the old value. That of a replacement compares all bits;
   * if it fails, what it found is the answer. An entry is added by one CAS of its 16
   * bytes, at the first unused place of its bucket. All sessions take the places in the same order,
   * so two that add the same key try the same place, and the CAS of the second one fails. The FAA
   * that locks goes with the READ, and the FAA that unlocks with the CAS: two round trips.
   *
   * Splits, merges and removals lock the leaf exclusively. So does a session that adds an entry to
   * a sorted leaf, or on a fabric without 16-byte CAS. With checksums, every change locks
   * exclusively.
   */

  // Offsets of the operands of a 16-byte CAS and of the words that it found.
  private static final int COMPARE = 0;
  private static final int COMPARE_MASK = 16;
  private static final int SWAP = 32;
  private static final int SWAP_MASK = 48;
  private static final int FOUND = 64;

  private final DeftContext context;
  private final DeftLeafLayout layout;
  private final MemorySegment memory;
  private final DeftNodeLocks locks;
  private final DeftNodes nodes;
  private final DeftLeaves leaves;
  private final DeftSplits splits;
  private final DeftMerges merges;
  private final BLinkSize size;
  private final VerbList list = new VerbList();
  private final long leaf;
  private final long operands;

  /** Whether sessions change single entries of a leaf concurrently. */
  private final boolean shared;

  /** Whether sessions can add entries to a leaf concurrently. */
  private final boolean cas16;

  /** Whether the operation may have written an entry. */
  private boolean writing;

  DeftWorker(DeftServer server, DeftContext context, int session, boolean cas16) {
    DeftDescent descent = new DeftDescent(context);
    super(
        server,
        session,
        context,
        new DeftNeighbours(context, descent),
        new DeftScans(context, descent));
    this.context = context;
    this.layout = server.leaves;
    this.memory = context.memory;
    this.locks = context.locks;
    this.nodes = context.nodes;
    this.leaf = context.leaf;
    this.operands = context.operands;
    this.leaves = new DeftLeaves(context, descent);
    this.splits = new DeftSplits(context, descent);
    this.merges = new DeftMerges(context, descent, splits);
    this.size = new BLinkSize(context, descent);
    this.shared = server.validation.allowsSharing() && server.options.sxLocks();
    this.cas16 = cas16;
    locks.restBy(pass());
  }

  @Override
  protected double estimateSize(long low, long high) {
    return size.of(low, high);
  }

  @Override
  protected boolean get(long wanted) {
    int index = leaves.read(wanted);
    value = index < 0 ? 0 : DeftLeafLayout.value(memory, leaf, index);
    return index >= 0;
  }

  @Override
  protected boolean write(Request wanted) {
    writing = false;
    splits.reset();
    nodes.reset();
    return wanted.operation().isRemoval() ? remove(wanted) : store(wanted);
  }

  @Override
  protected boolean mayHaveWritten() {
    return writing || splits.hasBegun();
  }

  @Override
  protected void complete() {
    splits.complete();
    nodes.mendChecksum(locks);
  }

  private boolean store(Request wanted) {
    long key = wanted.key();
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      long node = leaves.lock(key, shared ? Access.SHARED_PAIR : Access.PAIR);
      int index = layout.find(memory, leaf, key);
      if (index >= 0 && shared) {
        exchangeShared(node, index, wanted);
        return true;
      }
      if (index >= 0) {
        exchange(node, index, wanted);
        return true;
      }
      if (!wanted.stores(false, 0)) {
        locks.unlock(node);
        value = 0;
        return false;
      }
      if (add(node, key, wanted.stored())) {
        value = 0;
        return false;
      }
      writing = false;
      String what = "other sessions took every unused entry: key";
      start = WaitLimit.SHORT.pauseBriefly(context.worker.backoff(), attempt, start, what, key);
    }
  }

  /** Exchanges the value of an entry, or only reads it, and unlocks the leaf. */
  private void exchange(long node, int index, Request wanted) {
    list.clear();
    value = DeftLeafLayout.value(memory, leaf, index);
    writing = wanted.stores(true, value);
    if (writing) {
      int position = DeftLeafLayout.valuePosition(index);
      DeftLeafLayout.setValue(memory, leaf, index, wanted.stored());
      list.write(node + position, leaf + position, Long.BYTES);
      nodes.addChecksum(list, leaf);
    }
    locks.writeAndUnlock(node, list);
  }

  /** Exchanges a value as {@link #exchange}, while others may exchange it, too. */
  private void exchangeShared(long node, int index, Request wanted) {
    long place = node + DeftLeafLayout.valuePosition(index);
    long compared = wanted.operation().compares() ? -1 : 0;
    list.clear();
    // Of an operation that compares, the CAS decides.
    writing = wanted.stores(true, wanted.expected());
    if (writing) {
      list.maskedCas(place, wanted.expected(), compared, wanted.stored(), -1, operands);
    } else if (nodes.readsEntriesWhole()) {
      Words.set(memory, operands, DeftLeafLayout.value(memory, leaf, index));
    } else {
      // The value was written with or before the key, which an earlier READ has found.
      list.read(place, operands, Long.BYTES);
    }
    locks.writeAndUnlock(node, list);
    value = Words.get(memory, operands);
  }

  /**
   * Adds an entry and unlocks the leaf; returns {@code false} if another session took the place or
   * the key first.
   */
  private boolean add(long node, long wanted, long stored) {
    int index = layout.findUnused(memory, leaf, wanted);
    if (index < 0 || (shared && !cas16)) {
      return addAlone(node, wanted, stored);
    }
    if (!shared) {
      layout.add(memory, leaf, wanted, stored);
      writeEntry(node, index, DeftLeafLayout.ENTRY_BYTES);
      return true;
    }
    long unused = layout.unusedKey(index);
    setOperand(COMPARE, unused, 0);
    setOperand(COMPARE_MASK, -1, 0);
    setOperand(SWAP, wanted, stored);
    setOperand(SWAP_MASK, -1, -1);
    list.clear().maskedCas16(node + DeftLeafLayout.position(index), operands);
    writing = true;
    locks.writeAndUnlock(node, list);
    return Words.get(memory, operands + FOUND) == unused;
  }

  private void setOperand(int at, long first, long second) {
    Words.set(memory, operands + at, first);
    Words.set(memory, operands + at + Long.BYTES, second);
  }

  /** Adds an entry under the exclusive lock of the leaf. Splits the leaf if it has no room. */
  private boolean addAlone(long node, long wanted, long stored) {
    if (!leaves.upgrade(node, wanted) || layout.find(memory, leaf, wanted) >= 0) {
      locks.unlock(node);
      return false;
    }
    int index = layout.findUnused(memory, leaf, wanted);
    if (!layout.add(memory, leaf, wanted, stored)) {
      splits.splitLeaf(leaf, wanted, stored);
      return true;
    }
    if (index >= 0) {
      writeEntry(node, index, DeftLeafLayout.ENTRY_BYTES);
    } else {
      writeLeaf(node);
    }
    return true;
  }

  /**
   * Writes the first {@code bytes} of an entry of an exclusively locked leaf, and unlocks the leaf.
   */
  private void writeEntry(long node, int index, int bytes) {
    int position = DeftLeafLayout.position(index);
    list.clear().write(node + position, leaf + position, bytes);
    nodes.addChecksum(list, leaf);
    writing = true;
    locks.writeAndUnlock(node, list);
  }

  /** Writes a whole, exclusively locked leaf, and unlocks it. */
  private void writeLeaf(long node) {
    nodes.addLeafWrite(list.clear(), leaf, false);
    writing = true;
    locks.writeAndUnlock(node, list);
  }

  private boolean remove(Request wanted) {
    long key = wanted.key();
    long node = leaves.lock(key, Access.WHOLE);
    int index = layout.find(memory, leaf, key);
    boolean found = index >= 0;
    value = found ? DeftLeafLayout.value(memory, leaf, index) : 0;
    if (!wanted.removes(found, value)) {
      locks.unlock(node);
      return found;
    }
    layout.remove(memory, leaf, index);
    int left = layout.entries(memory, leaf);
    if (layout.isHashed()) {
      writeEntry(node, index, Long.BYTES);
    } else {
      writeLeaf(node);
    }
    if (merges.isDue(left)) {
      merges.merge(key, 0);
    }
    return true;
  }
}
