package pando.index.deft;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.blink.BLinkNodes;
import pando.index.blink.Children;
import pando.index.lock.Retry;
import pando.index.pool.Catalogue;

/** READs nodes and parts of nodes, tells whether they are whole, and prepares what is written. */
final class Nodes implements BLinkNodes {
  /** It was not whole in any of many READs: a session that wants to read it has to lock it. */
  static final int TORN = 3;

  /** Local bytes that are needed: for a lock's word before and after. */
  static final int SCRATCH_BYTES = 2 * Long.BYTES;

  private static final int READS_MAX = 64;
  private static final int PAUSE_MAX = 12;

  private final DeftServer server;
  private final Validation validation;
  private final LeafLayout leaves;
  private final InnerLayout inners;
  private final int nodeBytes;
  private final boolean landsByLine;
  private final Worker worker;
  private final MemorySegment memory;
  private final long again;
  private final long before;
  private final long after;
  private final VerbList list = new VerbList();

  /** The node of which parts were written last, and behind them its checksum. */
  private long changed = GlobalAddress.NULL;

  /**
   * Creates what reads and writes whole nodes, of a tree that no session changes.
   *
   * @param scratch local offset of {@link #SCRATCH_BYTES}
   */
  Nodes(DeftServer server, Worker worker, long scratch) {
    this(server, true, worker, scratch, scratch);
  }

  /**
   * Creates what reads nodes that others change, and their parts.
   *
   * @param landsByLine whether the fabric lands 64 bytes as one
   * @param again where there is room for a node that is read twice
   * @param scratch local offset of {@link #SCRATCH_BYTES}
   */
  Nodes(DeftServer server, boolean landsByLine, Worker worker, long again, long scratch) {
    this.server = server;
    this.validation = server.validation;
    this.leaves = server.leaves;
    this.inners = server.inners;
    this.nodeBytes = server.inners.nodeBytes();
    this.landsByLine = landsByLine;
    this.worker = worker;
    this.memory = worker.memory();
    this.again = again;
    this.before = scratch;
    this.after = scratch + Long.BYTES;
  }

  /** Returns whether an entry that another is adding is read as a whole. */
  boolean readsEntriesWhole() {
    return landsByLine;
  }

  @Override
  public long address(long node) {
    return NodeHeader.address(memory, node);
  }

  @Override
  public long low(long node) {
    return NodeHeader.low(memory, node);
  }

  @Override
  public long high(long node) {
    return NodeHeader.high(memory, node);
  }

  @Override
  public long sibling(long node) {
    return NodeHeader.sibling(memory, node);
  }

  // Inner nodes.

  /** Copies the children of a whole inner node. */
  void copyChildren(long node, Children children) {
    inners.copyChildren(memory, node, Shape.WHOLE, 0, low(node), high(node), children);
  }

  /**
   * Reads the part of an inner node that a key is in, once.
   *
   * @param pointer to the node, which says how it is divided and which version it has
   * @param buffer where the node is to start in local memory
   * @return whether it is whole, and has the version that the pointer says
   */
  boolean readPart(long pointer, int part, long buffer) {
    long address = ChildPointer.address(pointer);
    int shape = ChildPointer.shape(pointer);
    beginRead(address);
    if (validation == Validation.CHECKSUM) {
      list.read(address, buffer, nodeBytes);
    } else {
      inners.addRead(list, shape, part, address, buffer);
    }
    return endRead(address)
        && isIntact(address, buffer)
        && inners.hasVersion(memory, buffer, shape, part, ChildPointer.commit(pointer));
  }

  /**
   * Reads an inner node as a whole.
   *
   * @return {@link #COVERS}, {@link #RIGHT}, {@link #STALE} or {@link #TORN}
   */
  int readInner(long address, int level, long key, long buffer) {
    for (int attempt = 0; attempt < READS_MAX; attempt++) {
      beginRead(address);
      list.read(address, buffer, nodeBytes);
      if (endRead(address) && isWhole(buffer)) {
        int outcome = check(address, level, key, buffer);
        if (outcome != TORN) {
          return outcome;
        }
      }
      worker.backoff().pause(Math.min(attempt, PAUSE_MAX));
    }
    return TORN;
  }

  // Leaves.

  /**
   * Reads what can hold a key of a leaf.
   *
   * @param buffer where the leaf is to start in local memory
   * @return {@link #COVERS}, {@link #RIGHT}, {@link #STALE} or {@link #TORN}
   */
  int readPair(long address, long key, long buffer) {
    for (int attempt = 0; attempt < READS_MAX; attempt++) {
      if (readPairOnce(address, key, buffer)) {
        return comparePair(key, buffer);
      }
      // With a checksum that is wrong there is no telling.
      if (isIntact(address, buffer) && !leaves.isPairOfLeaf(memory, buffer, key)) {
        return STALE;
      }
      worker.backoff().pause(Math.min(attempt, PAUSE_MAX));
    }
    return TORN;
  }

  private boolean readPairOnce(long address, long key, long buffer) {
    beginRead(address);
    addPair(list, address, key, buffer);
    boolean twice = validation == Validation.VERSIONS && !landsByLine;
    if (twice) {
      addPair(list, address, key, again);
    }
    if (!endRead(address)) {
      return false;
    }
    if (twice) {
      leaves.takeValues(memory, buffer, key, again);
    }
    return isPairWhole(address, key, buffer);
  }

  /** Returns whether what can hold a key is a leaf's, which an inner node can have replaced. */
  private boolean isPairWhole(long address, long key, long buffer) {
    return isIntact(address, buffer) && leaves.isPairWhole(memory, buffer, key);
  }

  /** Returns whether the checksum is right, where it counts, and that of a node of the place. */
  private boolean isIntact(long address, long buffer) {
    return validation != Validation.CHECKSUM
        || (isSumRight(buffer) && NodeHeader.address(memory, buffer) == address);
  }

  /** Adds the READ of what can hold a key of a leaf. */
  void addPair(VerbList reads, long address, long key, long buffer) {
    if (validation == Validation.CHECKSUM) {
      reads.read(address, buffer, nodeBytes);
    } else {
      int offset = leaves.pairOffset(key);
      reads.read(address + offset, buffer + offset, leaves.pairBytes());
    }
  }

  /** Compares what was read of a leaf with what was looked for. */
  private int comparePair(long key, long buffer) {
    if (leaves.isPairHidden(memory, buffer, key) || key < leaves.lowOfPair(memory, buffer, key)) {
      return STALE;
    }
    return key > leaves.highOfPair(memory, buffer, key) ? RIGHT : COVERS;
  }

  /**
   * Checks what was read of a leaf under its lock, where it is whole unless it is damaged.
   *
   * @return {@link #COVERS}, {@link #RIGHT} or {@link #STALE}
   */
  int checkPairHeld(long address, long key, long buffer) {
    return isPairWhole(address, key, buffer)
        ? comparePair(key, buffer)
        : readHeld(address, 0, key, buffer);
  }

  /**
   * Returns the sibling of a leaf of which {@link #readPair} has read a pair, {@code NULL} if the
   * leaf has changed since.
   */
  long siblingOf(long address, long key, long buffer) {
    worker.read(address, buffer, NodeHeader.BYTES);
    long sibling = NodeHeader.sibling(memory, buffer);
    boolean unchanged =
        leaves.isHeaderOfPair(memory, buffer, key)
            && NodeHeader.address(memory, buffer) == address
            && server.places.isNodeAddress(sibling);
    return unchanged ? sibling : GlobalAddress.NULL;
  }

  /** Adds the READs of a whole leaf; {@link #isLeafWhole} checks them. */
  void addLeaf(VerbList reads, long address, long buffer, long wordBefore, long wordAfter) {
    boolean words = validation == Validation.VERSIONS;
    if (words) {
      reads.read(server.locks.wordOf(address), wordBefore, Long.BYTES);
    }
    reads.read(address, buffer, nodeBytes);
    if (words) {
      reads.read(server.locks.wordOf(address), wordAfter, Long.BYTES);
    }
  }

  /**
   * Returns whether a leaf that was read is of one moment: but for single entries, which may be of
   * another one where only lines land as one.
   */
  boolean isLeafWhole(long buffer, long wordBefore, long wordAfter) {
    return validation == Validation.VERSIONS
        ? isUnlocked(wordBefore, wordAfter) && leaves.isWhole(memory, buffer)
        : isWhole(buffer);
  }

  /** Returns whether a leaf can be read as a snapshot: locks taken by CAS do not count. */
  boolean readsSnapshots() {
    return validation == Validation.CHECKSUM || server.options.sxLocks();
  }

  /**
   * Reads a snapshot of a leaf, where {@link #readsSnapshots} says that there is a way.
   *
   * @return whether it is one; else another session was changing the leaf
   */
  boolean readSnapshot(long address, long buffer) {
    if (validation == Validation.CHECKSUM) {
      worker.read(address, buffer, nodeBytes);
      return isSumRight(buffer);
    }
    long word = server.locks.wordOf(address);
    list.clear().read(word, before, Long.BYTES).read(address, buffer, nodeBytes);
    worker.post(list.read(word, after, Long.BYTES));
    return isUnlocked(before, after) && isWhole(buffer);
  }

  // Whole nodes.

  @Override
  public int readHeld(long address, int level, long key, long buffer) {
    worker.read(address, buffer, nodeBytes);
    return checkHeld(address, level, key, buffer);
  }

  /** Checks a node that was read under its lock. */
  int checkHeld(long address, int level, long key, long buffer) {
    String problem =
        isWhole(buffer) ? problem(address, buffer) : "parts of several nodes, or of none";
    if (problem != null) {
      throw new CorruptNodeException(address, problem);
    }
    return compare(level, key, buffer);
  }

  /**
   * Checks a node that looks whole, and compares it with what was looked for. Versions come round,
   * so what makes no sense may be of several moments.
   *
   * @return {@link #COVERS}, {@link #RIGHT}, {@link #STALE} or {@link #TORN}
   */
  int check(long address, int level, long key, long buffer) {
    return problem(address, buffer) == null ? compare(level, key, buffer) : TORN;
  }

  private int compare(int level, long key, long buffer) {
    long first = NodeHeader.first(memory, buffer);
    boolean leaf = NodeHeader.isLeaf(first);
    boolean hidden = leaf ? LeafLayout.isHidden(first) : InnerLayout.isHidden(first);
    int found = leaf ? 0 : InnerLayout.level(first);
    if (hidden || found != level || key < NodeHeader.low(memory, buffer)) {
      return STALE;
    }
    return key > NodeHeader.high(memory, buffer) ? RIGHT : COVERS;
  }

  /** Returns whether all parts of a node were written together. */
  private boolean isWhole(long buffer) {
    if (validation == Validation.CHECKSUM) {
      return isSumRight(buffer);
    }
    long first = NodeHeader.first(memory, buffer);
    return NodeHeader.isLeaf(first)
        ? leaves.isWhole(memory, buffer)
        : inners.hasVersion(memory, buffer, Shape.WHOLE, 0, InnerLayout.version(first));
  }

  private boolean isSumRight(long buffer) {
    return NodeHeader.computeChecksum(memory, buffer, nodeBytes)
        == NodeHeader.checksum(memory, buffer);
  }

  /** Returns what is wrong with a whole node, before anything in it is followed. */
  private @Nullable String problem(long address, long buffer) {
    long first = NodeHeader.first(memory, buffer);
    boolean leaf = NodeHeader.isLeaf(first);
    if (!leaf
        && (!InnerLayout.isDescriptor(first)
            || InnerLayout.level(first) < 1
            || InnerLayout.level(first) >= Catalogue.LEVELS_MAX
            || InnerLayout.shape(first) > Shape.MAX)) {
      return "not a node: descriptor=0x" + Long.toHexString(first);
    }
    if (NodeHeader.address(memory, buffer) != address) {
      return "holds the node of another address: "
          + GlobalAddress.toString(NodeHeader.address(memory, buffer));
    }
    long low = NodeHeader.low(memory, buffer);
    long high = NodeHeader.high(memory, buffer);
    long sibling = NodeHeader.sibling(memory, buffer);
    if (low > high || (high < Long.MAX_VALUE) != server.places.isNodeAddress(sibling)) {
      return "no fences and sibling: low="
          + low
          + ", high="
          + high
          + ", sibling=0x"
          + Long.toHexString(sibling);
    }
    return leaf ? problemOfLeaf(buffer) : problemOfInner(buffer, low, high);
  }

  private @Nullable String problemOfLeaf(long buffer) {
    if (!leaves.areFencesRepeated(memory, buffer)) {
      return "fences of lines are not those of the header";
    }
    return leaves.areKeysInPlace(memory, buffer)
        ? null
        : "keys outside the fences, or their bucket";
  }

  private @Nullable String problemOfInner(long buffer, long low, long high) {
    if (ChildPointer.isNull(InnerLayout.pointer(memory, buffer, InnerLayout.FIRST))
        || InnerLayout.key(memory, buffer, InnerLayout.FIRST) != low) {
      return "no children from the low fence on: low=" + low;
    }
    for (int index = InnerLayout.FIRST; index < inners.capacity() - 1; index++) {
      long pointer = InnerLayout.pointer(memory, buffer, index);
      if (ChildPointer.isNull(pointer)) {
        continue;
      }
      long key = InnerLayout.key(memory, buffer, index);
      if (key < low || key > high) {
        return "key outside the fences: key=" + key + ", low=" + low + ", high=" + high;
      }
      if (!isChild(pointer)) {
        return "points outside the pool: index=" + index + ", child=0x" + Long.toHexString(pointer);
      }
    }
    return null;
  }

  /** Returns whether a pointer can be followed. */
  boolean isChild(long pointer) {
    return pointer > 0
        && ChildPointer.shape(pointer) <= Shape.MAX
        && server.places.isNodeAddress(ChildPointer.address(pointer));
  }

  private void beginRead(long address) {
    list.clear();
    if (validation == Validation.VERSIONS) {
      list.read(server.locks.wordOf(address), before, Long.BYTES);
    }
  }

  /** Posts what was begun; tells whether no session had the node alone meanwhile. */
  private boolean endRead(long address) {
    if (validation != Validation.VERSIONS) {
      worker.post(list);
      return true;
    }
    worker.post(list.read(server.locks.wordOf(address), after, Long.BYTES));
    return SxWord.isFreeForShared(word(before))
        && SxWord.xTicket(word(after)) == SxWord.xTicket(word(before));
  }

  /** Returns whether a lock was free, between two READs of its word. */
  private boolean isUnlocked(long wordBefore, long wordAfter) {
    return SxWord.isIdle(word(wordBefore)) && word(wordAfter) == word(wordBefore);
  }

  private long word(long at) {
    return Words.get(memory, at);
  }

  // Writing.

  /** Adds the WRITE of a whole leaf that has changed, or is new. */
  void addLeafWrite(VerbList writes, long buffer, boolean hidden) {
    leaves.seal(memory, buffer, server.nextStamp(), hidden);
    addWrite(writes, buffer);
  }

  /** Adds the WRITE of a whole node, of an inner one that was arranged, or of a leaf as it is. */
  void addWrite(VerbList writes, long buffer) {
    if (validation == Validation.CHECKSUM) {
      long sum = NodeHeader.computeChecksum(memory, buffer, nodeBytes);
      NodeHeader.setChecksum(memory, buffer, sum);
    }
    writes.write(NodeHeader.address(memory, buffer), buffer, nodeBytes);
  }

  @Override
  public void write(long node) {
    addWrite(list.clear(), node);
    worker.post(list);
  }

  /** Adds the WRITE of a checksum, where that counts, behind those of parts of the node. */
  void addChecksum(VerbList writes, long buffer) {
    if (validation == Validation.CHECKSUM) {
      long sum = NodeHeader.computeChecksum(memory, buffer, nodeBytes);
      NodeHeader.setChecksum(memory, buffer, sum);
      long address = NodeHeader.address(memory, buffer) + NodeHeader.CHECKSUM;
      writes.write(address, buffer + NodeHeader.CHECKSUM, Long.BYTES);
      changed = NodeHeader.address(memory, buffer);
    }
  }

  /** Forgets about earlier changes. */
  void reset() {
    changed = GlobalAddress.NULL;
  }

  /**
   * Writes, after a failure, the checksum of a node that is still locked: its list may have ended
   * between a part and the checksum, and then no session could use the node any more.
   */
  void repairChecksum(NodeLocks locks) {
    if (changed != GlobalAddress.NULL) {
      Retry.underLocks(worker, locks, "a change", changed, () -> writeChecksum(locks));
    }
  }

  private void writeChecksum(NodeLocks locks) {
    if (locks.isSurelyHeld(changed)) {
      worker.read(changed, again, nodeBytes);
      long sum = NodeHeader.computeChecksum(memory, again, nodeBytes);
      NodeHeader.setChecksum(memory, again, sum);
      worker.write(changed + NodeHeader.CHECKSUM, again + NodeHeader.CHECKSUM, Long.BYTES);
    }
  }
}
