package pando.baselines.deft;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.baselines.blink.BLinkNodes;
import pando.baselines.blink.Children;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.pool.Catalogue;

/** READs nodes and parts of nodes, detects torn ones, and prepares WRITEs of nodes. */
final class DeftNodes implements BLinkNodes {
  /** The node was not whole in any of the READs. To read it, a session must lock it. */
  static final int TORN = 3;

  /** Bytes of local memory that are needed: a lock word READ before a node and one after it. */
  static final int SCRATCH_BYTES = 2 * Long.BYTES;

  private static final int READS_MAX = 64;
  private static final int PAUSE_MAX = 12;

  private final DeftServer server;
  private final DeftValidation validation;
  private final DeftLeafLayout leaves;
  private final InnerLayout inners;
  private final int nodeBytes;
  private final boolean landsByLine;
  private final Worker worker;
  private final MemorySegment memory;
  private final long again;
  private final long before;
  private final long after;
  private final VerbList list = new VerbList();

  /** Address of the node whose parts and checksum were written last. */
  private long changed = GlobalAddress.NULL;

  /**
   * Creates an object that reads and writes whole nodes of a tree that no session changes.
   *
   * @param scratch local offset of {@link #SCRATCH_BYTES}
   */
  DeftNodes(DeftServer server, Worker worker, long scratch) {
    this(server, true, worker, scratch, scratch);
  }

  /**
   * Creates an object that reads nodes and parts of nodes that other sessions change.
   *
   * @param landsByLine whether the fabric lands 64 bytes as one
   * @param again local offset of a buffer for a second READ of a node
   * @param scratch local offset of {@link #SCRATCH_BYTES}
   */
  DeftNodes(DeftServer server, boolean landsByLine, Worker worker, long again, long scratch) {
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

  /** Returns whether a READ brings an entry whole that another session adds meanwhile. */
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

  @Override
  public void copyChildren(long node, Children children) {
    inners.copyChildren(memory, node, DeftShape.WHOLE, 0, low(node), high(node), children);
  }

  /**
   * Reads a part of an inner node, once.
   *
   * @param pointer pointer to the node, with the node's shape and version
   * @param buffer where the node is to start in local memory
   * @return whether the part is whole and has the version in the pointer
   */
  boolean readPart(long pointer, int part, long buffer) {
    long address = ChildPointer.address(pointer);
    int shape = ChildPointer.shape(pointer);
    beginRead(address);
    if (validation == DeftValidation.CHECKSUM) {
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
      int outcome = readOnce(address, level, key, buffer);
      if (outcome != TORN) {
        return outcome;
      }
      worker.backoff().pause(Math.min(attempt, PAUSE_MAX));
    }
    return TORN;
  }

  @Override
  public int readOnce(long address, int level, long key, long buffer) {
    beginRead(address);
    list.read(address, buffer, nodeBytes);
    return endRead(address) && isWhole(buffer) ? check(address, level, key, buffer) : TORN;
  }

  // Leaves.

  @Override
  public int entries(long leaf) {
    return leaves.entries(memory, leaf);
  }

  /**
   * Reads the lines of a leaf that can hold a key.
   *
   * @param buffer local offset of the buffer for the leaf
   * @return {@link #COVERS}, {@link #RIGHT}, {@link #STALE} or {@link #TORN}
   */
  int readPair(long address, long key, long buffer) {
    for (int attempt = 0; attempt < READS_MAX; attempt++) {
      if (readPairOnce(address, key, buffer)) {
        return comparePair(key, buffer);
      }
      // If the checksum is wrong, the lines do not show what is there.
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
    boolean twice = validation == DeftValidation.VERSIONS && !landsByLine;
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

  /**
   * Returns whether the lines that can hold a key are whole and belong to a leaf. An inner node may
   * have replaced the leaf.
   */
  private boolean isPairWhole(long address, long key, long buffer) {
    return isIntact(address, buffer) && leaves.isPairWhole(memory, buffer, key);
  }

  /**
   * Returns whether, with {@link DeftValidation#CHECKSUM}, the checksum is right and the node has
   * this address.
   */
  private boolean isIntact(long address, long buffer) {
    return validation != DeftValidation.CHECKSUM
        || (isSumRight(buffer) && NodeHeader.address(memory, buffer) == address);
  }

  /** Adds the READ of the lines of a leaf that can hold a key. */
  void addPair(VerbList reads, long address, long key, long buffer) {
    if (validation == DeftValidation.CHECKSUM) {
      reads.read(address, buffer, nodeBytes);
    } else {
      int offset = leaves.pairOffset(key);
      reads.read(address + offset, buffer + offset, leaves.pairBytes());
    }
  }

  /** Compares a leaf's lines with the key that was searched for. */
  private int comparePair(long key, long buffer) {
    if (leaves.isPairHidden(memory, buffer, key) || key < leaves.lowOfPair(memory, buffer, key)) {
      return STALE;
    }
    return key > leaves.highOfPair(memory, buffer, key) ? RIGHT : COVERS;
  }

  /**
   * Checks lines that were read under the leaf's lock. If they are not whole, reads and checks the
   * whole leaf.
   *
   * @return {@link #COVERS}, {@link #RIGHT} or {@link #STALE}
   */
  int checkPairHeld(long address, long key, long buffer) {
    return isPairWhole(address, key, buffer)
        ? comparePair(key, buffer)
        : readHeld(address, 0, key, buffer);
  }

  /**
   * Reads and returns the sibling of a leaf whose lines {@link #readPair} has read, {@code NULL} if
   * the leaf has changed since.
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

  /** Adds the READs of a whole leaf. {@link #isLeafWhole} validates them. */
  void addLeaf(VerbList reads, long address, long buffer, long wordBefore, long wordAfter) {
    boolean words = validation == DeftValidation.VERSIONS;
    if (words) {
      reads.read(server.locks.wordOf(address), wordBefore, Long.BYTES);
    }
    reads.read(address, buffer, nodeBytes);
    if (words) {
      reads.read(server.locks.wordOf(address), wordAfter, Long.BYTES);
    }
  }

  /**
   * Returns whether a leaf whose READs {@link #addLeaf} added is whole. With {@link
   * Validation#OPDV}, single entries may be of different times.
   */
  boolean isLeafWhole(long buffer, long wordBefore, long wordAfter) {
    return validation == DeftValidation.VERSIONS
        ? isUnlocked(wordBefore, wordAfter) && leaves.isWhole(memory, buffer)
        : isWhole(buffer);
  }

  /**
   * Returns whether {@link #readSnapshot} can be used. It cannot with CAS locks and no checksum, as
   * their lock words do not count changes.
   */
  boolean readsSnapshots() {
    return validation == DeftValidation.CHECKSUM || server.options.sxLocks();
  }

  /**
   * Reads a snapshot of a leaf, once. Only if {@link #readsSnapshots}.
   *
   * @return whether the leaf is a snapshot; if not, another session was changing it
   */
  boolean readSnapshot(long address, long buffer) {
    if (validation == DeftValidation.CHECKSUM) {
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
   * Checks a node that passed validation, and compares it with the level and key searched for. As
   * versions wrap, the node can still be torn; so a node that makes no sense is {@link #TORN}, not
   * corrupt.
   *
   * @return {@link #COVERS}, {@link #RIGHT}, {@link #STALE} or {@link #TORN}
   */
  int check(long address, int level, long key, long buffer) {
    return problem(address, buffer) == null ? compare(level, key, buffer) : TORN;
  }

  private int compare(int level, long key, long buffer) {
    long first = NodeHeader.first(memory, buffer);
    boolean leaf = NodeHeader.isLeaf(first);
    boolean hidden = leaf ? DeftLeafLayout.isHidden(first) : InnerLayout.isHidden(first);
    int found = leaf ? 0 : InnerLayout.level(first);
    if (hidden || found != level || key < NodeHeader.low(memory, buffer)) {
      return STALE;
    }
    return key > NodeHeader.high(memory, buffer) ? RIGHT : COVERS;
  }

  /**
   * Returns whether all parts of a node have the same stamp or version, or its checksum is right.
   */
  private boolean isWhole(long buffer) {
    if (validation == DeftValidation.CHECKSUM) {
      return isSumRight(buffer);
    }
    long first = NodeHeader.first(memory, buffer);
    return NodeHeader.isLeaf(first)
        ? leaves.isWhole(memory, buffer)
        : inners.hasVersion(memory, buffer, DeftShape.WHOLE, 0, InnerLayout.version(first));
  }

  private boolean isSumRight(long buffer) {
    return NodeHeader.computeChecksum(memory, buffer, nodeBytes)
        == NodeHeader.checksum(memory, buffer);
  }

  /**
   * Returns what is wrong with a node, {@code null} if nothing is. Called before a pointer in it is
   * followed.
   */
  private @Nullable String problem(long address, long buffer) {
    long first = NodeHeader.first(memory, buffer);
    boolean leaf = NodeHeader.isLeaf(first);
    if (!leaf
        && (!InnerLayout.isDescriptor(first)
            || InnerLayout.level(first) < 1
            || InnerLayout.level(first) >= Catalogue.LEVELS_MAX
            || InnerLayout.shape(first) > DeftShape.MAX)) {
      return "not a node: descriptor=0x" + Long.toHexString(first);
    }
    long low = NodeHeader.low(memory, buffer);
    long high = NodeHeader.high(memory, buffer);
    String problem =
        BLinkNodes.problemOfHeader(
            server.places, address, address(buffer), low, high, sibling(buffer));
    if (problem != null) {
      return problem;
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

  /** Returns whether a pointer is well-formed and leads to where a node can be. */
  boolean isChild(long pointer) {
    return pointer > 0
        && ChildPointer.shape(pointer) <= DeftShape.MAX
        && server.places.isNodeAddress(ChildPointer.address(pointer));
  }

  private void beginRead(long address) {
    list.clear();
    if (validation == DeftValidation.VERSIONS) {
      list.read(server.locks.wordOf(address), before, Long.BYTES);
    }
  }

  /**
   * Posts the list; returns whether, as far as the lock shows, no session held the node exclusively
   * meanwhile.
   */
  private boolean endRead(long address) {
    if (validation != DeftValidation.VERSIONS) {
      worker.post(list);
      return true;
    }
    worker.post(list.read(server.locks.wordOf(address), after, Long.BYTES));
    return SxWord.isFreeForShared(word(before))
        && SxWord.xTicket(word(after)) == SxWord.xTicket(word(before));
  }

  /** Returns whether a lock was free all the time between two READs of its word. */
  private boolean isUnlocked(long wordBefore, long wordAfter) {
    return SxWord.isIdle(word(wordBefore)) && word(wordAfter) == word(wordBefore);
  }

  private long word(long at) {
    return Words.get(memory, at);
  }

  // Writing.

  /** Adds the WRITE of a whole leaf that is changed or new, with a new stamp. */
  void addLeafWrite(VerbList writes, long buffer, boolean hidden) {
    leaves.seal(memory, buffer, server.nextStamp(), hidden);
    addWrite(writes, buffer);
  }

  /** Adds the WRITE of a whole node as it is: an arranged inner node, or a sealed leaf. */
  void addWrite(VerbList writes, long buffer) {
    if (validation == DeftValidation.CHECKSUM) {
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

  /**
   * Adds, with {@link DeftValidation#CHECKSUM}, the WRITE of a node's checksum after those of its
   * changed parts.
   */
  void addChecksum(VerbList writes, long buffer) {
    if (validation == DeftValidation.CHECKSUM) {
      long sum = NodeHeader.computeChecksum(memory, buffer, nodeBytes);
      NodeHeader.setChecksum(memory, buffer, sum);
      long address = NodeHeader.address(memory, buffer) + NodeHeader.CHECKSUM;
      writes.write(address, buffer + NodeHeader.CHECKSUM, Long.BYTES);
      changed = NodeHeader.address(memory, buffer);
    }
  }

  /** Forgets earlier changes. Called at the start of an operation. */
  void reset() {
    changed = GlobalAddress.NULL;
  }

  /**
   * Writes, after a failure, the checksum of the node that was changed, if it is still locked. The
   * list may have been cut between a part and the checksum; then no session could use the node any
   * more.
   */
  void mendChecksum(DeftNodeLocks locks) {
    if (changed != GlobalAddress.NULL) {
      locks.untilDone(worker, "a change", changed, () -> writeChecksum(locks));
    }
  }

  private void writeChecksum(DeftNodeLocks locks) {
    if (locks.isSurelyHeld(changed)) {
      worker.read(changed, again, nodeBytes);
      long sum = NodeHeader.computeChecksum(memory, again, nodeBytes);
      NodeHeader.setChecksum(memory, again, sum);
      worker.write(changed + NodeHeader.CHECKSUM, again + NodeHeader.CHECKSUM, Long.BYTES);
    }
  }
}
