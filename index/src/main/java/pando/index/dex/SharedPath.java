package pando.index.dex;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.cache.CacheContext;
import pando.index.cache.Frames;
import pando.index.cache.NodeCache;
import pando.index.cache.Swizzles;
import pando.index.node.NodeLayout;

/**
 * The upper part of the tree, whose nodes several compute servers share: remote locks, lazy refresh
 * of cached copies, and splits on the way down (DEX sections 4 and 7).
 *
 * <p>Belongs to one worker of one compute server.
 */
final class SharedPath {
  /*
   * A shared node in the pool is always current: whoever changes it holds its remote lock, a CAS on
   * its lock word, and writes the new image and the unlocked word in one doorbell list. A cached copy
   * may be old, is never dirty, and keeps the checksum of the image it was made from; the copy is
   * current exactly when that checksum still is the pool's.
   *
   * Readers take no lock: a READ that overlaps a WRITE may return parts of both, which the checksum
   * tells, and is done again. That costs one READ where an optimistic lock would cost three.
   *
   * The lock word belongs to the place, not to the node: a node that is allocated where another was
   * freed finds the word there and does not touch it. So a compute server that locks a node which it
   * knows from an old copy does no harm; after locking it sees that the node is another, and lets go.
   *
   * A refresh that meets a change goes on into every shared child that is cached below it. Otherwise a
   * child's old copy would keep nodes which the fresh parent says are below another child, one that is
   * perhaps not shared and not cached; a memory server that worked there would not see what is dirty
   * here. Offloading waits from before a refresh until its orphans are attached again.
   *
   * The root pointer changes by CAS while the lock of the root that it named is held.
   */

  private static final int ATTEMPTS_MAX = 10_000;
  private static final int READS_MAX = 10_000;
  private static final int HELD_MAX = 4;
  private static final ValueLayout.OfLong LONG = JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final int PARENT = 0;
  private static final int NODE = 1;
  private static final int SIBLING = 2;
  private static final int ROOT = 3;

  private final ComputeServer server;
  private final NodeCache cache;
  private final Swizzles swizzles;
  private final CacheContext context;
  private final Worker worker;
  private final NodeLayout layout;
  private final MemorySegment memory;
  private final Catalogue catalogue;
  private final VerbList list = new VerbList();
  private final long owner;
  private long[] orphanLows = new long[8];
  private int[] orphanLevels = new int[8];
  private int orphans;
  private long[] pending = new long[8];
  private int pendingCount;
  private final long[] held = new long[HELD_MAX];
  private int heldCount;

  SharedPath(ComputeServer server, CacheContext context) {
    this.server = server;
    this.cache = server.cache;
    this.swizzles = cache.swizzles();
    this.context = context;
    this.worker = context.worker();
    this.layout = server.layout;
    this.memory = cache.memory();
    this.catalogue = new Catalogue(worker, context.message(), server.guard);
    this.owner = ((long) (server.number + 1) << 32) | (context.number() + 1);
  }

  // Lazy refresh.

  /**
   * Brings the cached copies of the shared nodes on the way to a key up to date, and of those
   * beside it whose parents changed. Children that a copy no longer points to become orphans, to be
   * had from {@link #nextOrphan}.
   *
   * @throws StalledException where a copy stays in use; offloading must not go on then
   */
  void refresh(long key) {
    refreshRoot();
    long node = cache.anchor();
    for (int depth = 0; depth < NodeLayout.LEVELS_MAX; depth++) {
      long child = cachedChild(node, key);
      if (child == Frames.NONE || !refreshNode(child)) {
        break;
      }
      node = child;
    }
    refreshPending();
  }

  /** Brings the copy of the child of a cached node on the way to a key up to date. */
  void refreshChild(long node, long key) {
    long child = cachedChild(node, key);
    if (child != Frames.NONE) {
      refreshNode(child);
    }
    refreshPending();
  }

  /**
   * Drops the copy of a shared node that is no more, unless it is in use, where another node has
   * taken its address.
   *
   * @param level of the node that has
   */
  void dropOld(long address, int level) {
    long copy = cache.oldCopies().lockOld(context, address);
    if (copy == Frames.NONE) {
      return;
    }
    if (!server.isShared(copy) || NodeLayout.level(memory, copy) == level) {
      Frames.unlock(memory, copy);
      return;
    }
    int count = NodeLayout.count(memory, copy);
    for (int i = 0; i < count; i++) {
      long pointer = layout.slot(memory, copy, i);
      if (GlobalAddress.isSwizzled(pointer)) {
        orphan(GlobalAddress.frame(pointer));
      }
    }
    cache.drop(context, copy);
  }

  /** Moves to the next orphan that a refresh left behind; {@code false} when there is none. */
  boolean nextOrphan() {
    if (orphans == 0) {
      return false;
    }
    orphans--;
    return true;
  }

  /** Returns the least key of the present orphan that this compute server owns. */
  long orphanLow() {
    return orphanLows[orphans];
  }

  /** Returns the level of the present orphan. */
  int orphanLevel() {
    return orphanLevels[orphans];
  }

  private void orphan(long child) {
    if (orphans == orphanLows.length) {
      orphanLows = Arrays.copyOf(orphanLows, 2 * orphans);
      orphanLevels = Arrays.copyOf(orphanLevels, 2 * orphans);
    }
    orphanLows[orphans] = Math.max(NodeLayout.low(memory, child), server.low());
    orphanLevels[orphans] = NodeLayout.level(memory, child);
    orphans++;
    Frames.setParent(memory, child, Frames.NONE);
  }

  private void refreshRoot() {
    long root = catalogue.root();
    long address = Catalogue.rootAddress(root);
    cache.lock(context, cache.anchor());
    try {
      long pointer = layout.slot(memory, cache.anchor(), 0);
      long cached = GlobalAddress.frame(pointer);
      boolean swizzled = GlobalAddress.isSwizzled(pointer);
      if ((swizzled ? NodeLayout.address(memory, cached) : pointer) == address) {
        return;
      }
      if (swizzled) {
        orphan(cached);
      }
      cache.setRoot(address, Catalogue.rootLevel(root));
    } finally {
      Frames.unlock(memory, cache.anchor());
    }
  }

  private long cachedChild(long node, long key) {
    long version = Frames.version(memory, node);
    int index = layout.floor(memory, node, key);
    long pointer = layout.slot(memory, node, Math.max(index, 0));
    boolean usable =
        index >= 0
            && NodeLayout.level(memory, node) > 0
            && GlobalAddress.isSwizzled(pointer)
            && !Frames.isLocked(version)
            && Frames.isCurrent(memory, node, version);
    return usable ? GlobalAddress.frame(pointer) : Frames.NONE;
  }

  /**
   * Brings one copy up to date, if it is of a shared node.
   *
   * @return whether it is the node's; {@code false} where the node is no longer there
   */
  private boolean refreshNode(long node) {
    for (int attempt = 0; attempt < READS_MAX; attempt++) {
      long version = Frames.version(memory, node);
      long address = NodeLayout.address(memory, node);
      int level = NodeLayout.level(memory, node);
      long copied = NodeLayout.checksum(memory, node);
      boolean shared = server.isShared(node);
      if (Frames.isLocked(version) && Frames.state(memory, node) == Frames.FREE) {
        // Evicted since it was noted, and a frame without a node stays locked.
        return false;
      }
      if (!Frames.isLocked(version) && Frames.isCurrent(memory, node, version)) {
        if (!shared) {
          return level > 0;
        }
        long fresh = context.scratchNode(PARENT);
        if (!readShared(address, fresh, level)) {
          return false;
        }
        if (NodeLayout.checksum(memory, fresh) == copied || replace(node, version, fresh)) {
          return true;
        }
      }
      worker.backoff().pause(attempt);
    }
    throw new StalledException(
        "the copy of a shared node stays in use: node="
            + GlobalAddress.toString(NodeLayout.address(memory, node))
            + ", pins="
            + Frames.pins(memory, node)
            + ", attempts="
            + READS_MAX);
  }

  /** Puts a fresh image in place of a copy, unless the copy is in use. */
  private boolean replace(long node, long version, long fresh) {
    if (!Frames.upgrade(memory, node, version)) {
      return false;
    }
    if (Frames.pins(memory, node) != 0) {
      // A child is on its way through the old pointers.
      Frames.unlockUnchanged(memory, node);
      return false;
    }
    replaceImage(node, fresh);
    addPendingChildren(node);
    Frames.unlock(memory, node);
    return true;
  }

  /** A node that changed may have lost part of a shared child's range to a new child. */
  private void addPendingChildren(long node) {
    int count = NodeLayout.count(memory, node);
    for (int i = 0; i < count; i++) {
      long pointer = layout.slot(memory, node, i);
      if (GlobalAddress.isSwizzled(pointer)) {
        if (pendingCount == pending.length) {
          pending = Arrays.copyOf(pending, 2 * pendingCount);
        }
        pending[pendingCount++] = GlobalAddress.frame(pointer);
      }
    }
  }

  /**
   * Refreshes the children of all copies that changed. One that was evicted meanwhile has no cached
   * child, and its frame's next node may be refreshed just as well.
   */
  private void refreshPending() {
    while (pendingCount > 0) {
      refreshNode(pending[--pendingCount]);
    }
  }

  /** Reads a shared node until its image is whole; {@code false} where it is no longer there. */
  private boolean readShared(long address, long target, int level) {
    for (int attempt = 0; attempt < READS_MAX; attempt++) {
      worker.read(address + NodeLayout.IMAGE, target + NodeLayout.IMAGE, layout.imageBytes());
      if (server.guard.check(memory, target, address, level) == null) {
        return true;
      }
      if (isWhole(target)) {
        return false;
      }
      worker.backoff().pause(attempt);
    }
    return false;
  }

  private boolean isWhole(long node) {
    return NodeLayout.isDescriptor(NodeLayout.descriptor(memory, node))
        && layout.computeChecksum(memory, node) == NodeLayout.checksum(memory, node);
  }

  /** Puts a fresh image into a locked frame, and keeps the pointers to cached children. */
  private void replaceImage(long node, long fresh) {
    int count = NodeLayout.count(memory, node);
    for (int i = 0; i < count; i++) {
      long pointer = layout.slot(memory, node, i);
      if (!GlobalAddress.isSwizzled(pointer)) {
        continue;
      }
      long child = GlobalAddress.frame(pointer);
      int index = layout.floor(memory, fresh, NodeLayout.low(memory, child));
      if (index >= 0 && layout.slot(memory, fresh, index) == NodeLayout.address(memory, child)) {
        layout.setSlot(memory, fresh, index, pointer);
      } else {
        orphan(child);
      }
    }
    MemorySegment.copy(
        memory, fresh + NodeLayout.IMAGE, memory, node + NodeLayout.IMAGE, layout.imageBytes());
  }

  // Changing a shared node whose copy is cached.

  /**
   * Takes the remote lock of a shared node of which the caller has locked the cached copy.
   *
   * @return whether the lock is held and the copy is current; else nothing is held, and the caller
   *     lets go of the copy, calls {@link #refresh} and restarts
   */
  boolean lockCurrent(long node) {
    long address = NodeLayout.address(memory, node);
    long fresh = context.scratchNode(PARENT);
    long found = context.message();
    list.clear()
        .cas(address + NodeLayout.LOCK, 0, owner, found)
        .read(address + NodeLayout.IMAGE, fresh + NodeLayout.IMAGE, layout.imageBytes());
    worker.post(list);
    if (memory.get(LONG, found) != 0) {
      return false;
    }
    hold(address);
    boolean current =
        server.guard.check(memory, fresh, address, NodeLayout.level(memory, node)) == null
            && NodeLayout.checksum(memory, fresh) == NodeLayout.checksum(memory, node);
    if (!current) {
      unlock(address);
    }
    return current;
  }

  /** Writes a changed copy to the pool and lets go of the node's remote lock. */
  void publish(long node) {
    long image = context.scratchNode(PARENT);
    swizzles.copyUnswizzled(node, image);
    long checksum = layout.seal(memory, image);
    writeAndUnlock(NodeLayout.address(memory, node), image);
    NodeLayout.setChecksum(memory, node, checksum);
  }

  /**
   * Lets go of every remote lock that is held, after a failure; another failure joins the first.
   */
  void abandon(RuntimeException failure) {
    while (heldCount > 0) {
      long address = held[--heldCount];
      try {
        unlockHeld(address);
      } catch (RuntimeException e) {
        failure.addSuppressed(e);
      }
    }
  }

  private void hold(long address) {
    held[heldCount++] = address;
  }

  private void release(long address) {
    for (int i = 0; i < heldCount; i++) {
      if (held[i] == address) {
        held[i] = held[--heldCount];
        return;
      }
    }
    throw new AssertionError("no such remote lock: node=" + GlobalAddress.toString(address));
  }

  /** Lets go of a remote lock. */
  void unlock(long address) {
    release(address);
    unlockHeld(address);
  }

  private void unlockHeld(long address) {
    long found = worker.cas(address + NodeLayout.LOCK, owner, 0);
    if (found != owner) {
      throw new CorruptNodeException(
          address,
          "its remote lock was lost: owner=0x"
              + Long.toHexString(owner)
              + ", found=0x"
              + Long.toHexString(found));
    }
  }

  private void writeAndUnlock(long address, long image) {
    memory.set(LONG, image + NodeLayout.LOCK, 0);
    list.clear()
        .write(address + NodeLayout.IMAGE, image + NodeLayout.IMAGE, layout.imageBytes())
        .write(address + NodeLayout.LOCK, image + NodeLayout.LOCK, Long.BYTES);
    worker.post(list);
    release(address);
  }

  private void write(long image) {
    layout.seal(memory, image);
    cache.writeImage(context, image);
  }

  // Splits on the way down.

  /**
   * Splits every full shared node on the way to a key, from the root down. Works on the pool alone:
   * cached copies are old thereafter, until a refresh. The caller holds no lock.
   */
  void splitFull(long key) {
    try {
      for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        if (splitFirstFull(key, attempt)) {
          return;
        }
      }
    } catch (RuntimeException e) {
      abandon(e);
      throw e;
    }
    throw new StalledException(
        "the shared nodes above a key stay full: key=" + key + ", attempts=" + ATTEMPTS_MAX);
  }

  /** Splits the first full shared node below the root, if any; {@code true} where none is full. */
  private boolean splitFirstFull(long key, int attempt) {
    long root = catalogue.root();
    long address = Catalogue.rootAddress(root);
    int level = Catalogue.rootLevel(root);
    long parent = context.scratchNode(PARENT);
    lock(address);
    if (catalogue.root() != root || !readShared(address, parent, level)) {
      unlock(address);
      worker.backoff().pause(attempt);
      return false;
    }
    if (NodeLayout.count(memory, parent) == layout.capacity()) {
      splitRoot(root, parent);
      return false;
    }
    return splitBelow(parent, level, key);
  }

  /** Goes down from a locked node that is not full. */
  private boolean splitBelow(long top, int topLevel, long key) {
    long parent = top;
    long node = context.scratchNode(NODE);
    for (int level = topLevel - 1; level > 0; level--) {
      int index = layout.floor(memory, parent, key);
      long low = NodeLayout.key(memory, parent, index);
      long high = NodeLayout.highOfChild(memory, parent, index);
      long parentAddress = NodeLayout.address(memory, parent);
      if (!server.isShared(level, low, high)) {
        unlock(parentAddress);
        return true;
      }
      long address = layout.slot(memory, parent, index);
      lock(address);
      if (!readShared(address, node, level)) {
        unlock(address);
        unlock(parentAddress);
        return false;
      }
      if (NodeLayout.count(memory, node) == layout.capacity()) {
        splitNode(parent, node);
        return false;
      }
      unlock(parentAddress);
      long next = parent;
      parent = node;
      node = next;
    }
    unlock(NodeLayout.address(memory, parent));
    return true;
  }

  /** Splits a full node below a parent with room; both are locked, and unlocked thereafter. */
  private void splitNode(long parent, long node) {
    long sibling = context.scratchNode(SIBLING);
    long address = NodeLayout.address(memory, node);
    long siblingAddress = allocate(address);
    splitEntries(layout, memory, node, sibling, siblingAddress);
    writeOrFree(sibling);
    long low = NodeLayout.low(memory, sibling);
    int index = layout.floor(memory, parent, low);
    layout.insert(memory, parent, index + 1, low, siblingAddress);
    layout.seal(memory, parent);
    layout.seal(memory, node);
    writeAndUnlock(NodeLayout.address(memory, parent), parent);
    writeAndUnlock(address, node);
  }

  /** Splits the full and locked root below a new one, and unlocks it. */
  private void splitRoot(long rootPointer, long root) {
    long sibling = context.scratchNode(SIBLING);
    long top = context.scratchNode(ROOT);
    long address = Catalogue.rootAddress(rootPointer);
    int level = Catalogue.rootLevel(rootPointer);
    long siblingAddress = allocate(address);
    long topAddress = GlobalAddress.NULL;
    try {
      topAddress = allocate(address);
      splitEntries(layout, memory, root, sibling, siblingAddress);
      write(sibling);
      NodeLayout.format(memory, top, topAddress, level + 1, Long.MIN_VALUE, Long.MAX_VALUE);
      layout.append(memory, top, Long.MIN_VALUE, address);
      layout.append(memory, top, NodeLayout.low(memory, sibling), siblingAddress);
      write(top);
    } catch (RuntimeException e) {
      free(siblingAddress);
      if (topAddress != GlobalAddress.NULL) {
        free(topAddress);
      }
      throw e;
    }
    if (!catalogue.replaceRoot(rootPointer, topAddress, level + 1)) {
      throw new CorruptNodeException(
          address, "another node became the root while this one was locked");
    }
    layout.seal(memory, root);
    writeAndUnlock(address, root);
  }

  private void writeOrFree(long image) {
    try {
      write(image);
    } catch (RuntimeException e) {
      free(NodeLayout.address(memory, image));
      throw e;
    }
  }

  /** Moves the upper half of a node's entries into a new sibling, fences and all. */
  static void splitEntries(
      NodeLayout layout, MemorySegment memory, long node, long sibling, long siblingAddress) {
    int count = NodeLayout.count(memory, node);
    int kept = count / 2;
    long low = NodeLayout.key(memory, node, kept);
    NodeLayout.format(
        memory,
        sibling,
        siblingAddress,
        NodeLayout.level(memory, node),
        low,
        NodeLayout.high(memory, node));
    layout.copyEntries(memory, node, kept, sibling, 0, count - kept);
    NodeLayout.setCount(memory, sibling, count - kept);
    NodeLayout.setCount(memory, node, kept);
    NodeLayout.setHigh(memory, node, low - 1);
  }

  // The root loses a level.

  /** Puts the only child of the root in its place, while the root has only one. */
  void collapseRoot() {
    try {
      collapse();
    } catch (RuntimeException e) {
      abandon(e);
      throw e;
    }
  }

  private void collapse() {
    for (int level = 0; level < NodeLayout.LEVELS_MAX; level++) {
      long root = catalogue.root();
      long address = Catalogue.rootAddress(root);
      long node = context.scratchNode(PARENT);
      if (Catalogue.rootLevel(root) <= 1) {
        return;
      }
      lock(address);
      boolean collapses =
          catalogue.root() == root
              && readShared(address, node, Catalogue.rootLevel(root))
              && NodeLayout.count(memory, node) == 1
              && catalogue.replaceRoot(
                  root, layout.slot(memory, node, 0), Catalogue.rootLevel(root) - 1);
      if (collapses) {
        erase(address);
      }
      unlock(address);
      if (!collapses) {
        return;
      }
      refreshRoot();
      free(address);
    }
  }

  /** Makes a freed node unrecognisable, for those who still know it from an old copy. */
  private void erase(long address) {
    long image = context.scratchNode(NODE);
    NodeLayout.format(memory, image, address, NodeLayout.LEVELS_MAX, 0, 0);
    write(image);
  }

  private void lock(long address) {
    long found = 0;
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      found = worker.cas(address + NodeLayout.LOCK, 0, owner);
      if (found == 0) {
        hold(address);
        return;
      }
      worker.backoff().pause(attempt);
    }
    throw new StalledException(
        "a shared node stayed locked: node="
            + GlobalAddress.toString(address)
            + ", holder=computeServer "
            + ((found >>> 32) - 1)
            + " worker "
            + ((found & 0xFFFF_FFFFL) - 1)
            + ", attempts="
            + ATTEMPTS_MAX);
  }

  private long allocate(long neighbour) {
    return server.allocate(context, neighbour);
  }

  private void free(long address) {
    server.free(context, address);
  }
}
