package pando.baselines.sherman;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.baselines.blink.BLinkNodes;
import pando.baselines.blink.Children;
import pando.baselines.lock.LocalLocks;
import pando.baselines.lock.LockTables;
import pando.baselines.lock.NodeLocks;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.pool.Catalogue;

/** READs nodes until they are whole, and adds the WRITEs of changes to lists. */
final class ShermanNodes implements BLinkNodes {
  /** The node's lock is taken, and the session must not wait for it, as it holds other locks. */
  static final int LOCKED = 3;

  /** Bytes of local memory that are needed: a lock word READ before a node and one after it. */
  static final int SCRATCH_BYTES = 2 * Long.BYTES;

  /**
   * Maximum number of READs of a torn node: some tenth of a second, while a WRITE takes a
   * microsecond.
   */
  private static final int READS_MAX = 200;

  /**
   * Maximum number of READs with versions. A node counts as torn while it is locked, and a hot one
   * is locked most of the time. With fewer READs, one writer would make all readers lock.
   */
  private static final int READS_BEFORE_LOCK = 32;

  private static final int PAUSE_MAX = 12;

  private final ShermanServer server;
  private final BLinkLayout layout;
  private final ShermanValidation validation;
  private final boolean entryWrites;
  private final Worker worker;
  private final MemorySegment memory;
  private final long before;
  private final long after;
  private final VerbList list = new VerbList();

  /** Address of the leaf whose entry and checksum were written last. */
  private long changed = GlobalAddress.NULL;

  /** Local offset of that leaf. */
  private long changedAt;

  ShermanNodes(ShermanServer server, Worker worker, long scratch) {
    this.server = server;
    this.layout = server.layout;
    this.validation = server.validation;
    this.entryWrites = server.options.entryWrites();
    this.worker = worker;
    this.memory = worker.memory();
    this.before = scratch;
    this.after = scratch + Long.BYTES;
  }

  @Override
  public long address(long node) {
    return BLinkLayout.address(memory, node);
  }

  @Override
  public long low(long node) {
    return BLinkLayout.low(memory, node);
  }

  @Override
  public long high(long node) {
    return BLinkLayout.high(memory, node);
  }

  @Override
  public long sibling(long node) {
    return BLinkLayout.sibling(memory, node);
  }

  /**
   * Reads a node without a lock; with its lock, if all READs were torn.
   *
   * @param locks the session's locks
   * @param mayWait whether to wait for the lock; {@code false} if the session holds any lock, also
   *     at another compute server
   * @param owned whether only this compute server writes the node
   * @param buffer local offset of the buffer for the node
   * @return {@link #COVERS}, {@link #RIGHT}, {@link #STALE} or {@link #LOCKED}
   * @throws CorruptNodeException if the bytes are not a node
   */
  int read(
      NodeLocks locks,
      boolean mayWait,
      long address,
      int level,
      long key,
      boolean owned,
      long buffer) {
    String problem = null;
    int most = validation == ShermanValidation.VERSIONS ? READS_BEFORE_LOCK : READS_MAX;
    for (int attempt = 0; attempt < most; attempt++) {
      if (readOnce(address, owned, buffer)) {
        problem = problem(address, buffer);
        if (problem == null) {
          return compare(level, key, buffer);
        }
        if (provesItself()) {
          throw new CorruptNodeException(address, problem);
        }
      }
      worker.backoff().pause(Math.min(attempt, PAUSE_MAX));
    }
    if (!mayWait && !locks.tryLock(address, owned)) {
      return LOCKED;
    }
    int outcome =
        mayWait
            ? lockAndRead(locks, address, level, key, owned, buffer)
            : readHeld(address, level, key, buffer);
    locks.unlock(address);
    return outcome;
  }

  /**
   * Returns whether a node that passed validation is whole for certain. Versions with partitions do
   * not show it: an old pointer may lead to a place that another compute server writes under its
   * local lock only.
   */
  private boolean provesItself() {
    return validation != ShermanValidation.ORIGINAL
        && (validation != ShermanValidation.VERSIONS || !server.partitioned);
  }

  @Override
  public int readOnce(long address, int level, long key, long buffer) {
    return readOnce(address, false, buffer) && problem(address, buffer) == null
        ? compare(level, key, buffer)
        : LOCKED;
  }

  /**
   * Reads an inner node with its lock word once, whether or not it is locked or hidden.
   *
   * @param buffer local offset of the buffer for the node
   * @return {@link #COVERS}, {@link #RIGHT}, or another number if what was read is torn or another
   *     node
   */
  int readLinked(long address, int level, long key, long buffer) {
    worker.read(address, buffer, layout.nodeBytes());
    return BLinkLayout.checksum(memory, buffer) == layout.computeChecksum(memory, buffer)
            && problem(address, buffer) == null
            && BLinkLayout.level(BLinkLayout.descriptor(memory, buffer)) == level
        ? compare(key, buffer)
        : STALE;
  }

  @Override
  public void copyChildren(long node, Children children) {
    layout.copyChildren(memory, node, children);
  }

  @Override
  public int entries(long leaf) {
    return layout.entries(memory, leaf);
  }

  private boolean readOnce(long address, boolean owned, long buffer) {
    if (validation != ShermanValidation.VERSIONS) {
      readImage(address, buffer);
      return isWhole(buffer);
    }
    return server.partitioned
        ? readBesideLocal(address, owned, buffer)
        : readBetweenVersions(address, buffer);
  }

  private boolean readBetweenVersions(long address, long buffer) {
    addRead(list.clear(), address, buffer, before, after);
    worker.post(list);
    return areVersionsEqual(before, after);
  }

  /**
   * Reads a node that this compute server may write under its local lock only. The state of the
   * local lock shows whether it did meanwhile.
   */
  private boolean readBesideLocal(long address, boolean owned, long buffer) {
    long lock = server.locks.lockOf(address);
    LocalLocks local = server.locks.localOf(lock);
    long state = local.state(LockTables.numberOf(lock));
    if (state < 0) {
      return false;
    }
    if (owned) {
      readImage(address, buffer);
    } else if (!readBetweenVersions(address, buffer)) {
      return false;
    }
    return local.state(LockTables.numberOf(lock)) == state;
  }

  /**
   * Returns whether a node that was read is a consistent snapshot. With {@link
   * ShermanValidation#LINES}, lines can be of different times, as an update of an entry does not
   * change the stamps.
   */
  boolean readsSnapshots() {
    return validation == ShermanValidation.VERSIONS || validation == ShermanValidation.CHECKSUM;
  }

  /** Returns whether READs of several nodes can be posted together and validated afterwards. */
  boolean canReadTogether() {
    return validation != ShermanValidation.VERSIONS || !server.partitioned;
  }

  /** Adds the READs of a node to a list. {@link #isWhole(long, long, long)} validates them. */
  void addRead(VerbList reads, long address, long buffer, long wordBefore, long wordAfter) {
    if (validation != ShermanValidation.VERSIONS) {
      layout.addRead(reads, address, buffer);
      return;
    }
    long word = server.locks.wordOf(server.locks.lockOf(address));
    reads.read(word, wordBefore, Long.BYTES);
    layout.addRead(reads, address, buffer);
    reads.read(word, wordAfter, Long.BYTES);
  }

  /** Returns whether a node whose READs {@link #addRead} added is whole. */
  boolean isWhole(long buffer, long wordBefore, long wordAfter) {
    return validation == ShermanValidation.VERSIONS
        ? areVersionsEqual(wordBefore, wordAfter)
        : isWhole(buffer);
  }

  private boolean areVersionsEqual(long wordBefore, long wordAfter) {
    long word = Words.get(memory, wordBefore);
    return (word & LockTables.LOCK_MASK) == 0 && Words.get(memory, wordAfter) == word;
  }

  /** Returns whether a node that was read is whole, as far as its own bytes show that. */
  boolean isWhole(long buffer) {
    return switch (validation) {
      case LINES -> layout.areStampsEqual(memory, buffer);
      case CHECKSUM ->
          layout.computeChecksum(memory, buffer) == BLinkLayout.checksum(memory, buffer);
      case ORIGINAL -> layout.areEndsEqual(memory, buffer);
      case VERSIONS, AUTO -> true;
    };
  }

  /**
   * Locks a node and reads it.
   *
   * @return {@link #COVERS}, {@link #RIGHT} or {@link #STALE}
   */
  int lockAndRead(NodeLocks locks, long address, int level, long key, boolean owned, long buffer) {
    if (owned || !validation.countsInLocks()) {
      // As published: first the lock, then the READ in a round trip of its own.
      locks.lock(address, owned);
    } else {
      layout.addRead(list.clear(), address, buffer);
      if (locks.lockAndRead(address, list)) {
        return check(address, level, key, buffer);
      }
    }
    return readHeld(address, level, key, buffer);
  }

  @Override
  public int readHeld(long address, int level, long key, long buffer) {
    readImage(address, buffer);
    String problem = problemOfHeld(address, buffer);
    // A node under its lock can only be torn if another compute server, with an old partitioning,
    // still writes it under its local lock.
    for (int attempt = 0; problem != null && attempt < READS_MAX; attempt++) {
      if (provesItself() && isWhole(buffer)) {
        break;
      }
      worker.backoff().pause(Math.min(attempt, PAUSE_MAX));
      readImage(address, buffer);
      problem = problemOfHeld(address, buffer);
    }
    if (problem != null) {
      throw new CorruptNodeException(address, problem);
    }
    return compare(level, key, buffer);
  }

  private @Nullable String problemOfHeld(long address, long buffer) {
    return isWhole(buffer) ? problem(address, buffer) : "parts of several nodes";
  }

  private void readImage(long address, long buffer) {
    worker.read(address + BLinkLayout.IMAGE, buffer + BLinkLayout.IMAGE, layout.imageBytes());
  }

  private int compare(int level, long key, long buffer) {
    long descriptor = BLinkLayout.descriptor(memory, buffer);
    return BLinkLayout.isFreed(descriptor) || BLinkLayout.level(descriptor) != level
        ? STALE
        : compare(key, buffer);
  }

  private int compare(long key, long buffer) {
    if (key < BLinkLayout.low(memory, buffer)) {
      return STALE;
    }
    return key > BLinkLayout.high(memory, buffer) ? RIGHT : COVERS;
  }

  /** Checks a node that passed validation, and compares it with the level and key searched for. */
  int check(long address, int level, long key, long buffer) {
    String problem = problem(address, buffer);
    if (problem != null && provesItself()) {
      throw new CorruptNodeException(address, problem);
    }
    return problem == null ? compare(level, key, buffer) : STALE;
  }

  /**
   * Returns what is wrong with a node, {@code null} if nothing is. Called before a pointer in it is
   * followed.
   */
  private @Nullable String problem(long address, long buffer) {
    long descriptor = BLinkLayout.descriptor(memory, buffer);
    if (!BLinkLayout.isDescriptor(descriptor)
        || BLinkLayout.level(descriptor) >= Catalogue.LEVELS_MAX) {
      return "not a node: descriptor=0x" + Long.toHexString(descriptor);
    }
    long low = BLinkLayout.low(memory, buffer);
    long high = BLinkLayout.high(memory, buffer);
    String problem =
        BLinkNodes.problemOfHeader(
            server.places, address, address(buffer), low, high, sibling(buffer));
    if (problem != null) {
      return problem;
    }
    return BLinkLayout.level(descriptor) == 0
        ? problemOfLeaf(buffer, low, high)
        : problemOfInner(buffer, low, high);
  }

  private @Nullable String problemOfLeaf(long buffer, long low, long high) {
    for (int i = 0; i < layout.capacity(); i++) {
      long key = BLinkLayout.key(memory, buffer, i);
      if ((key < low || key > high) && BLinkLayout.isPresent(memory, buffer, i)) {
        return "key outside the fences: key=" + key + ", low=" + low + ", high=" + high;
      }
    }
    return null;
  }

  private @Nullable String problemOfInner(long buffer, long low, long high) {
    int count = BLinkLayout.count(memory, buffer);
    if (count < 1 || count > layout.capacity() || BLinkLayout.key(memory, buffer, 0) != low) {
      return "no children from the low fence on: count=" + count + ", low=" + low;
    }
    for (int i = 0; i < count; i++) {
      long key = BLinkLayout.key(memory, buffer, i);
      if (key > high || (i > 0 && key <= BLinkLayout.key(memory, buffer, i - 1))) {
        return "keys do not ascend: index=" + i + ", key=" + key;
      }
      long child = BLinkLayout.slot(memory, buffer, i);
      if (!server.places.isNodeAddress(child)) {
        return "points outside the pool: index=" + i + ", child=0x" + Long.toHexString(child);
      }
    }
    return null;
  }

  /** Returns whether an entry of a whole node is whole. */
  boolean isEntryWhole(long buffer, int index) {
    return validation != ShermanValidation.ORIGINAL
        || BLinkLayout.isEntryWhole(memory, buffer, index);
  }

  /** Adds the WRITE of a whole node that is changed or new. */
  void addNode(VerbList writes, long buffer) {
    boolean published = validation == ShermanValidation.ORIGINAL;
    long stamp = published ? BLinkLayout.stamp(memory, buffer) + 1 : server.nextStamp();
    layout.setStamps(memory, buffer, stamp);
    boolean isLeaf = BLinkLayout.level(BLinkLayout.descriptor(memory, buffer)) == 0;
    if (!isLeaf || validation == ShermanValidation.CHECKSUM) {
      BLinkLayout.setChecksum(memory, buffer, layout.computeChecksum(memory, buffer));
    }
    long address = BLinkLayout.address(memory, buffer);
    writes.write(address + BLinkLayout.IMAGE, buffer + BLinkLayout.IMAGE, layout.imageBytes());
  }

  /**
   * Adds the WRITE of a new node with its freed bit set, so that readers treat it as no node.
   * Otherwise a reader with an old pointer to its address could use the node before it is linked.
   */
  void addHidden(VerbList writes, long buffer) {
    if (validation == ShermanValidation.ORIGINAL) {
      // As published: not hidden.
      addNode(writes, buffer);
      return;
    }
    Words.set(memory, before, BLinkLayout.descriptor(memory, buffer));
    Words.set(memory, after, layout.computeChecksum(memory, buffer));
    BLinkLayout.free(memory, buffer);
    addNode(writes, buffer);
  }

  /** Adds the WRITE that clears the freed bit of the node that was hidden last. */
  void addReveal(VerbList writes, long address) {
    if (validation != ShermanValidation.ORIGINAL) {
      writes.write(address + BLinkLayout.DESCRIPTOR, before, 2 * Long.BYTES);
    }
  }

  /** Forgets earlier changes. Called at the start of an operation. */
  void reset() {
    changed = GlobalAddress.NULL;
  }

  /**
   * Writes, after a failure, the checksum of the leaf that was changed, if it is still locked. The
   * list may have been cut between entry and checksum; then no session could use the leaf any more.
   */
  void mendChecksum(NodeLocks locks) {
    if (changed != GlobalAddress.NULL) {
      locks.untilDone(worker, "a change", changed, () -> writeChecksum(locks));
    }
  }

  private void writeChecksum(NodeLocks locks) {
    if (locks.isStillOurs(changed)) {
      mendChecksum(changed, changedAt);
    }
  }

  /** Writes the checksum of a leaf that nobody changes, if the leaf has a wrong one. */
  void mendChecksum(long leaf, long buffer) {
    if (validation != ShermanValidation.CHECKSUM) {
      return;
    }
    readImage(leaf, buffer);
    if (!isWhole(buffer)) {
      BLinkLayout.setChecksum(memory, buffer, layout.computeChecksum(memory, buffer));
      worker.write(leaf + BLinkLayout.CHECKSUM, buffer + BLinkLayout.CHECKSUM, Long.BYTES);
    }
  }

  /** Shows a hidden node that nobody changes. */
  void show(long address, long buffer) {
    readImage(address, buffer);
    BLinkLayout.show(memory, buffer);
    BLinkLayout.setChecksum(memory, buffer, layout.computeChecksum(memory, buffer));
    long at = buffer + BLinkLayout.DESCRIPTOR;
    worker.write(address + BLinkLayout.DESCRIPTOR, at, 2 * Long.BYTES);
  }

  @Override
  public void write(long node) {
    addNode(list.clear(), node);
    worker.post(list);
  }

  /**
   * Adds the WRITE of one changed entry of a leaf.
   *
   * @param sumBefore {@link BLinkLayout#entrySum} of the entry before the change
   */
  void addEntry(VerbList writes, long buffer, int index, long sumBefore) {
    if (!entryWrites) {
      addNode(writes, buffer);
      return;
    }
    long address = BLinkLayout.address(memory, buffer);
    int position = BLinkLayout.position(index);
    writes.write(address + position, buffer + position, BLinkLayout.ENTRY_BYTES);
    if (validation == ShermanValidation.CHECKSUM) {
      long sum = BLinkLayout.entrySum(memory, buffer, index) - sumBefore;
      BLinkLayout.setChecksum(memory, buffer, BLinkLayout.checksum(memory, buffer) + sum);
      writes.write(address + BLinkLayout.CHECKSUM, buffer + BLinkLayout.CHECKSUM, Long.BYTES);
      changed = address;
      changedAt = buffer;
    }
  }
}
